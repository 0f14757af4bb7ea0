import JSONText
import Testing

@Suite("Text for terminals and pages", .timeLimit(.minutes(1)))
struct PlainTextTests {
    @Test(
        "What would drive a terminal or turn the direction of a line is escaped",
        arguments: [
            (text: "a\u{0}b", shown: #"a\u0000b"#), (text: "\u{1B}[31m", shown: #"\u001b[31m"#),
            (text: "\u{9B}2J", shown: #"\u009b2J"#), (text: "\u{85}", shown: #"\u0085"#),
            (text: "\u{7F}", shown: #"\u007f"#),
            (text: "a\r\nb\tc", shown: #"a\u000d\u000ab\u0009c"#), (text: "\u{61C}", shown: #"\u061c"#),
            (text: "\u{200E}\u{200F}", shown: #"\u200e\u200f"#), (text: "\u{2028}\u{2029}", shown: #"\u2028\u2029"#),
            (text: "\u{202A}\u{202E}", shown: #"\u202a\u202e"#), (text: "\u{2066}\u{2069}", shown: #"\u2066\u2069"#),
            (text: "é ü א 日本 😀 … –\u{200D}", shown: "é ü א 日本 😀 … –\u{200D}"), (text: "", shown: ""),
        ])
    func escaped(text: String, shown: String) { #expect(PlainText.of(text) == shown) }

    @Test("A page of several lines keeps its line ends and tabs, and nothing else")
    func lines() { #expect(PlainText.of("a\n\tb\r\u{1B}", keepingLines: true) == "a\n\tb" + #"\u000d\u001b"#) }
}
