package import Clocks
internal import JSONText
internal import Telemetry

/// Times, numbers and texts from outside, formatted for sentences.
package enum Words {
    /// `14:02:11 UTC`; on another day `2026-11-23 14:02:11 UTC`.
    package static func clock(_ time: WallTime, at now: WallTime) -> String {
        let text = Timestamp.text(time)
        let day = text.prefix(10) == Timestamp.text(now).prefix(10) ? "" : "\(text.prefix(10)) "
        return "\(day)\(text.dropFirst(11).prefix(8)) UTC"
    }

    /// `82 %`; 100 % only for all.
    static func percent(_ part: Double, of whole: Double) -> String {
        let share = 100 * part / max(whole, part, 1)
        return "\(share < 100 ? min(99, Int(share.rounded())) : 100) %"
    }

    /// `250 ms`, `38 s`, `4 min 12 s`, `2 h 5 min`, `3 d 4 h`.
    package static func span(_ time: Duration) -> String {
        let milliseconds = time.milliseconds
        let seconds = max(0, milliseconds) / 1000
        return switch milliseconds {
        case ..<1_000: "\(max(0, milliseconds)) ms"
        case ..<60_000: "\(seconds) s"
        case ..<3_600_000: "\(seconds / 60) min\(seconds % 60 == 0 ? "" : " \(seconds % 60) s")"
        case ..<86_400_000: "\(seconds / 3_600) h\(seconds / 60 % 60 == 0 ? "" : " \(seconds / 60 % 60) min")"
        default: "\(seconds / 86_400) d\(seconds / 3_600 % 24 == 0 ? "" : " \(seconds / 3_600 % 24) h")"
        }
    }

    /// `12,345`.
    package static func count(_ number: Int) -> String {
        var digits = "\(number.magnitude)"
        var text = ""
        while digits.count > 3 {
            text = ",\(digits.suffix(3))\(text)"
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + digits + text
    }

    /// `1 partition`, `12 partitions`.
    static func counted(_ number: Int, _ noun: String) -> String { "\(count(number)) \(noun)\(number == 1 ? "" : "s")" }

    package static func rate(_ perSecond: Double) -> String {
        Figure.text(perSecond, digits: abs(perSecond) < 10 ? 1 : 0)
    }

    package static func bytes(_ count: Int) -> String {
        count < 10 << 20 ? "\(Words.count(count >> 10)) KiB" : "\(Words.count(count >> 20)) MiB"
    }

    /// Text from outside, on one line, cut to at most `limit` bytes and an ellipsis. Bytes count because a character
    /// may have any number.
    package static func cut(_ text: String, _ limit: Int = 240) -> String {
        // Escaping makes text longer, and a scalar has four bytes at most.
        let plain = PlainText.of(scalars(of: text, in: limit + 4))
        return plain.utf8.count > limit ? scalars(of: plain, in: limit) + "…" : plain
    }

    /// The first whole scalars of a text that fit into `limit` bytes.
    private static func scalars(of text: String, in limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while text.utf8[end] & 0xC0 == 0x80 { text.utf8.formIndex(before: &end) }
        return String(text[..<end])
    }

    /// A message to append to a sentence.
    static func detail(_ message: String?) -> String {
        guard let message, !message.isEmpty else { return "." }
        return ": " + cut(message)
    }
}
