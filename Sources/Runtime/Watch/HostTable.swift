internal import Clocks
internal import ImageModel
internal import Records

/// What workers tell of hosts, folded from `origins`: the newest row of each worker and host.
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
            // A worker that asks a host as usual, and has nothing for it, has nothing to say of it.
            let isIdle = row.inFlight + row.waiting.sum == 0
            if row.state == .open, isIdle, !row.isOperators {
                rows[key] = nil
            } else {
                if rows[key] == nil, rows.count >= Self.limit { forgetOldest() }
                rows[key] = row
            }
        }
    }

    /// Who has a row here.
    var tellers: Set<String> { Set(rows.keys.map(\.by)) }

    /// A tenth at once: to look for the oldest one each time would take as long as there are rows.
    private mutating func forgetOldest() {
        for (key, _) in rows.sorted(by: { $0.value.at < $1.value.at }).prefix(Self.limit / 10) { rows[key] = nil }
    }

    /// Why workers last blocked a host or asked it less, though that may be over: jobs of then still wait.
    var codes: [String: String] {
        Dictionary(grouping: rows.values.lazy.filter { $0.code != nil && !$0.isOperators }, by: \.host)
            .compactMapValues { $0.max { $0.at < $1.at }?.code }
    }

    func summaries(at now: WallTime) -> [OriginSummary] { OriginSummary.all(of: Array(rows.values), at: now) }
}
