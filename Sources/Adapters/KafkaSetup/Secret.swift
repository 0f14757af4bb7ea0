/// Text that is used and never shown: no description, no dump and no message has it, whatever it stands in.
package struct Secret: Sendable, Hashable {
    /// The text itself, for the one who needs it.
    package let revealed: String

    package init(_ text: String) { revealed = text }

    package var isEmpty: Bool { revealed.isEmpty }
}

extension Secret: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What is said in its place.
    package static let stand = "(not shown)"

    package var description: String { isEmpty ? "" : Self.stand }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret {
    /// Shorter ones would be found in every word.
    private static let leastBytes = 4
    /// A library may say a part of what it was told: a run of so many bytes gives enough away.
    private static let runBytes = 8

    /// A text of others without these secrets: C libraries repeat in their messages what they were configured with.
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

    /// How long the longest part of the secret is that stands at a place of the text.
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
