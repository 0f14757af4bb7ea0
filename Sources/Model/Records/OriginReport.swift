package import Clocks
internal import ImageModel

/// Summary of all rows of `origins`: every host, and the hosts that hold back jobs.
package struct OriginReport: Sendable {
    /// Newest row's time of each live worker, by its own clock: its rows are judged by that time. nil if the owners are
    /// unknown; rows are then judged by their age alone.
    private let clocks: [String: WallTime]?
    private let owners: Set<String>
    private let now: WallTime
    private var summaries: [String: OriginSummary] = [:]
    /// Rows of hosts that hold back jobs, by worker. With only one owner, `newest` takes its place.
    private var holding: [String: [OriginRow]] = [:]
    private var newest: [String: OriginRow] = [:]

    /// - Parameters:
    /// - last: the last row of each worker, in the log's order.
    /// - operators: all rows of operators.
    /// - owners: names of the owners of partitions, as the log reports them. In a cluster a name is the worker's name
    ///     in its rows, `@` and its address; an embedded log has one owner with another name. nil if they are unknown.
    init(last: [OriginRow], operators: [OriginRow], owners: Set<String>?, at now: WallTime) {
        (self.owners, self.now) = (owners ?? [], now)
        clocks = owners.map { owners in
            let living = Self.living(last, owners: owners)
            return Dictionary(last.lazy.filter { living.contains($0.by) }.map { ($0.by, $0.at) }) { $1 }
        }
        for row in operators { summaries[row.host, default: OriginSummary(host: row.host)].open(by: row, at: now) }
        for row in operators { take(row) }
    }

    /// Takes all rows at once, in the log's order.
    package init(of rows: [OriginRow], owners: Set<String>?, at now: WallTime) {
        self.init(last: rows, operators: rows.filter(\.isOperators), owners: owners, at: now)
        for row in rows where !row.isOperators { take(row) }
    }

    /// Adds a row; each row once, in the log's order.
    mutating func take(_ row: OriginRow) {
        let clock = clocks?[row.by]
        summaries[row.host, default: OriginSummary(host: row.host)]
            .take(row, lives: clocks.map { _ in clock != nil }, at: clock ?? now)
        guard row.isWorkers, !owners.isEmpty else { return }
        if owners.count == 1 {
            newest[row.host] = row
        } else if row.holdsBack {
            holding[row.by, default: []].append(row)
        }
    }

    /// Summaries, sorted by host.
    package var hosts: [OriginSummary] { summaries.values.sorted { $0.host < $1.host } }

    /// Hosts that hold back jobs, by owner of partitions, in descending order of waiting jobs.
    package var held: [String: [OriginRow]] {
        Dictionary(
            uniqueKeysWithValues: owners.map { owner in
                let own =
                    owners.count == 1
                    ? newest.values.filter(\.holdsBack)
                    : holding.filter { owner.hasPrefix("\($0.key)@") }.flatMap(\.value)
                return (owner, own.sorted { ($1.waiting.sum, $0.host) < ($0.waiting.sum, $1.host) })
            })
    }

    /// Names of the live workers among the writers of rows. The owner of an embedded log has another name than in its
    /// rows: it is the writer of the newest row.
    private static func living(_ rows: [OriginRow], owners: Set<String>) -> Set<String> {
        let rows = rows.lazy.filter(\.isWorkers)
        let named = Set(rows.map(\.by)).filter { by in owners.contains { $0.hasPrefix("\(by)@") } }
        guard named.isEmpty, owners.count == 1 else { return named }
        return Set(rows.last.map { [$0.by] } ?? [])
    }
}

extension OriginRow {
    fileprivate var holdsBack: Bool { throttledBy != nil && waiting.sum > 0 }
}
