internal import Canonical
internal import Clocks
internal import Hosts
internal import ImageModel
internal import Partition
internal import Permits
internal import Ports
internal import Records

/// What this worker and others tell of hosts: read from the topic `origins`, and written there.
struct OriginBoard: Sendable {
    /// The next record to read.
    var next: Int64?
    /// When it was last read and written.
    var sharedAt = Instant.distantPast
    var isSharing = false
    /// What was last written, by host, and when.
    var told: [OriginHost: (row: OriginRow, at: Instant)] = [:]

    /// Of each host, how often it had been asked when its rate was last taken, and what that was.
    private var askings: [OriginHost: (count: Int, at: Instant, perMinute: Int)] = [:]
    /// When rows of hosts that nobody tells of any more were last looked for.
    var sweptAt = Instant.distantPast
    /// The look for them that is under way.
    var sweep: OriginSweep?
    /// When a partition last came.
    var assignedAt = Instant.distantFuture
    /// Rows of slots are on their way: their partitions stay until they are there.
    var isPassing = false
    /// Workers that want a slot of a host.
    var wishes = SlotWishes()

    static let interval = Duration.seconds(1)
    /// Between two looks for rows that may go.
    static let sweepInterval = OriginRow.kept / 2
    /// Those of which something is so now (`OriginRow.isLive`) are told of again, or that would be taken for gone.
    static let refresh = OriginSummary.freshness / 3
    /// At once.
    static let rows = 256
    /// Rows that cannot be read hold back fetches no longer than this: slots are at home then.
    static let patience = Duration.seconds(10)

    /// How often the host is asked: as of the last ten seconds.
    mutating func perMinute(_ host: OriginHost, count: Int, at now: Instant) -> Int {
        var last = askings[host] ?? (0, now - Self.refresh, 0)
        if now - last.at >= Self.refresh {
            let (asked, time) = (max(0, count - last.count), Int(max(1, (now - last.at).milliseconds)))
            last = (count, now, (asked * 60_000 + time / 2) / time)
        }
        askings[host] = last
        return last.perMinute
    }

    mutating func forgetAskings(but hosts: (OriginHost) -> Bool) { askings = askings.filter { hosts($0.key) } }
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
        let (isFirst, assigned) = (board.next == nil, assignments)
        var isUpToDate = false
        // Or places that are read before the first partition comes would be lost.
        if isFirst { ownSlots() }
        if let rows = try? await newRows(isFirst: isFirst) {
            for row in rows { apply(row, isOld: isFirst) }
            isUpToDate = assigned == assignments
            if isUpToDate { scheduler.knowSlots() }
        } else if monotonic - board.assignedAt >= OriginBoard.patience {
            scheduler.knowSlots()
        }
        // What a worker that ends has to tell, it tells last.
        guard !phase.isEnded else { return }
        let rows = rowsToTell()
        if !rows.isEmpty {
            let records = rows.map { $0.newRecord() }
            for record in records { board.sweep?.keep(record.key) }
            let results = await ports.log.append(records)
            for (row, result) in zip(rows, results) where result.offset != nil {
                board.told[OriginHost(group: row.host)] = (row, monotonic)
            }
        }
        await passSlots()
        // Only after reading the newest rows under the same assignment: otherwise a row that is in use could be deleted.
        if isUpToDate { await sweepRows() } else { board.sweep = nil }
        board.isSharing = false
        settle()
    }

    /// Looks at one page of rows, and deletes some that may go once it has seen all. Rows of workers go by the owner of the first partition; a slot's
    /// row by the owner of the partition where it is at home, which is where it stands without a row, too.
    private func sweepRows() async {
        guard let end = board.next, !partitions.isEmpty else { return }
        if board.sweep == nil {
            guard monotonic - board.sweptAt >= OriginBoard.sweepInterval,
                let bounds = try? await ports.log.bounds(.origins, OriginRow.partition)
            else { return }
            board.sweep = OriginSweep(bounds.lowerBound..<max(bounds.lowerBound, end))
        }
        guard var sweep = board.sweep else { return }
        if !sweep.hasRead {
            // What is refused here is asked again in a second.
            guard
                let records = try? await ports.log.read(
                    .origins, OriginRow.partition, from: sweep.next, limit: OriginSweep.page)
            else { return }
            let rows = await rows(of: records, slotsAlone: partitions[OriginRow.partition] == nil)
            sweep.take(records, rows, mayGo: mayGo)
            board.sweep = sweep
            if !sweep.hasRead { return }
        }
        var slots: [PartitionID: [NewRecord]] = [:]
        var rows: [NewRecord] = []
        for (tombstone, place) in sweep.takeFound(4 * OriginBoard.rows) {
            if let place { slots[place, default: []].append(tombstone) } else { rows.append(tombstone) }
        }
        // What the log does not take is found again by the next look.
        if !rows.isEmpty, partitions[OriginRow.partition] != nil { _ = await ports.log.append(rows) }
        for (place, rows) in slots {
            if let owner = partitions[place]?.ownership { _ = await ports.log.append(rows, as: owner) }
        }
        board.sweep = sweep.isEmpty ? nil : sweep
        if sweep.isEmpty { board.sweptAt = sweep.isFull ? .distantPast : monotonic }
    }

    /// Not on the thread that decides: to read a page takes some 50 ms.
    private nonisolated func rows(of records: [Record], slotsAlone: Bool) async -> [OriginRow?] {
        records.map { slotsAlone && !$0.key.starts(with: OriginRow.slotPrefix.utf8) ? nil : OriginRow($0) }
    }

    private func mayGo(_ row: OriginRow) -> Bool {
        guard let number = row.slot, let place = row.partition else {
            return partitions[OriginRow.partition] != nil && row.isForgettable(at: now)
        }
        let slot = HostSlots.Slot(OriginHost(group: row.host), number)
        return row.at < now - OriginRow.kept && partitions[place] != nil && scheduler.isAtHome(slot, at: place)
    }

    /// Written as owner of the partition where the slot stands: refused if that is another's by now.
    private func passSlots() async {
        board.isPassing = true
        let wishes = board.wishes.live(at: monotonic, slowWait: scheduler.rules.slowWait)
        for pass in scheduler.pass(wishes, at: moment) {
            // Partitions may have gone and come back meanwhile.
            guard scheduler.isPassing(pass.slot, to: pass.to), let owner = partitions[pass.from]?.ownership else {
                continue
            }
            let row = OriginRow(host: pass.slot.host.description, slot: pass.slot.number, at: pass.to, at: now)
            let record = row.newRecord()
            board.sweep?.keep(record.key)
            let results = await ports.log.append([record], as: owner)
            // One that is not known to be there is written again.
            if results.first?.offset != nil { scheduler.move(pass.slot, to: pass.to, at: monotonic) }
        }
        board.isPassing = false
    }

    /// Of hosts' ceilings this worker has what belongs to its partitions.
    func ownSlots() {
        guard configuration.tellsOrigins else { return }
        scheduler.own(Set(partitions.keys), of: ports.log.partitionCount)
    }

    private func newRows(isFirst: Bool) async throws(LogFailure) -> [OriginRow] {
        let bounds = try await ports.log.bounds(.origins, OriginRow.partition)
        if let next = board.next, next > bounds.upperBound {
            // The log was recreated, or lost its end.
            (board.next, board.sweep) = (nil, nil)
            scheduler.forgetSlots()
        }
        var next = max(board.next ?? bounds.lowerBound, bounds.lowerBound)
        var (reading, rows) = (OriginReading(at: now), [OriginRow]())
        while next < bounds.upperBound {
            let records = try await ports.log.read(
                .origins, OriginRow.partition, from: next, limit: OriginReading.page)
            guard let last = records.last else { break }
            if isFirst {
                for record in records { reading.take(record) }
            } else {
                rows += records.compactMap { OriginRow($0) }
                for record in records { board.sweep?.keep(record.key) }
            }
            next = last.offset + 1
        }
        board.next = max(next, bounds.upperBound)
        return isFirst ? reading.rows : rows
    }

    /// What others have found out of a host holds for this worker, too; and whatever somebody wants is done.
    private func apply(_ row: OriginRow, isOld: Bool) {
        let host = OriginHost(group: row.host)
        if let slot = row.slot {
            if let partition = row.partition {
                scheduler.move(HostSlots.Slot(host, slot), to: partition, at: monotonic)
            }
            return
        }
        // What is there before the first reading was told by a worker of the same name, which ended.
        let isOwn = row.by == configuration.owner
        guard isOld || !isOwn else { return }
        // Clocks differ: only what was there before is judged by its time.
        if !isOwn, !isOld || now - row.at < OriginSummary.freshness { board.wishes.hear(row, of: host, at: monotonic) }
        if scheduler.hear(row, isOld: isOld, isOwn: isOwn, at: moment) { tell(host) }
    }

    func rowsToTell() -> [OriginRow] {
        var waiting: [OriginHost: ByLane<Int>] = [:]
        for owned in partitions.values {
            waiting.merge(owned.state.hostWaits, uniquingKeysWith: +)
        }
        let away = Set(waiting.keys)
        for seat in scheduler.seats.values where seat.waits == .fetch {
            waiting[seat.host, default: .none][seat.lane] += 1
        }
        let wishes = scheduler.wishes(at: moment)
        board.told = board.told.filter { scheduler.origins[$0.key] != nil }
        board.forgetAskings { scheduler.origins[$0] != nil }
        var rows: [(row: OriginRow, toldAt: Instant)] = []
        for (host, origin) in scheduler.origins {
            var row = row(of: host, origin, waiting[host] ?? .none, isAway: away.contains(host))
            if let wish = wishes[host] { row.tell(wish, at: moment) }
            row.perMinute = board.perMinute(host, count: origin.count, at: monotonic)
            guard var told = board.told[host] else {
                rows.append((row, .distantPast))
                continue
            }
            told.row.at = row.at
            // Of two clocks, and so never the same to the millisecond.
            if let old = told.row.waitingSince, let new = row.waitingSince, (new - old).magnitude < OriginBoard.interval
            {
                row.waitingSince = old
            }
            // Told with what else is, and when it ends.
            if (told.row.perMinute > 0) == (row.perMinute > 0) { told.row.perMinute = row.perMinute }
            if told.row != row || row.isLive && monotonic - told.at >= OriginBoard.refresh {
                rows.append((row, told.at))
            }
        }
        // Of more than go at once those first of which nothing was told for longest.
        if rows.count > OriginBoard.rows { rows.sort { $0.toldAt < $1.toldAt } }
        return rows.prefix(OriginBoard.rows).map(\.row)
    }

    /// A worker that ends leaves what it knows of hosts, and asks none of them any more.
    func lastRowsToTell() -> [OriginRow] {
        scheduler.origins.map { host, origin in
            var row = row(of: host, origin, .none, isAway: false)
            (row.limit, row.inFlight) = (0, 0)
            return row
        }
    }

    private func row(
        of host: OriginHost, _ origin: OriginState, _ waiting: ByLane<Int>, isAway: Bool
    ) -> OriginRow {
        var row = origin.row(of: host, by: configuration.owner, at: moment)
        row.waiting = waiting
        if waiting.sum > 0 {
            let isSlow = !Lane.allCases.contains { $0.isUrgent && waiting[$0] > 0 }
            let isCrowded = isAway && scheduler.knowsSlots
            row.heldBy = scheduler.holding(host, isSlow: isSlow, at: monotonic) ?? (isCrowded ? .readAhead : nil)
        }
        if let counts = counters.hosts[host] {
            (row.checks, row.matches, row.staleAnswers) = (counts.checks, counts.matches, counts.stale)
        }
        return row
    }
}
