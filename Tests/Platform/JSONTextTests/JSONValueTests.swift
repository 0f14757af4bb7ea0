import JSONText
import Testing

private func value<Value>(
    _ text: String, _ body: (inout JSONReader) throws(JSONFailure) -> Value
) throws(JSONFailure) -> Value {
    try JSONReader.read(Array(text.utf8), body)
}

private func integer(_ text: String) throws(JSONFailure) -> Int64 {
    try value(text) { (reader) throws(JSONFailure) in try reader.integer() }
}

private func number(_ text: String) throws(JSONFailure) -> Double {
    try value(text) { (reader) throws(JSONFailure) in try reader.number() }
}

private func string(_ text: String) throws(JSONFailure) -> String {
    try value(text) { (reader) throws(JSONFailure) in try reader.string() }
}

@Suite("Reading JSON: values", .timeLimit(.minutes(1)))
struct JSONValueTests {
    @Test(
        "Whole numbers are exact to the ends of 64 bits",
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), (" 12 ", 12),
            ("999999999999999999", 999_999_999_999_999_999), ("1000000000000000000", 1_000_000_000_000_000_000),
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ] as [(String, Int64)])
    func whole(text: String, is wanted: Int64) throws { #expect(try integer(text) == wanted) }

    @Test(
        "Numbers other than whole ones of 64 bits are refused",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999999999", "1.0", "1e3",
            "1E2", "01", "00", "-01", "007", "12x", "",
            "\"1\"", "null", "true", "[]", "{}",
        ])
    func noInteger(text: String) { #expect(throws: JSONFailure.self) { try integer(text) } }

    @Test(
        "Numbers are the nearest doubles",
        arguments: [
            "0", "1", "-1", "0.1", "123.456", "1e22", "1e23", "-2.5e-3", "5e-324", "1.7976931348623157e308",
            "2.2250738585072014e-308", "9007199254740993", "123456789012345678901234567890", "0.1000000000000000055511151231257827",
            "8.41e21", "9.5367431640625e-7", "1e-22", "1.5E+10", "0.000001", "1e-400",
        ])
    func nearest(text: String) throws { #expect(try number(text) == Double(text)!) }

    @Test("A number that no double holds is refused", arguments: ["1e309", "-1e309", "1e999999999999999999999", "\"1\""])
    func noDouble(text: String) { #expect(throws: JSONFailure.self) { try number(text) } }

    @Test("Minus zero keeps its sign") func minusZero() throws { #expect(try number("-0.0").sign == .minus) }

    @Test(
        "Strings are unescaped",
        arguments: [
            (#""""#, ""), (#""a\/b""#, "a/b"), (#""\"\\\b\f\n\r\t""#, "\"\\\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
            (#""\ud834\udd1e""#, "𝄞"), (#""x\uDBFF\uDFFFy""#, "x\u{10FFFF}y"), (#""\u0000""#, "\u{0}"),
            (#""long enough for two words of eight\n""#, "long enough for two words of eight\n"),
            (#""ünï\u00e7ödé𝄞\\""#, "ünïçödé𝄞\\"),
        ] as [(String, String)])
    func strings(text: String, is wanted: String) throws {
        #expect(try string(text) == wanted)
        let lent = try value(text) { (reader) throws(JSONFailure) in
            try reader.withString { (bytes) throws(JSONFailure) in Array(bytes) }
        }
        #expect(lent == Array(wanted.utf8))
    }

    @Test("A wrong kind of value is named with its field")
    func wrongType() {
        func readSides() throws(JSONFailure) {
            try value(#"{"name":"a","sides":[1,"2"]}"#) { (reader) throws(JSONFailure) in
                try reader.openObject()
                while let key = try reader.nextKey() {
                    switch key {
                    case "sides":
                        try reader.openArray()
                        while try reader.nextElement() { _ = try reader.integer(in: 0...9) }
                    default: try reader.skip()
                    }
                }
            }
        }
        #expect(throws: JSONFailure.wrongType(field: "sides", expected: "a whole number", found: "a string", at: 23)) {
            try readSides()
        }
    }

    @Test("A range is kept") func range() throws {
        func side(_ text: String) throws(JSONFailure) -> Int {
            try value(text) { (reader) throws(JSONFailure) in try reader.integer(in: 1...10) }
        }
        #expect(try side("10") == 10)
        for text in ["0", "11", "-1", "99999999999999999999"] { #expect(throws: JSONFailure.self) { try side(text) } }
    }
}
