package import Clocks
package import ImageModel

/// What all rows together say of one host.
package struct OriginSummary: Sendable, Hashable {
    package private(set) var host: String
    package private(set) var state = OriginRow.State.open
    package private(set) var code: String?
    package private(set) var since: WallTime?
    package private(set) var until: WallTime?
    /// Whether a worker lives that tells of it; without one nobody knows what is asked, and what waits.
    package private(set) var isTold = false
    package private(set) var limit = 0
    package private(set) var inFlight = 0
    package private(set) var perMinute = 0
    package private(set) var waiting = ByLane.none
    /// What holds most of them back.
    package private(set) var heldBy: HostHold?
    private var (checks, matches) = (0, 0)
    /// When an operator last opened it: rows of before count no more.
    private var opened = WallTime.distantPast
    private var mostHeld = 0
    package private(set) var staleAnswers = 0

    /// How often a fetch of what was known found nothing new, from 0 to 1; nil where there was none.
    package var matchRate: Double? { checks > 0 ? Double(min(matches, checks)) / Double(checks) : nil }

    /// A worker tells again what it knows; one that has not for so long is gone.
    package static let freshness = Duration.seconds(30)

    /// By host, in their order. Rows are in the log's order, or in any without `owners`.
    package static func all(of rows: [OriginRow], owners: Set<String>? = nil, at now: WallTime) -> [OriginSummary] {
        OriginReport(of: rows, owners: owners, at: now).hosts
    }

    init(host: String) { self.host = host }

    /// Of an operator's row, before any row is taken.
    mutating func open(by row: OriginRow, at now: WallTime) {
        // A time that lies far ahead is of a wrong clock, and would hide what is told for as long.
        if row.state == .open, row.at < now + OriginRow.longestBlock { opened = max(opened, row.at) }
    }

    /// Of blocks the longest counts, an operator's first: workers of before repeat it. So operators' rows are taken first.
    ///
    /// - Parameters:
    ///   - lives: whether the worker that wrote the row lives; nil if that is not known.
    ///   - now: by the clock of that worker, if it lives.
    mutating func take(_ row: OriginRow, lives: Bool?, at now: WallTime) {
        let isFresh = row.at > now - Self.freshness && row.at < now + OriginRow.longestBlock
        if lives ?? isFresh, row.isWorkers {
            isTold = true
            limit += row.limit
        }
        if isFresh, lives ?? true, row.isWorkers {
            inFlight += row.inFlight
            perMinute += row.perMinute
            waiting = waiting + row.waiting
            if let held = row.heldBy, row.waiting.sum > mostHeld { (heldBy, mostHeld) = (held, row.waiting.sum) }
        }
        if !row.isOperators {
            checks += row.checks
            matches += row.matches
            staleAnswers += row.staleAnswers
        }
        // A block counts though its worker is gone: the next one reads of it.
        let counts =
            row.state == .blocked
            ? row.until.map { $0 > now && $0 < now + OriginRow.longestBlock * 2 } ?? false : isFresh
        let outlasts =
            state == .blocked && row.state == .blocked && row.code != OriginRow.operatorName
            && (row.until ?? .distantPast) > (until ?? .distantPast)
        guard row.at > opened, counts, row.state.severity > state.severity || outlasts else { return }
        (state, code, since, until) = (row.state, row.code, row.since, row.until)
    }
}

extension OriginRow.State {
    fileprivate var severity: Int {
        switch self {
        case .open: 0
        case .slowed: 1
        case .probing: 2
        case .blocked: 3
        }
    }
}
