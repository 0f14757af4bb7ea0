internal import Clocks

/// The last hour of a lane with one point a minute, and the last minute with each poll.
struct LaneHistory: Sendable {
    static let span: Duration = .hours(1)
    static let minute: Duration = .minutes(1)
    private static let rateWindow: Duration = .minutes(1)
    /// Window of the estimated time to drain, for which jobs that are published at once count.
    private static let drainWindow: Duration = .seconds(15)
    private static let points = 60

    struct Point: Sendable, Hashable {
        /// Start of the minute.
        let at: WallTime
        /// The highest age of the minute; nil if it was never known.
        var oldest: Duration?
        /// Pending records at its end.
        var waiting: Int64?
        var published: Int64
        var finished: Int64
    }

    private(set) var minutes: [Point] = []
    /// Counts since the first poll.
    private var (published, finished): (Int64, Int64) = (0, 0)
    private var looks: [(at: WallTime, published: Int64, finished: Int64)] = []

    mutating func count(published: Int64, finished: Int64) {
        self.published += published
        self.finished += finished
        guard let last = minutes.indices.last else { return }
        minutes[last].published += published
        minutes[last].finished += finished
    }

    /// Ends a poll. Earlier counts belong to it.
    mutating func look(at now: WallTime, oldest: WallTime?, waiting: Int64?) {
        let begun = now.begun(Self.minute)
        let age = oldest.map { max(.zero, now - $0) } ?? (waiting == 0 ? .zero : nil)
        if minutes.last?.at == begun {
            let last = minutes.count - 1
            minutes[last].oldest = [minutes[last].oldest, age].compactMap { $0 }.max()
            minutes[last].waiting = waiting ?? minutes[last].waiting
        } else {
            minutes.append(Point(at: begun, oldest: age, waiting: waiting, published: 0, finished: 0))
            minutes.removeAll { $0.at <= now - Self.span }
            if minutes.count > Self.points { minutes.removeFirst(minutes.count - Self.points) }
        }
        looks.append((now, published, finished))
        looks.removeAll { $0.at < now - Self.rateWindow }
    }

    /// Jobs a second by which the backlog shrinks, from the last seconds; nil before there are two polls.
    var drain: Double? {
        guard let last = looks.last,
            let first = looks.last(where: { $0.at <= last.at - Self.drainWindow }) ?? looks.first,
            last.at > first.at
        else { return nil }
        let gone = last.finished - first.finished - last.published + first.published
        return Double(gone) / (last.at - first.at).seconds
    }

    /// Records a second over the last minute; nil before there are two polls.
    var rates: (in: Double, out: Double)? {
        guard let first = looks.first, let last = looks.last, last.at > first.at else { return nil }
        let seconds = (last.at - first.at).seconds
        return (Double(last.published - first.published) / seconds, Double(last.finished - first.finished) / seconds)
    }
}

extension WallTime {
    /// Start of the minute, or of another period of this length, that contains this time.
    func begun(_ length: Duration) -> WallTime {
        WallTime(milliseconds: milliseconds / length.milliseconds * length.milliseconds)
    }
}
