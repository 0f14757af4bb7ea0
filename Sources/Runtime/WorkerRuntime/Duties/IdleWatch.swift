internal import Clocks
internal import Ports
internal import Records

/// Decides when a run until idle ends: nothing is left to do, the log confirms it, and no partition came or went
/// meanwhile.
struct IdleWatch: Sendable {
    /// Time since which nothing was left to do.
    private var quietSince: Instant?
    /// First record that an open transaction hides, and the time since which nothing else is left.
    private var hidden: (place: LogPoint, since: Instant)?

    /// Kafka's default for how long a producer that is gone may keep its transaction open.
    private static let hiddenPatience = Duration.seconds(60)

    /// Restarts the wait, because a partition came or went, or there is work.
    mutating func interrupt() { quietSince = nil }

    /// Start of the quiet time, if it is time to ask the log for its content. `heard` takes it; nil: not yet.
    mutating func quiet(atLeast quietTime: Duration, at now: Instant) -> Instant? {
        let since = quietSince ?? now
        quietSince = since
        return now - since >= quietTime ? since : nil
    }

    enum Ending: Sendable { case done, without(LogFailure) }

    /// Applies the log's content. nil: the worker continues.
    ///
    /// - Parameters:
    ///   - asked: the value that `quiet` returned.
    ///   - isQuiet: whether there is still nothing to do.
    ///   - tools: the topic's name for the broker's tools.
    mutating func heard(
        _ rest: Worker.Rest, asked: Instant, isQuiet: Bool, at now: Instant, tools: (Topic) -> ToolTopic?
    ) -> Ending? {
        guard isQuiet, quietSince == asked else {
            quietSince = nil
            return nil
        }
        switch rest {
        case .nothing: return .done
        case .records: quietSince = nil
        case .unread(let topics): return .without(.unread(topics))
        case .paused(let pause): return .without(.paused(pause))
        case .hidden(let place, let count):
            quietSince = nil
            let since = hidden.flatMap { $0.place == place ? $0.since : nil } ?? now
            hidden = (place, since)
            guard now - since >= Self.hiddenPatience else { return nil }
            return .without(
                .hidden(
                    topic: place.topic, partition: place.partition, offset: place.offset ?? 0, count: count,
                    tools: tools(place.topic)))
        }
        return nil
    }
}
