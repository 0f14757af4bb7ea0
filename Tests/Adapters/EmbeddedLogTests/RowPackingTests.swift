import Canonical
import Digest
import ImageModel
import Records
import TestSupport
import Testing
import VariantSpec

@testable import EmbeddedLog

@Suite("Embedded log: rows of the changelog, packed", .timeLimit(.minutes(1)))
struct RowPackingTests {
    private static let source = SourceKey(SHA256.digest(of: Array("a source".utf8)))

    private static func variant(_ number: Int, traceparent: String? = nil) -> NewRecord {
        let digest = SHA256.digest(of: Array("\(number)".utf8))
        let spec = VariantSpec(width: 640 + number, height: 480, format: .webp)
        let (version, size) = (SourceVersion(digest), PixelSize(width: 6_000, height: 4_003))
        return VariantRow(
            source: source, spec: spec, version: version, size: PixelSize(width: 640, height: 427), bytes: 48_211,
            digest: digest, location: "\(source.hex.prefix(2))/\(source.hex)/\(version)/\(spec)", madeFrom: .origin,
            sourceSize: size, region: Region(whole: size), hasAlpha: false, storedAt: 1_795_256_916_007,
            expires: 1_795_861_716_007, placeholder: (0..<25).map { UInt8($0 * 9 % 256) }, colour: RGB(1, 170, 255),
            facts: SourceFacts(format: .jpeg)
        ).newRecord(partition: PartitionID(0), traceparent: traceparent).announced(in: 12)
    }

    private static var sourceRow: NewRecord {
        let digest = SHA256.digest(of: [1])
        return SourceRow(
            source: source, url: "https://images.example.com/albums/17/photo-000123.jpg",
            version: SourceVersion(digest), size: PixelSize(width: 6_000, height: 4_003), format: .jpeg,
            bytes: 2_211_000, digest: digest, hasAlpha: false,
            original: "\(source.hex.prefix(2))/\(source.hex)/original.jpg", fetchedAt: 1_795_256_916_007,
            expires: 1_795_861_716_007
        ).newRecord(partition: PartitionID(0)).announced(in: 12)
    }

    private static func packed(_ record: NewRecord) -> [UInt8]? {
        RowPacking.pack(key: record.key, headers: record.headers.packed, value: record.value ?? [])
    }

    private static func unpacked(_ packed: [UInt8], key: [UInt8]) -> (headers: RecordHeaders, value: [UInt8])? {
        packed.withUnsafeBytes { RowPacking.unpack($0, key: key) }
    }

    @Test("Rows come back as they were, from less than a third of their bytes")
    func rows() throws {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for record in [Self.variant(0), Self.sourceRow, Self.variant(1, traceparent: trace)] {
            let packed = try #require(Self.packed(record))
            #expect(3 * packed.count < record.byteCount, "\(packed.count) of \(record.byteCount)")
            let back = try #require(Self.unpacked(packed, key: record.key))
            #expect(back.headers == record.headers && back.value == record.value)
        }
    }

    @Test("What was packed once is read for ever")
    func form() throws {
        let record = Self.variant(0)
        let bytes = stride(from: 0, to: Self.first.utf8.count, by: 2).compactMap { place in
            UInt8(Self.first.dropFirst(place).prefix(2), radix: 16)
        }
        let back = try #require(Self.unpacked(bytes, key: record.key))
        #expect(back.headers == record.headers && back.value == record.value)
    }

    /// That row, as the first version packed it.
    private static let first =
        "8e02b504ff2d86060070ff0eca05002f475feceb66ffc86f38002d80a7b8cc8da234caf10b1231312d32315431303a32383a33362e3030375a"
        + "c69c05013132c800cc9409c6ef0d02363430c60002343237c52080d3f802c7005f5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b4"
        + "6729d73a27fb57e9ca9c040235662ffd8407ccd602cdf702e093080336303030cc000334303033cb00c1f20cc01ed9a10d80a7e084eee202c9"
        + "970580a7e8b68ee502ccc2052341416b53477951744e6a39495556706a6248562b6835435a6f7175307663625032413d3dc900053031616166"
        + "66ff1500"

    @Test("Any bytes come back as they were, or are left as they are")
    func random() {
        var random = SeededRandom(seed: 7)
        let pieces = (0..<400).map { number -> [UInt8] in
            switch number % 5 {
            case 0: (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            case 1: Array(String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 16).utf8)
            case 2: Array("\(Int.random(in: 0...Int.max, using: &random))".utf8)
            case 3:
                Array(
                    repeating: UInt8(ascii: number % 2 == 0 ? "0" : "f"), count: Int.random(in: 0...300, using: &random)
                )
            default: Array(UsualRow.bytes.dropFirst(Int.random(in: 0...800, using: &random)).prefix(90))
            }
        }
        for round in 0..<Effort.count(fast: 500, landing: 2_000, all: 20_000) {
            let value = (0..<Int.random(in: 0...30, using: &random)).flatMap { _ in
                pieces.randomElement(using: &random)!
            }
            let key = round % 3 == 0 ? Self.variant(0).key : pieces.randomElement(using: &random)!
            let headers = RecordHeaders([RecordHeader("h", pieces.randomElement(using: &random)!)])
            guard let packed = RowPacking.pack(key: key, headers: headers.packed, value: value) else { continue }
            let back = Self.unpacked(packed, key: key)
            guard back?.headers == headers, back?.value == value else {
                Issue.record("round \(round)")
                return
            }
        }
    }

    @Test("Damaged bytes are refused, or make a row of the same length")
    func damaged() throws {
        var random = SeededRandom(seed: 8)
        let record = Self.variant(0)
        let packed = try #require(Self.packed(record))
        for _ in 0..<Effort.count(fast: 2_000, landing: 20_000, all: 500_000) {
            var bytes = packed
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Int.random(in: 0...3, using: &random) == 0 {
                bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            }
            _ = Self.unpacked(bytes, key: record.key)
        }
    }

    @Test("Keys of every kind come back as they were; those that begin with a key's digits keep their order")
    func keys() {
        let digits = Self.source.hex
        let keys = [
            digits, digits + "/@source", digits + "/640x480-q80.webp", "@epoch/3", "", "\u{0}", "\u{1}\u{0}a", "a/1",
            digits.uppercased(), String(digits.dropLast()), String(digits.dropLast()) + "g", "0",
        ].map { Array($0.utf8) }
        for key in keys { #expect(ShortKey.plain(ShortKey.stored(key)) == key) }
        #expect(Set(keys.map(ShortKey.stored)).count == keys.count)
        #expect(ShortKey.stored(keys[2]).count == keys[2].count - 31)
        for prefix in keys {
            for key in keys where key.starts(with: prefix) {
                #expect(ShortKey.prefixes(prefix).contains { ShortKey.stored(key).starts(with: $0) })
            }
        }
    }
}
