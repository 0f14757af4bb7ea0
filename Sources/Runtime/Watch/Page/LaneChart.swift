internal import Clocks
internal import ImageModel
internal import Ports

extension WatchReport.LaneReport {
    /// The highest age of the last hour, in words.
    var atMost: String {
        guard let worst = minutes.compactMap(\.oldest).max() else { return "not known" }
        if worst > .zero { return "at most \(Words.span(worst)) old" }
        // The age of jobs that have just come is not known yet.
        return lag.records == 0 ? "no job waited" : "not known"
    }
}

extension HTML {
    private static let (width, height) = (600, 100)

    /// Adds a chart of the oldest job's age over the last hour, one bar a minute, against the target. Its label
    /// describes it.
    mutating func chart(_ lane: WatchReport.LaneReport, at now: WallTime, marks: [(at: WallTime, text: String)]) {
        let known = lane.minutes.compactMap(\.oldest)
        // The target is a third of the height at least, so that a calm lane looks calm.
        let top = max(known.max() ?? .zero, lane.target * 3, .milliseconds(1))
        let begin = now - LaneHistory.span
        raw("<svg class=chart viewBox=\"0 0 600 100\" preserveAspectRatio=none role=img aria-label=\"")
        put("Age of the oldest unread \(lane.lane.rawValue) job over the last hour: \(lane.atMost).")
        raw("\">")
        gaps(lane.minutes, from: begin, to: now)
        for minute in lane.minutes {
            let bar = Self.height(of: minute.oldest ?? .zero, top)
            guard bar > 0, let oldest = minute.oldest else { continue }
            rectangle(oldest > lane.target ? "over" : "bar", Self.x(minute.at, from: begin), 9, Self.height - bar)
        }
        for mark in marks where mark.at > begin {
            line("mark", vertical: Self.x(mark.at, from: begin))
        }
        line("goal", horizontal: Self.height - Self.height(of: lane.target, top))
        line("rule", horizontal: Self.height - 1)
        raw("</svg>")
    }

    private static func x(_ time: WallTime, from begin: WallTime) -> Int {
        max(0, Int((time - begin).milliseconds * Int64(width) / LaneHistory.span.milliseconds))
    }

    private static func height(of age: Duration, _ top: Duration) -> Int {
        Int(Double(age.milliseconds) / Double(top.milliseconds) * Double(height))
    }

    /// Marks times without data differently from everything else, above all from a calm lane.
    private mutating func gaps(_ minutes: [LaneHistory.Point], from begin: WallTime, to now: WallTime) {
        var seen = begin
        for minute in minutes where minute.oldest != nil {
            if minute.at > seen { gap(from: seen, to: minute.at, begin) }
            seen = minute.at + LaneHistory.minute
        }
        if now > seen { gap(from: seen, to: now, begin) }
    }

    private mutating func gap(from: WallTime, to: WallTime, _ begin: WallTime) {
        let x = Self.x(from, from: begin)
        rectangle("gap", x, Self.x(to, from: begin) - x, 0)
    }

    private mutating func rectangle(_ kind: StaticString, _ x: Int, _ width: Int, _ y: Int) {
        raw("<rect class=")
        raw(kind)
        raw(" x=")
        put(x)
        raw(" y=")
        put(y)
        raw(" width=")
        put(width)
        raw(" height=")
        put(Self.height - y)
        raw(" />")
    }

    private mutating func line(_ kind: StaticString, horizontal y: Int) {
        raw("<path class=")
        raw(kind)
        raw(" fill=none d=\"M0 ")
        put(y)
        raw("h600\" />")
    }

    private mutating func line(_ kind: StaticString, vertical x: Int) {
        raw("<path class=")
        raw(kind)
        raw(" fill=none d=\"M")
        put(x)
        raw(" 0v100\" />")
    }

    /// Adds a cell for each partition, in rows, with one path for each state, so that a thousand take a few kilobytes.
    mutating func strip(_ report: WatchReport) {
        let columns = 50
        // A run that ended needs no owner.
        let isAtRest = report.owners == 0 && report.isEmpty
        var cells: [(kind: StaticString, of: [Int])] = [
            ("owned", []), ("late-cell", []), ("restoring", []), (isAtRest ? "rest" : "unowned", []),
            ("unreadable", []),
            ("unknown", []),
        ]
        for partition in report.partitions {
            let isLate = report.lanes.contains { partition.isLate($0, at: report.at) }
            let kind =
                switch partition.state {
                case .owned: isLate ? 1 : 0
                case .restoring: 2
                case .unowned: 3
                case .unreadable: 4
                case .unknown: 5
                }
            cells[kind].of.append(partition.number)
        }
        let names = ["in time", "late", "restoring", "without an owner", "unreadable", "unknown"]
        let said = zip(names, cells).filter { !$1.of.isEmpty }.map { "\($1.of.count) \($0)" }.joined(separator: ", ")
        let rows = (report.partitions.count + columns - 1) / columns
        raw("<p>")
        put("\(report.partitions.count) partitions: \(said).")
        raw("</p><svg viewBox=\"0 0 ")
        put(columns * 12)
        raw(" ")
        put(max(1, rows) * 12)
        raw("\" role=img aria-label=\"")
        put("Partitions by state: \(said).")
        raw("\">")
        for (kind, numbers) in cells where !numbers.isEmpty {
            raw("<path class=")
            raw(kind)
            raw(" d=\"")
            for number in numbers {
                raw("M")
                put(number % columns * 12)
                raw(" ")
                put(number / columns * 12)
                raw("h10v10h-10z")
            }
            raw("\" />")
        }
        raw("</svg>")
    }
}
