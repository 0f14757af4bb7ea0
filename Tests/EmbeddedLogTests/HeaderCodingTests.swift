@testable import EmbeddedLog
import ImageModel
import Testing

@Suite("Embedded log: headers as bytes")
struct HeaderCodingTests {
    static let headers = [
        RecordHeader("ce_id", "0"), RecordHeader("", []), RecordHeader("long", Array(repeating: 7, count: 20_000)),
    ]

    @Test("Headers come back as they went in; none is no bytes")
    func whole() {
        #expect(HeaderCoding.encode([]).isEmpty)
        #expect(HeaderCoding.encode(Self.headers).withUnsafeBytes(HeaderCoding.decode) == Self.headers)
    }

    @Test("No bytes make it trap, and a blob that was cut is refused")
    func damaged() {
        let blob = HeaderCoding.encode(Self.headers)
        // Every length but those at which a header ends: 0, 8, 10 and the whole.
        for length in 1..<100 where length != 8 && length != 10 {
            #expect(Array(blob[..<length]).withUnsafeBytes(HeaderCoding.decode) == nil)
        }
        #expect(Array(blob.dropLast()).withUnsafeBytes(HeaderCoding.decode) == nil)
        // Lengths beyond the blob, beyond an Int, and without an end.
        for bytes: [UInt8] in [[200], [255, 255, 255, 255, 255], [1, 65, 255, 255, 255, 255, 15, 1], Array(repeating: 128, count: 40)] {
            #expect(bytes.withUnsafeBytes(HeaderCoding.decode) == nil)
        }
    }
}
