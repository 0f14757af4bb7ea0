internal import Clocks
internal import ImageModel
internal import Records

/// State of hosts as workers report it in `origins`: the newest row of each worker and host.
struct HostTable: Sendable {
    private struct Key: Hashable {
        let host: String
        let by: String
    }

    private var rows: [Key: OriginRow] = [:]
    private static let limit = 20_000

    mutating func take(_ new: [OriginRow]) {
        for row in new {
            let key = Key(host: row.host, by: row.by)
            // A worker that asks a host as usual, and has nothing for it, has nothing to report.
            let isIdle = row.inFlight + row.waiting.sum == 0
            if row.state == .open, isIdle, !row.isOperators {
                rows[key] = nil
            } else {
                if rows[key] == nil, rows.count >= Self.limit { forgetOldest() }
                rows[key] = row
            }
        }
    }

    /// Workers that have a row here.
    var tellers: Set<String> { Set(rows.keys.map(\.by)) }

    /// Drops a tenth at once. A search for the oldest row each time would take as long as there are rows.
    private mutating func forgetOldest() {
        for (key, _) in rows.sorted(by: { $0.value.at < $1.value.at }).prefix(Self.limit / 10) { rows[key] = nil }
    }

    /// Last reasons why workers blocked or throttled each host. The block may be over while jobs from that time still
    /// wait.
    var codes: [String: String] {
        Dictionary(grouping: rows.values.lazy.filter { $0.code != nil && !$0.isOperators }, by: \.host)
            .compactMapValues { $0.max { $0.at < $1.at }?.code }
    }

    func summaries(at now: WallTime) -> [OriginSummary] { OriginSummary.all(of: Array(rows.values), at: now) }
}
