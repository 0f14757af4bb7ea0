/// Text that is used but never shown: descriptions, dumps and messages of any enclosing value leave it out.
package struct Secret: Sendable, Hashable {
    /// The text itself, for code that needs it.
    package let revealed: String

    package init(_ text: String) { revealed = text }

    package var isEmpty: Bool { revealed.isEmpty }
}

extension Secret: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Placeholder shown in its place.
    package static let stand = "(not shown)"

    package var description: String { isEmpty ? "" : Self.stand }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret {
    /// Shortest secret to hide. A shorter one could occur in any word.
    private static let leastBytes = 4
    /// Length of a part that reveals enough. A library may repeat only a part of a secret.
    private static let runBytes = 8

    /// Removes these secrets from a text. Error messages of C libraries repeat their configuration.
    package static func hide(_ secrets: some Sequence<Secret>, in text: String) -> String {
        let bytes = Array(text.utf8)
        var isHidden = [Bool](repeating: false, count: bytes.count)
        for secret in secrets {
            let secret = Array(secret.revealed.utf8)
            guard secret.count >= leastBytes else { continue }
            let least = min(secret.count, runBytes)
            var place = 0
            while place + least <= bytes.count {
                let run = run(of: secret, in: bytes, at: place)
                for hidden in place..<place + run where run >= least { isHidden[hidden] = true }
                place += run >= least ? run : 1
            }
        }
        guard isHidden.contains(true) else { return text }
        var shown: [UInt8] = []
        for (place, byte) in bytes.enumerated() {
            if !isHidden[place] {
                shown.append(byte)
            } else if place == 0 || !isHidden[place - 1] {
                shown += Array(stand.utf8)
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Length of the longest part of the secret that occurs at this position of the text.
    private static func run(of secret: [UInt8], in text: [UInt8], at place: Int) -> Int {
        var longest = 0
        for start in secret.indices where secret[start] == text[place] {
            var count = 1
            while start + count < secret.count, place + count < text.count, secret[start + count] == text[place + count]
            {
                count += 1
            }
            longest = max(longest, count)
        }
        return longest
    }
}
