/// Request headers that selected a response: the names in its `Vary`, and a hash of the values that were sent.
///
/// A worker sends the same headers with every request. A response therefore fits until the settings change a header
/// that it depends on.
package struct Selection: Sendable, Hashable {
    /// Names in lower case and sorted; only `*` if the response was selected by something other than headers.
    package let names: [String]
    package let word: UInt64

    /// A response with more names than any honest origin uses counts as `*`, because each job of the source would
    /// compare all of them.
    package init(names: [String], word: UInt64) {
        (self.names, self.word) = (names.count > Self.most ? ["*"] : names, word)
    }

    private static let most = 16

    /// nil if the response depends on no header.
    package init?(vary lines: [String], sent: [(name: String, value: String)]) {
        let named = Set(
            lines.flatMap { $0.lowercased().split(separator: ",") }.map(Self.trimmed).filter { !$0.isEmpty })
        guard !named.isEmpty else { return nil }
        let names = named.contains("*") || named.count > Self.most ? ["*"] : named.sorted()
        self.init(names: names, word: Self.word(names, sent))
    }

    package var isUnknown: Bool { names == ["*"] }

    /// Whether a request with these headers would get the same response.
    package func fits(_ sent: [(name: String, value: String)]) -> Bool {
        !isUnknown && word == Self.word(names, sent)
    }

    /// The selection after a request with these headers confirmed the response.
    func chosen(by sent: [(name: String, value: String)]) -> Selection {
        isUnknown ? self : Selection(names: names, word: Self.word(names, sent))
    }

    /// FNV-1a hash. Lines of a header form one list, and blanks beside its commas are ignored.
    private static func word(_ names: [String], _ sent: [(name: String, value: String)]) -> UInt64 {
        var word: UInt64 = 0xcbf2_9ce4_8422_2325
        for name in names {
            let values = sent.filter { $0.name.lowercased() == name }
                .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }.map(trimmed)
            for byte in "\(name):\(values.joined(separator: ","))\n".utf8 {
                word = (word ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        return word
    }

    private static func trimmed(_ text: Substring) -> String {
        String(decoding: text.utf8.drop { $0 <= 32 }.reversed().drop { $0 <= 32 }.reversed(), as: UTF8.self)
    }
}
