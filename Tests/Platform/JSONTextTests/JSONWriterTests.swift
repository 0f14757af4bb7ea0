import Clocks
import Foundation
import JSONText
import TestSupport
import Testing

@Suite("Writing JSON", .timeLimit(.minutes(1)))
struct JSONWriterTests {
    private func text(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        write(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test("Commas come by themselves, at every depth")
    func structure() {
        let written = text { json in
            json.beginObject()
            json.key("a")
            json.beginArray()
            json.beginObject()
            json.endObject()
            json.beginArray()
            json.endArray()
            json.integer(1)
            json.endArray()
            json.field("b", "x")
            json.field("c", true)
            json.key("d")
            json.null()
            json.field("e", -12)
            json.endObject()
        }
        #expect(written == #"{"a":[{},[],1],"b":"x","c":true,"d":null,"e":-12}"#)
    }

    @Test(
        "Strings are escaped no more than they must be",
        arguments: [
            ("", #""""#), ("plain/€𝄞", #""plain/€𝄞""#), ("\"\\", #""\"\\""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u001f\u{7F}\""), ("</script>\u{2028}", "\"</script>\u{2028}\""),
        ] as [(String, String)])
    func escapes(value: String, written: String) { #expect(text { $0.string(value) } == written) }

    @Test("Bytes that are no UTF-8 are repaired, so that the text stays JSON")
    func repair() { #expect(text { $0.string(repairing: [0x61, 0xFF, 0x22]) } == "\"a\u{FFFD}\\\"\"") }

    @Test(
        "Whole numbers",
        arguments: [(0, "0"), (9, "9"), (10, "10"), (-1, "-1"), (.max, "9223372036854775807"), (.min, "-9223372036854775808")]
            as [(Int64, String)])
    func integers(value: Int64, written: String) { #expect(text { $0.integer(value) } == written) }

    @Test(
        "Doubles are the shortest text that reads back",
        arguments: [
            (0, "0"), (-0.0, "-0.0"), (1, "1"), (-3, "-3"), (0.1, "0.1"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
            (.infinity, "null"), (.nan, "null"), (1e15, "1000000000000000"), (1 / 3, "0.3333333333333333"),
        ] as [(Double, String)])
    func doubles(value: Double, written: String) { #expect(text { $0.number(value) } == written) }

    @Test("Any double reads back as itself, bit for bit")
    func roundTrip() throws {
        var random = SeededRandom(seed: 11)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            var json = JSONWriter()
            json.number(value)
            let back = try JSONReader.read(json.bytes) { (reader) throws(JSONFailure) in try reader.number() }
            #expect(back.bitPattern == value.bitPattern)
        }
    }

    @Test("Any string reads back as itself, by our reader and by Foundation's")
    func strings() throws {
        var random = SeededRandom(seed: 12)
        for _ in 0..<2_000 {
            var value = ""
            for _ in 0..<Int.random(in: 0..<24, using: &random) {
                let pool: [ClosedRange<UInt32>] = [0...0x1F, 0x20...0x7F, 0x80...0x7FF, 0xE000...0xFFFF, 0x10000...0x10FFFF]
                let range = pool.randomElement(using: &random)!
                value.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: range, using: &random))!)
            }
            var json = JSONWriter()
            json.beginArray()
            json.string(value)
            json.endArray()
            let back = try JSONReader.read(json.bytes) { (reader) throws(JSONFailure) in
                try reader.openArray()
                _ = try reader.nextElement()
                let value = try reader.string()
                _ = try reader.nextElement()
                return value
            }
            #expect(Array(back.utf8) == Array(value.utf8))
            let theirs = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String]
            #expect(theirs.map { Array($0[0].utf8) } == Array(value.utf8))
        }
    }

    @Test(
        "Times are RFC 3339",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_256_916_007, "2026-11-21T10:28:36.007Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (.distantFuture, "9999-12-31T23:59:59.999Z"), (.distantPast, "0000-01-01T00:00:00.000Z"),
        ] as [(WallTime, String)])
    func times(time: WallTime, written: String) {
        #expect(Timestamp.text(time) == written)
        #expect(text { $0.time(time) } == "\"\(written)\"")
        #expect(Array(written.utf8).withUnsafeBytes(Timestamp.time).map(Timestamp.text) == written)
    }

    @Test(
        "Other texts are no times",
        arguments: [
            "", "1970-01-01T00:00:00Z", "1970-01-01 00:00:00.000Z", "1970-00-01T00:00:00.000Z",
            "2001-02-29T00:00:00.000Z", "1970-01-01T24:00:00.000Z", "19/0-01-01T00:00:00.000Z",
            "\u{ff}970-01-01T00:00:00.000",
        ])
    func noTime(text: String) { #expect(Array(text.utf8).withUnsafeBytes(Timestamp.time) == nil) }

    @Test("A cleared writer starts anew")
    func clear() {
        var json = JSONWriter()
        json.integer(1)
        json.endLine()
        json.integer(2)
        #expect(json.bytes == Array("1\n2".utf8))
        json.clear()
        json.integer(3)
        #expect(json.bytes == Array("3".utf8))
    }
}
