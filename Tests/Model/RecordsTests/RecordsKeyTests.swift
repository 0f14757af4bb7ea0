import Canonical
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Records: keys", .timeLimit(.minutes(1)))
struct RecordsKeyTests {
    private static let hex = Fixture.source.hex

    @Test("Keys are spelled as the contract says")
    func spelling() {
        #expect(Fixture.text(RecordKey.job(Fixture.source).bytes) == Self.hex)
        #expect(Fixture.text(RecordKey.source(Fixture.source).bytes) == "\(Self.hex)/@source")
        #expect(Fixture.text(RecordKey.variant(Fixture.source, Fixture.spec).bytes) == "\(Self.hex)/640x480-q80.webp")
        #expect(Fixture.text(RecordKey.epoch(PartitionID(12)).bytes) == "@epoch/12")
        #expect(Fixture.text(RecordKey.progress(PartitionID(12)).bytes) == "@progress/12")
    }

    @Test("Every key reads back as itself")
    func roundTrip() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<5_000 {
            let spec = randomSpec(&random)
            let key = RecordKey.variant(Fixture.source, spec)
            #expect(RecordKey(key.bytes) == key)
            #expect(Fixture.text(key.bytes).hasSuffix("/" + spec.description), "two writers of one spelling")
        }
        for key in [RecordKey.job(Fixture.source), .source(Fixture.source), .epoch(PartitionID(0)), .epoch(PartitionID(.max)), .progress(PartitionID(7))] {
            #expect(RecordKey(key.bytes) == key)
        }
    }

    @Test(
        "What names nothing is no key",
        arguments: [
            "", "x", "\(hex.dropLast())", "\(hex)0", "\(hex)/", "\(hex)/@sources", "\(hex)/@", "g\(hex.dropFirst())",
            "\(hex.uppercased())", "\(hex.uppercased())/@source",
            "\(hex)/640x480-q80.webp/", "\(hex)/640x480", "\(hex)/640x480.webp", "\(hex)/640x480-q080.webp",
            "\(hex)/0640x480-q80.webp", "\(hex)/640x480-q80.jpeg", "\(hex)/0x0-q80.webp", "\(hex)/full-q80-enlarge.webp",
            "\(hex)/640y0-q80.webp", "\(hex)/640x480-q80-axis5_5.webp", "\(hex)/640x480-q80-axis2_5.webp", "\(hex)/640x480-q0.webp",
            "\(hex)/640x480-q101.webp", "\(hex)/640y480-q80-axis11_5.webp", "\(hex)/640x480-q80.png", "\(hex)/640X480-q80.webp",
            "\(hex)/999999x1-q80.webp", "\(hex)/99999999999999999999x1-q80.webp", "\(hex)/640x480-q80.exe", "@epoch/",
            "@epoch/-1", "@epoch/01", "@epoch/+1", "@epoch/2147483648", "@epoch", "@other/1", "@progress/",
            "@progress/-1", "@progress/01",
        ])
    func noKey(text: String) { #expect(RecordKey(Array(text.utf8)) == nil) }

    @Test("A place is written and read", arguments: ["jobs.fast-3-17", "retry-0-0", "variants-7-9223372036854775807"])
    func place(text: String) { #expect(RecordOrigin(text)?.description == text) }

    @Test("Text of another form gives no place", arguments: ["", "jobs.fast", "jobs.fast-3", "jobs.fast-3-17-1", "jobs-3-17", "retry--1-2", "retry-a-2"])
    func noPlace(text: String) { #expect(RecordOrigin(text) == nil) }

    private func randomSpec(_ random: inout SeededRandom) -> VariantSpec {
        let side = { (random: inout SeededRandom) in [0, 1, 9, 10, 160, 1280, 16383].randomElement(using: &random)! }
        return VariantSpec(
            width: side(&random), height: side(&random), mode: FitMode.allCases.randomElement(using: &random)!,
            quality: Int.random(in: 1...100, using: &random), format: ImageFormat.allCases.randomElement(using: &random)!,
            enlarge: Bool.random(using: &random),
            axis: CropAxis(x: Int.random(in: 0...10, using: &random), y: Int.random(in: 0...10, using: &random)))
    }
}
