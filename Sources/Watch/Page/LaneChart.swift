internal import ImageModel
internal import Ports

extension HTML {
    private static let (width, height) = (600, 100)

    /// The oldest job's age over the last hour, a bar a minute, against the target; what it shows is said beside it.
    mutating func chart(_ lane: WatchReport.LaneReport, at now: Int64, marks: [(at: Int64, text: String)]) {
        let known = lane.minutes.compactMap(\.oldest)
        // The target is a third of the height at least, so that calm looks calm.
        let top = max(known.max() ?? 0, lane.target * 3, 1)
        let begin = now - LaneHistory.milliseconds
        raw("<svg class=chart viewBox=\"0 0 600 100\" preserveAspectRatio=none role=img aria-label=\"")
        put("Age of the oldest \(lane.lane.rawValue) job over the last hour: ")
        put(
            known.isEmpty
                ? "not known." : "at most \(Words.span(known.max() ?? 0)), at last \(Words.span(known.last ?? 0)).")
        raw("\">")
        for minute in lane.minutes {
            let x = Int((minute.at - begin) * Int64(Self.width) / LaneHistory.milliseconds)
            guard let oldest = minute.oldest else {
                rectangle("gap", x, 0, Self.height)
                continue
            }
            let bar = Int(Double(oldest) / Double(top) * Double(Self.height))
            if bar > 0 { rectangle(oldest > lane.target ? "over" : "bar", x, Self.height - bar, bar) }
        }
        for mark in marks where mark.at > begin {
            line("mark", vertical: Int((mark.at - begin) * Int64(Self.width) / LaneHistory.milliseconds))
        }
        line("goal", horizontal: Self.height - Int(Double(lane.target) / Double(top) * Double(Self.height)))
        line("rule", horizontal: Self.height - 1)
        raw("</svg>")
    }

    private mutating func rectangle(_ kind: StaticString, _ x: Int, _ y: Int, _ height: Int) {
        raw("<rect class=")
        raw(kind)
        raw(" x=")
        put(max(0, x))
        raw(" y=")
        put(y)
        raw(" width=9 height=")
        put(height)
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

    /// A cell for each partition, in rows; one path for each state, so that a thousand are a few kilobytes.
    mutating func strip(_ report: WatchReport) {
        let columns = 50
        var cells: [(kind: StaticString, of: [Int])] = [
            ("owned", []), ("late-cell", []), ("restoring", []), ("unowned", []), ("unreadable", []), ("unknown", []),
        ]
        for partition in report.partitions {
            let isLate = zip(report.lanes, partition.lanes).contains { lane, lag in
                lag.age(at: report.at).map { $0 > lane.target } ?? false
            }
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
