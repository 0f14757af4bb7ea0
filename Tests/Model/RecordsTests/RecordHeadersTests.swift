import Records
import Testing

@Suite("Records: headers in one piece of memory")
struct RecordHeadersTests {
    static let headers = [
        RecordHeader("ce_id", "0"), RecordHeader("", []), RecordHeader("long", Array(repeating: 7, count: 20_000)),
        RecordHeader("ce_id", "1"),
    ]

    @Test("Headers come back as they went in; none is no bytes")
    func whole() {
        #expect(RecordHeaders([]).packed.isEmpty)
        #expect(Array(RecordHeaders(Self.headers)) == Self.headers)
        #expect(RecordHeaders(Self.headers).packed.withUnsafeBytes { RecordHeaders(packed: $0) } == RecordHeaders(Self.headers))
    }

    @Test("A name has its first value")
    func first() {
        let headers = RecordHeaders(Self.headers)
        #expect(headers["ce_id"] == [0x30])
        #expect(headers[""] == [])
        #expect(headers["ce_i"] == nil)
    }

    @Test("No bytes make it trap, and what was cut is refused")
    func damaged() {
        func isWhole(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { RecordHeaders(packed: $0) } != nil }
        let packed = RecordHeaders(Self.headers).packed
        // Every length but those at which a header ends: 0, 8, 10 and the whole.
        for length in 1..<100 where length != 8 && length != 10 { #expect(!isWhole(Array(packed[..<length]))) }
        #expect(!isWhole(Array(packed.dropLast())))
        // Lengths beyond the bytes, beyond an Int, and without an end.
        for bytes: [UInt8] in [[200], [255, 255, 255, 255, 255], [1, 65, 255, 255, 255, 255, 15, 1], Array(repeating: 128, count: 40)] {
            #expect(!isWhole(bytes))
        }
    }
}
