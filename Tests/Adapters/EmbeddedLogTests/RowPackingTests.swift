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

    static func variant(_ number: Int, traceparent: String? = nil) -> NewRecord {
        let digest = SHA256.digest(of: Array("\(number)".utf8))
        let spec = VariantSpec(width: 640 + number, height: 480, format: .webp)
        let (version, size) = (SourceVersion(digest), PixelSize(width: 6_000, height: 4_003))
        return VariantRow(
            source: source, spec: spec, version: version, size: PixelSize(width: 640, height: 427), bytes: 48_211,
            digest: digest, location: "\(source.hex.prefix(2))/\(source.hex)/\(version)/\(spec)", derivedFrom: .origin,
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

    @Test("What was packed once is read for ever, also as programs before zstd packed it")
    func form() throws {
        let record = Self.variant(0)
        let now = try #require(Self.unpacked(Self.bytes(Self.second), key: record.key))
        let before = try #require(Self.bytes(Self.first).withUnsafeBytes { OldRowPacking.unpack($0, key: record.key) })
        #expect(now.headers == record.headers && now.value == record.value)
        #expect(before.headers == record.headers && before.value == record.value)
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).compactMap { place in
            UInt8(digits.dropFirst(place).prefix(2), radix: 16)
        }
    }

    /// That row, as version 5 packs it.
    private static let second =
        "0e0128b52ffd6101c501ad0500730a1def2995b8821578a1401673824d98b418b1d12a5d0cc9b190b80c11a22321f1112306141c419278e1"
        + "4542ad9d7cf799795e27e7bd9eab5a6f491df1cae4b8b5b4ca5653969ca1841a62e85d3bb54c7d7665469a0240d4a0ddbc6e3053529d4c44"
        + "949ee89ddf879ebd87d072ccbd661964f4ccb8041bfc850a544d6ddaf5a14e5d6feadfc8cd79b691b3472601ec59c90e6c5332ba897b4ee7"
        + "bf3c6919db7d5adda5dcefc849d8c87d8d42b935897226680504"

    /// The same, as the first version packed it.
    static let first =
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
            default: Array(RowDictionary.bytes.dropFirst(Int.random(in: 0...800, using: &random)).prefix(90))
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
        let before = Self.bytes(Self.first)
        for _ in 0..<Effort.count(fast: 2_000, landing: 20_000, all: 500_000) {
            var bytes = before
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = bytes.withUnsafeBytes { OldRowPacking.unpack($0, key: record.key) }
        }
    }

    @Test("A row of another dictionary, one of a key without digits, and one that would be too long are refused")
    func refused() throws {
        let record = Self.variant(0)
        var packed = try #require(Self.packed(record))
        #expect(Self.unpacked(packed, key: Array("a/1".utf8)) == nil)
        // Behind the length of the headers, zstd's four bytes and its descriptor.
        #expect(packed[7] == 1)
        packed[7] = 77
        #expect(Self.unpacked(packed, key: record.key) == nil)
        let marks = [UInt8](repeating: 0xFF, count: 9)
        #expect(RowPacking.pack(key: record.key, headers: [], value: marks + Array(repeating: 7, count: 999)) == nil)
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
