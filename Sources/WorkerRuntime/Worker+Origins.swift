internal import Canonical
internal import ImageModel
internal import Partition
internal import Ports
internal import Records

/// What this worker and others tell of hosts: read from the topic `origins`, and written there.
struct OriginBoard: Sendable {
    /// The next record to read.
    var next: Int64?
    /// When it was last read and written, monotonic milliseconds.
    var sharedAt: Int64 = .min / 2
    var isSharing = false
    /// What was last written, by host, less its time.
    var told: [OriginHost: OriginRow] = [:]

    /// Other workers that ask a host, and when that was last heard, monotonic milliseconds.
    var others: [OriginHost: [String: Int64]] = [:]

    static let interval: Int64 = 1_000
    /// Those that are not asked as usual are told of again, or they would be taken for gone.
    static let refresh: Int64 = OriginSummary.freshness / 3
    /// At once.
    static let rows = 256
}

extension Worker {
    func tickOrigins() {
        guard configuration.tellsOrigins, phase.isRunning, !board.isSharing,
            monotonic - board.sharedAt >= OriginBoard.interval
        else { return }
        (board.isSharing, board.sharedAt) = (true, monotonic)
        tasks.yield { await self.shareOrigins() }
    }

    /// What the log does not take or give now is tried again in a second: all goes on without it.
    private func shareOrigins() async {
        let isFirst = board.next == nil
        if let rows = try? await newRows() { for row in rows { apply(row, isOld: isFirst) } }
        shareOut()
        let rows = rowsToTell()
        if !rows.isEmpty {
            let results = await ports.log.append(rows.map { $0.newRecord() })
            for (row, result) in zip(rows, results) where result.offset != nil {
                board.told[OriginHost(group: row.host)] = row
            }
        }
        board.isSharing = false
        settle()
    }

    private func newRows() async throws(LogFailure) -> [OriginRow] {
        let bounds = try await ports.log.bounds(.origins, OriginRow.partition)
        var next = max(board.next ?? bounds.lowerBound, bounds.lowerBound)
        var rows: [OriginRow] = []
        while next < bounds.upperBound {
            let records = try await ports.log.read(.origins, OriginRow.partition, from: next, limit: 1_000)
            guard let last = records.last else { break }
            rows += records.compactMap { OriginRow($0) }
            next = last.offset + 1
        }
        board.next = max(next, bounds.upperBound)
        return rows
    }

    /// Others' blocks are this worker's, too; and whatever somebody wants is done.
    private func apply(_ row: OriginRow, isOld: Bool) {
        let host = OriginHost(group: row.host)
        guard row.by != configuration.owner else { return }
        if !row.isOperators {
            // Clocks differ: only what was there before is judged by its time.
            let isLive = row.inFlight + row.waitingFast + row.waitingSlow > 0
            let isFresh = !isOld || now - row.at < OriginSummary.freshness
            board.others[host, default: [:]][row.by] = isLive && isFresh ? monotonic : nil
        }
        if row.state == .open, row.isOperators {
            scheduler.set(host, blockedFor: nil, because: OriginRow.operatorName, at: moment)
            if row.at <= now { tell(host) }
        } else if row.state == .blocked, let until = row.until, until > now {
            let isOpen = scheduler.origins[host].map { $0.phase == .open } ?? true
            let wait = min(until - now, OriginRow.longestBlock)
            scheduler.set(host, blockedFor: wait, because: row.code ?? "", at: moment)
            if isOpen { tell(host) }
        }
    }

    /// A host's ceiling is the cluster's: workers that ask it have equal parts.
    private func shareOut() {
        for (host, others) in board.others {
            let live = others.filter { monotonic - $0.value < OriginSummary.freshness }
            board.others[host] = live.isEmpty ? nil : live
            scheduler.share(host, among: 1 + live.count)
        }
    }

    func rowsToTell() -> [OriginRow] {
        var waiting: [OriginHost: [Lane: Int]] = [:]
        for owned in partitions.values {
            for (host, lanes) in owned.state.jobsAway { waiting[host, default: [:]].merge(lanes, uniquingKeysWith: +) }
        }
        for seat in scheduler.seats.values where seat.waits == .fetch {
            waiting[seat.host, default: [:]][seat.lane, default: 0] += 1
        }
        var rows: [OriginRow] = []
        for (host, origin) in scheduler.origins where rows.count < OriginBoard.rows {
            let row = row(of: host, origin, waiting[host] ?? [:])
            guard var told = board.told[host] else {
                rows.append(row)
                continue
            }
            let age = row.at - told.at
            told.at = row.at
            if told != row || (age >= OriginBoard.refresh && (row.state != .open || row.inFlight > 0)) {
                rows.append(row)
            }
        }
        return rows
    }

    private func row(of host: OriginHost, _ origin: OriginState, _ waiting: [Lane: Int]) -> OriginRow {
        var row = OriginRow(host: host.description, by: configuration.owner, at: now)
        let trouble: OriginState.Trouble?
        switch origin.phase {
        case .open: (row.state, trouble) = (origin.slowed == nil ? .open : .slowed, origin.slowed?.trouble)
        case .blocked(let until):
            (row.state, trouble) = (.blocked, origin.trouble)
            // To the second: what is told of again must be the same.
            row.until = (now + max(0, until - monotonic)) / 1_000 * 1_000
        case .probing: (row.state, trouble) = (.probing, origin.trouble)
        }
        (row.code, row.since) = (trouble?.code, trouble?.since.wall)
        (row.limit, row.inFlight) = (origin.share, origin.inUse.all)
        (row.waitingFast, row.waitingSlow) = (waiting[.fast] ?? 0, waiting[.slow] ?? 0)
        if let counts = counters.hosts[host] {
            (row.checks, row.matches, row.staleAnswers) = (counts.checks, counts.matches, counts.stale)
        }
        return row
    }
}
