internal import Posix
internal import Telemetry

/// What the workers of a world write into their logs, from warnings up.
///
/// A sentence about something that nobody did sends a person looking for it, or has jobs done again.
final class Sayings {
    private let file: OpenFile
    let output: LogOutput

    /// A sentence, by some of its words, and what it may be said of.
    private struct Claim {
        let words: String
        let causes: [Happening]
        /// A cause only if all of them happened.
        var together: [Happening] = []
        /// Counted where it was said: other words would be looked for in vain.
        var said: Happening?
    }

    private static let claims = [
        // If an owner ends before it reports a log's new beginning, the old log's row stays. After expired offsets, a
        // restored changelog may name an older offset as committed (seed 1333).
        Claim(
            words: "was set back from", causes: [.resetEarliest, .recreated, .truncated],
            together: [.offsetsExpired, .changelogRecreated]),
        // What is put off is answered by its copy, and that goes with its topic's log.
        Claim(
            words: "have no answer in the log",
            causes: [.resetLatest, .rekeyed, .gap, .recreated, .truncated, .retained], said: .saidUnanswered),
        // Brokers forget the offsets of a topic that is deleted.
        Claim(words: "and is there no more", causes: [.offsetsExpired, .recreated], said: .saidForgotten),
        Claim(words: "Retention removed", causes: [.retained], said: .saidExpired),
        Claim(
            words: "is not the log that was read", causes: [.recreated, .truncated, .changelogRecreated],
            said: .saidRecreated),
    ]

    init() {
        do { file = try OpenFile(anonymous: "sayings") } catch {
            fatalError("What workers say cannot be kept: \(error)")
        }
        output = LogOutput(file.descriptor, isTerminal: false, now: { World.begin })
    }

    func check(_ world: World) throws(SystemFailure) {
        try file.remeasure()
        let text = String(decoding: try file.allBytes(), as: UTF8.self)
        for claim in Self.claims where text.contains(claim.words) {
            if let said = claim.said { world.count(said) }
            guard claim.causes.allSatisfy({ world.counts[$0] == 0 }) else { continue }
            if !claim.together.isEmpty, claim.together.allSatisfy({ world.counts[$0] > 0 }) { continue }
            world.fail(.said, text.split(separator: "\n").first { $0.contains(claim.words) }.map(String.init) ?? text)
        }
    }
}
