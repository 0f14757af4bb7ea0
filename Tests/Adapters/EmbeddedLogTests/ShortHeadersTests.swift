import Records
import Testing

@testable import EmbeddedLog

@Suite("Embedded log: headers as they are stored")
struct ShortHeadersTests {
    private static let own = RecordHeaders([RecordHeader("ce_id", "7"), RecordHeader("mz_attempt", "1")])

    /// What is stored names kinds by these codes: a change of their order would give old records other headers.
    @Test(
        "Each kind has a code that stays",
        arguments: zip(
            1...9,
            [
                "job.finished", "job.requested", "job.retried", "job.dead", "job.discarded", "variant.stored",
                "source.fetched", "partition.owned", "partition.progressed",
            ]))
    func codes(code: Int, name: String) throws {
        let source = name == "job.requested" ? "/mezzotint/publish" : "/mezzotint"
        var headers = RecordHeaders([
            RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_source", source),
            RecordHeader("ce_type", "mezzotint.\(name).v1"), RecordHeader("content-type", "application/json"),
        ])
        headers.append(Self.own)
        let stored = ShortHeaders.stored(headers)
        #expect(stored == [0, UInt8(code)] + Self.own.packed)
        #expect(stored.withUnsafeBytes(ShortHeaders.headers) == headers)
    }

    @Test(
        "Others come back as they were",
        arguments: [[], own, [RecordHeader("", "")], [RecordHeader("", "x"), RecordHeader("ce_id", "7")]]
            as [RecordHeaders])
    func others(headers: RecordHeaders) {
        #expect(ShortHeaders.stored(headers).withUnsafeBytes(ShortHeaders.headers) == headers)
    }

    @Test(
        "Damaged ones are told",
        arguments: [[0], [0, 200], [0, 255, 1, 97], [0, 3, 5, 97], [0, 0, 2], [3, 97]] as [[UInt8]])
    func damaged(stored: [UInt8]) {
        #expect(stored.withUnsafeBytes(ShortHeaders.headers) == nil)
    }
}
