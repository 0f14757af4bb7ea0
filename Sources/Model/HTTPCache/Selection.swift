/// What of a request an answer was chosen by: the headers that its `Vary` names, and a word made of the values that were
/// sent.
///
/// A worker sends the same headers with every request, so an answer fits until the settings change one that it depends on.
package struct Selection: Sendable, Hashable {
    /// In lower case and in order; `*` alone where it was chosen by something else than headers.
    package let names: [String]
    package let word: UInt64

    /// Of more names than any honest origin has it is as of `*`: each job of the source would be compared by all of them.
    package init(names: [String], word: UInt64) {
        (self.names, self.word) = (names.count > Self.most ? ["*"] : names, word)
    }

    private static let most = 16

    /// nil where the answer depends on no header.
    package init?(vary lines: [String], sent: [(name: String, value: String)]) {
        let named = Set(
            lines.flatMap { $0.lowercased().split(separator: ",") }.map(Self.trimmed).filter { !$0.isEmpty })
        guard !named.isEmpty else { return nil }
        let names = named.contains("*") || named.count > Self.most ? ["*"] : named.sorted()
        self.init(names: names, word: Self.word(names, sent))
    }

    package var isUnknown: Bool { names == ["*"] }

    /// Whether a request with these headers would be answered alike.
    package func fits(_ sent: [(name: String, value: String)]) -> Bool {
        !isUnknown && word == Self.word(names, sent)
    }

    /// The same for what was confirmed to a request with these headers.
    func chosen(by sent: [(name: String, value: String)]) -> Selection {
        isUnknown ? self : Selection(names: names, word: Self.word(names, sent))
    }

    /// FNV-1a. Lines of a header are one list, and blanks beside its commas mean nothing.
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
