import JSONText
import Testing

/// Reads a whole text of any kind, as strictly as a codec would.
func read(_ text: [UInt8]) throws(JSONFailure) {
    try JSONReader.read(text) { (reader) throws(JSONFailure) in try reader.skip() }
}

func read(_ text: String) throws(JSONFailure) { try read(Array(text.utf8)) }

/// Where the text is refused; nil if it is taken.
func refusal(of text: [UInt8]) -> Int? {
    do throws(JSONFailure) {
        try read(text)
        return nil
    } catch {
        switch error {
        case .syntax(_, let at), .wrongType(_, _, _, let at), .unknownField(_, let at), .duplicateField(_, let at): return at
        case .missingField: return -1
        }
    }
}

@Suite("Reading JSON: RFC 8259 and nothing else", .timeLimit(.minutes(1)))
struct JSONReaderTests {
    @Test(
        "JSON of every kind is taken",
        arguments: [
            "{}", "[]", " \t\r\n[ ] ", "null", "true", "false", "\"\"", "0", "-0", "-1", "1.5e+3", "1E400", "0.0",
            "[1,2]", "[[],{}]", "{\"a\":{\"a\":[{\"a\":1}]}}", "{\"\":1}", "\"\\u0000\\b\\f\\n\\r\\t\\/\\\\\\\"\"", "\"\u{7F}\"",
            "\"€ 𝄞 é\"", "\"\\uD834\\uDD1E\"", "{\"a\":1,\"b\":2,\"A\":3}",
        ])
    func valid(text: String) throws { try read(text) }

    @Test(
        "Invalid JSON is refused where it goes wrong",
        arguments: [
            ("", 0), (" ", 1), ("{", 1), ("}", 0), ("[", 1), ("[1", 2), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3),
            ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1), ("{'a':1}", 1), ("{1:1}", 1),
            ("{\"a\":1 \"b\":2}", 7), ("{\"a\":1}}", 7), ("[1]x", 3), ("[1]\u{0}", 3), ("\u{FEFF}1", 0), ("nul", 0), ("nulll", 4),
            ("True", 0), ("NaN", 0), ("Infinity", 0), ("-", 1), ("-a", 1), ("+1", 0), (".5", 0), ("1.", 2), ("1.e1", 2),
            ("1e", 2), ("1e+", 3), ("01", 0), ("-01", 1), ("0x10", 1), ("1_000", 1), ("\"a", 0), ("\"a\\\"", 0), ("\"\\", 0),
            ("\"\n\"", 1), ("\"\u{0}\"", 1), ("\"\u{1F}\"", 1), ("\"\\x\"", 1), ("\"\\u12\"", 1), ("\"\\u12g4\"", 1),
            ("\"\\u+123\"", 1), ("\"\\ud800\"", 1), ("\"\\ud800x\"", 1), ("\"\\ud800\\n\"", 1), ("\"\\ud800\\ud800\"", 1),
            ("\"\\udc00\"", 1), ("\"\\ud800\\u\"", 7), ("// c\n1", 0), ("[1]/**/", 3), ("{\"\\u0061\":1}", 2),
            ("{\"a\":1,\"a\":2}", 8), ("{\"b\":{\"a\":1},\"a\":[{\"c\":1,\"c\":2}]}", 26), ("\u{A0}1", 0), ("1\u{0B}", 1),
        ] as [(String, Int)])
    func invalid(text: String, at: Int) { #expect(refusal(of: Array(text.utf8)) == at) }

    @Test(
        "Invalid UTF-8 is refused at any position",
        arguments: [
            [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80],
            [0xF0, 0x82, 0x82, 0xAC], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        for before in 0..<10 {
            let padding = [UInt8](repeating: 0x61, count: before)
            #expect(refusal(of: [0x22] + padding + bytes + [0x22]) != nil)
            #expect(refusal(of: [0x22] + padding + bytes + [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x22]) != nil)
            #expect(refusal(of: Array("{\"".utf8) + padding + bytes + Array("\":1}".utf8)) != nil)
            #expect(refusal(of: padding + bytes) != nil)
        }
    }

    @Test("Depth has a limit, for arrays and objects alike")
    func depth() throws {
        let limit = JSONReader.depthLimit
        func nested(_ count: Int) -> String { String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        try read(nested(limit))
        #expect(refusal(of: Array(nested(limit + 1).utf8)) == limit)
        #expect(refusal(of: [UInt8](repeating: 0x5B, count: 1 << 20)) == limit)
        let objects = String(repeating: "{\"a\":", count: 100_000)
        #expect(refusal(of: Array(objects.utf8)) == 5 * limit)
    }

    @Test("Members have a limit, and those of closed objects do not count")
    func members() throws {
        func object(_ count: Int) -> String { "{" + (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") + "}" }
        try read(object(JSONReader.memberLimit))
        #expect(refusal(of: Array(object(JSONReader.memberLimit + 1).utf8)) != nil)
        try read("[" + Array(repeating: object(40), count: 10).joined(separator: ",") + "]")
    }

    @Test("A value that is written as one before is read over, and nothing of any other")
    func again() throws {
        let text = Array(#"{"a":[1,"x"],"b": [1,"x"] ,"c":[1,"x","y"],"d":[1]}"#.utf8)
        let taken = try JSONReader.read(text) { (reader) throws(JSONFailure) -> [String: Bool] in
            var (taken, first) = ([String: Bool](), [UInt8]())
            try reader.openObject()
            while let key = try reader.nextKey() {
                taken[key.text] = reader.take(again: first)
                if taken[key.text] == true { continue }
                let start = reader.beginning()
                try reader.skip()
                if first.isEmpty { first = reader.text(from: start, atMost: 7) ?? [] }
            }
            return taken
        }
        #expect(taken == ["a": false, "b": true, "c": false, "d": false])
    }

    @Test("A member is found twice only within one object")
    func duplicates() {
        #expect(throws: JSONFailure.duplicateField("url", at: 10)) { try read(#"{"url":1,"url":2}"#) }
    }
}
