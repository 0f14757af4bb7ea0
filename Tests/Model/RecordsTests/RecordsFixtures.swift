import Canonical
import Digest
import ImageModel
import Records
import TestSupport
import VariantSpec

/// Rows and records that the tests of codecs share.
enum Fixture {
    static let source = SourceKey(hex: "0123456789abcdef00112233445566778899aabbccddeefffedcba9876543210")!
    static let spec = VariantSpec(width: 640, height: 480, format: .webp)
    static let digest = SHA256.digest(of: Array("picture".utf8))
    static let partition = PartitionID(3)

    static var variant: VariantRow {
        VariantRow(
            source: source, spec: spec, version: SourceVersion(hex: "00ffab0123456789")!,
            size: PixelSize(width: 640, height: 427), bytes: 48_211, digest: digest,
            location: "01/23/\(source.hex)/00ffab0123456789/640x480-q80.webp", derivedFrom: .origin,
            sourceSize: PixelSize(width: 6000, height: 4003),
            region: Region(x: 0, y: 0.1 + 0.2, width: 6000, height: 4002.3333333333335), hasAlpha: false,
            storedAt: 1_795_256_916_007, expires: 1_795_861_716_007)
    }

    static var sourceRow: SourceRow {
        SourceRow(
            source: source, url: "http://origin.example/a/ä \"quoted\".jpg?x=1&y=2",
            version: SourceVersion(hex: "00ffab0123456789")!, size: PixelSize(width: 6000, height: 4003), format: .jpeg,
            bytes: 2_211_000, digest: digest, hasAlpha: true, original: "01/23/original.jpg", fetchedAt: 1,
            expires: 253_402_300_799_999)
    }

    static func record(
        _ topic: Topic, value: [UInt8]?, key: [UInt8] = RecordKey.job(source).bytes, headers: RecordHeaders = [],
        offset: Int64 = 17
    ) -> Record {
        Record(
            topic: topic, partition: partition, offset: offset, timestamp: 1_795_256_916_007, key: key, value: value,
            headers: headers)
    }

    /// As the log would give a new record back.
    static func read(_ new: NewRecord, offset: Int64 = 17) -> Record {
        Record(
            topic: new.topic, partition: new.partition, offset: offset, timestamp: 1_795_256_916_007, key: new.key,
            value: new.value, headers: new.headers)
    }

    static func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }
}
