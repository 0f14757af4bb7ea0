import Clocks
import CommandLine
import JSONText
import Settings

extension ParsedArguments {
    /// A time: `2026-11-28T12:00:00Z`, its date alone, or the time that was a duration ago. nil if the option was not given.
    func time(_ name: String, at now: WallTime) throws(UsageError) -> WallTime? {
        guard let text = value(name) else { return nil }
        if let ago = Duration(parsing: text), ago >= .zero { return now - ago }
        let whole = text.count == 10 ? text + "T00:00:00.000Z" : text.count == 20 ? text.dropLast() + ".000Z" : text
        guard let time = Array(whole.utf8).withUnsafeBytes(Timestamp.time) else {
            throw UsageError(
                "--\(name): expected a time such as 2026-11-28T12:00:00Z, or a duration before now such as 2h, got '\(text)'."
            )
        }
        return time
    }

    /// A duration above zero; nil if the option was not given.
    func duration(_ name: String, upTo limit: Duration) throws(UsageError) -> Duration? {
        guard let text = value(name) else { return nil }
        guard let duration = Duration(parsing: text), duration > .zero, duration <= limit else {
            throw UsageError(
                "--\(name): expected a duration up to \(limit.milliseconds / 3_600_000)h, such as 10m, got '\(text)'.")
        }
        return duration
    }
}
