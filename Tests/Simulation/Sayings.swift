internal import Posix
internal import Telemetry

/// What the workers of a world write into their logs, from warnings up.
///
/// A sentence about something that nobody did sends a person looking for it, or has jobs done again.
final class Sayings {
    private let file: OpenFile
    let output: LogOutput

    /// What is said, and of which of these it may be.
    private static let causes: [(words: String, causes: [Happening])] = [
        ("was set forward to", [.resetLatest]), ("was set back from", [.resetEarliest]),
        // Brokers forget the offsets of a topic that is deleted.
        ("and is there no more", [.offsetsExpired, .recreated]), ("Retention removed", [.retained]),
        ("is not the log that was read", [.recreated, .truncated, .changelogRecreated]),
    ]

    init() {
        do { file = try OpenFile(anonymous: "sayings") } catch { fatalError("\(error)") }
        output = LogOutput(file.descriptor, isTerminal: false, now: { World.begin })
    }

    /// The first thing that was said and has no cause in what happened.
    func untrue(in counts: Counts) throws(SystemFailure) -> String? {
        try file.remeasure()
        let text = String(decoding: try file.allBytes(), as: UTF8.self)
        for (words, causes) in Self.causes where causes.allSatisfy({ counts[$0] == 0 }) && text.contains(words) {
            return text.split(separator: "\n").first { $0.contains(words) }.map(String.init)
        }
        return nil
    }
}
