/// The last hour of a lane, a point a minute, and the last minute, look by look.
struct LaneHistory: Sendable {
    static let milliseconds: Int64 = 3_600_000
    static let minute: Int64 = 60_000
    private static let rateWindow: Int64 = 60_000
    /// What is published at once counts for so long in the estimate of the time to drain.
    private static let drainWindow: Int64 = 15_000
    private static let points = 60

    struct Point: Sendable, Hashable {
        /// When the minute began, milliseconds since 1970.
        let at: Int64
        /// The worst of the minute; nil where it was never known.
        var oldest: Int64?
        /// At its end.
        var waiting: Int64?
        var published: Int64
        var finished: Int64
    }

    private(set) var minutes: [Point] = []
    /// Counted since the first look.
    private var (published, finished): (Int64, Int64) = (0, 0)
    private var looks: [(at: Int64, published: Int64, finished: Int64)] = []

    mutating func count(published: Int64, finished: Int64) {
        self.published += published
        self.finished += finished
        guard let last = minutes.indices.last else { return }
        minutes[last].published += published
        minutes[last].finished += finished
    }

    /// What was counted before is of this look.
    mutating func look(at now: Int64, oldest: Int64?, waiting: Int64?) {
        let begun = now / Self.minute * Self.minute
        let age = oldest.map { max(0, now - $0) } ?? (waiting == 0 ? 0 : nil)
        if minutes.last?.at == begun {
            let last = minutes.count - 1
            minutes[last].oldest = [minutes[last].oldest, age].compactMap { $0 }.max()
            minutes[last].waiting = waiting ?? minutes[last].waiting
        } else {
            minutes.append(Point(at: begun, oldest: age, waiting: waiting, published: 0, finished: 0))
            minutes.removeAll { $0.at <= now - Self.milliseconds }
            if minutes.count > Self.points { minutes.removeFirst(minutes.count - Self.points) }
        }
        looks.append((now, published, finished))
        looks.removeAll { $0.at < now - Self.rateWindow }
    }

    /// By how many jobs a second what waits shrinks, as far as the last seconds tell; nil before there are two looks.
    var drain: Double? {
        guard let last = looks.last,
            let first = looks.last(where: { $0.at <= last.at - Self.drainWindow }) ?? looks.first,
            last.at > first.at
        else { return nil }
        let gone = last.finished - first.finished - last.published + first.published
        return Double(gone) / (Double(last.at - first.at) / 1000)
    }

    /// Records a second over the last minute; nil before there are two looks.
    var rates: (in: Double, out: Double)? {
        guard let first = looks.first, let last = looks.last, last.at > first.at else { return nil }
        let seconds = Double(last.at - first.at) / 1000
        return (Double(last.published - first.published) / seconds, Double(last.finished - first.finished) / seconds)
    }
}
