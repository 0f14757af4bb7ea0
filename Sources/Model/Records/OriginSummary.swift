package import Clocks
package import ImageModel

/// Summary of all rows about one host.
package struct OriginSummary: Sendable, Hashable {
    package private(set) var host: String
    package private(set) var state = OriginRow.State.open
    package private(set) var code: String?
    package private(set) var since: WallTime?
    package private(set) var until: WallTime?
    /// Whether a live worker reports the host. Without one, its limit, traffic and waiting jobs are unknown.
    package private(set) var isReported = false
    package private(set) var limit = 0
    package private(set) var inFlight = 0
    package private(set) var perMinute = 0
    package private(set) var waiting = ByLane.none
    /// Reason that holds back most of the waiting jobs.
    package private(set) var throttledBy: HostHold?
    private var (checks, matches) = (0, 0)
    /// Last time an operator opened the host; rows written before do not count.
    private var opened = WallTime.distantPast
    private var mostHeld = 0
    package private(set) var staleOutcomes = 0

    /// Share of revalidations that found no change, from 0 to 1; nil if there were none.
    package var matchRate: Double? { checks > 0 ? Double(min(matches, checks)) / Double(checks) : nil }

    /// Workers repeat their reports within this time; without a repeat, a report is outdated.
    package static let freshness = Duration.seconds(30)

    /// Summaries sorted by host. Rows are in the log's order; without `owners`, any order will do.
    package static func all(of rows: [OriginRow], owners: Set<String>? = nil, at now: WallTime) -> [OriginSummary] {
        OriginReport(of: rows, owners: owners, at: now).hosts
    }

    init(host: String) { self.host = host }

    /// Applies an operator's row that opens the host. Called before any `take`.
    mutating func open(by row: OriginRow, at now: WallTime) {
        // A time far in the future comes from a wrong clock. It would hide every report until then.
        if row.state == .open, row.at < now + OriginRow.longestBlock { opened = max(opened, row.at) }
    }

    /// Adds a row.
    ///
    /// The longest of several blocks counts. An operator's block takes precedence, because workers of earlier versions
    /// repeat it. Operators' rows must therefore be added first.
    ///
    /// - Parameters:
    /// - lives: whether the worker that wrote the row is alive; nil if unknown.
    /// - now: time by the clock of that worker, if it is alive.
    mutating func take(_ row: OriginRow, lives: Bool?, at now: WallTime) {
        let isFresh = row.at > now - Self.freshness && row.at < now + OriginRow.longestBlock
        if lives ?? isFresh, row.isWorkers {
            isReported = true
            limit += row.limit
        }
        if isFresh, lives ?? true, row.isWorkers {
            inFlight += row.inFlight
            perMinute += row.perMinute
            waiting = waiting + row.waiting
            if let held = row.throttledBy, row.waiting.sum > mostHeld {
                (throttledBy, mostHeld) = (held, row.waiting.sum)
            }
        }
        if !row.isOperators {
            checks += row.checks
            matches += row.matches
            staleOutcomes += row.staleOutcomes
        }
        // A block counts even if its worker has ended, because the next worker reads it too.
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
