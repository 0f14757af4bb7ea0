internal import Clocks
internal import Ports
internal import Records

/// When a run until idle ends: nothing is left to do, the log says the same, and no partition came or went meanwhile.
struct IdleWatch: Sendable {
    /// Since when nothing was to be done.
    private var quietSince: Instant?
    /// The first record that an open transaction hides, and since when nothing else is left.
    private var hidden: (place: LogPoint, since: Instant)?

    /// As long as Kafka lets a producer that is gone keep its transaction open, by default.
    private static let hiddenPatience = Duration.seconds(60)

    /// A partition came or went, or there is work.
    mutating func interrupt() { quietSince = nil }

    /// Whether the log is to be asked what it holds: since when it has been quiet, which `heard` takes; nil: not yet.
    mutating func quiet(atLeast quietTime: Duration, at now: Instant) -> Instant? {
        let since = quietSince ?? now
        quietSince = since
        return now - since >= quietTime ? since : nil
    }

    enum Ending: Sendable { case done, without(LogFailure) }

    /// What the log holds. nil: the worker goes on.
    ///
    /// - Parameters:
    ///   - asked: what `quiet` returned.
    ///   - isQuiet: whether nothing is to be done still.
    ///   - tools: the topic's name as the broker's tools take it.
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
