package import Clocks
internal import ImageModel

/// What the rows of `origins` say together: all hosts, and those that hold back jobs.
package struct OriginReport: Sendable {
    /// Who tells of hosts now, and by which clock: rows count by the clock of their worker, as of the row that it wrote last.
    /// nil where owners are not known: rows count by their age alone.
    private let clocks: [String: WallTime]?
    private let owners: Set<String>
    private let now: WallTime
    private var summaries: [String: OriginSummary] = [:]
    /// Rows of hosts that hold back jobs, by worker. Of a lone owner the newest row of each host.
    private var holding: [String: [OriginRow]] = [:]
    private var newest: [String: OriginRow] = [:]

    /// - Parameters:
    ///   - last: the last row of each worker, in the log's order.
    ///   - operators: all rows of operators.
    ///   - owners: as the log names them: a cluster's members by what they tell of hosts by, and their address; the one of an
    ///     embedded log otherwise. nil: they are not known.
    init(last: [OriginRow], operators: [OriginRow], owners: Set<String>?, at now: WallTime) {
        (self.owners, self.now) = (owners ?? [], now)
        clocks = owners.map { owners in
            let living = Self.living(last, owners: owners)
            return Dictionary(last.lazy.filter { living.contains($0.by) }.map { ($0.by, $0.at) }) { $1 }
        }
        for row in operators { summaries[row.host, default: OriginSummary(host: row.host)].open(by: row, at: now) }
        for row in operators { take(row) }
    }

    /// Of rows that are all there, in the log's order.
    package init(of rows: [OriginRow], owners: Set<String>?, at now: WallTime) {
        self.init(last: rows, operators: rows.filter(\.isOperators), owners: owners, at: now)
        for row in rows where !row.isOperators { take(row) }
    }

    /// Takes each row once, in the log's order.
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

    /// By host, in their order.
    package var hosts: [OriginSummary] { summaries.values.sorted { $0.host < $1.host } }

    /// Hosts that hold back jobs, by owner of partitions, those first for which most wait.
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

    /// Who of those that tell of hosts lives, if these are the owners of partitions: of an embedded log's, whose name is
    /// another, the newest row is.
    private static func living(_ rows: [OriginRow], owners: Set<String>) -> Set<String> {
        let rows = rows.lazy.filter(\.isWorkers)
        let named = Set(rows.map(\.by)).filter { by in owners.contains { $0.hasPrefix("\(by)@") } }
        guard named.isEmpty, owners.count == 1 else { return named }
        return Set(rows.last.map { [$0.by] } ?? [])
    }
}

extension OriginRow {
    fileprivate var holdsBack: Bool { heldBy != nil && waiting.sum > 0 }
}
