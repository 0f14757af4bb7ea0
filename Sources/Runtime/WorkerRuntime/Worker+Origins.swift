internal import Canonical
internal import Clocks
internal import Hosts
internal import ImageModel
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Records

/// Exchange of host state through the topic `origins`. `HostBoard` decides when and what.
extension Worker {
    /// Reads and writes rows of hosts. If the log cannot be read or written now, it is retried in a second, and the
    /// work continues without it.
    func shareHosts() async {
        let (isFirst, assigned) = (!duties.hosts.hasRead, assignments)
        var isUpToDate = false
        // Otherwise positions that are read before the first partition comes would be lost.
        if isFirst { ownSlots() }
        if let rows = try? await newRows(isFirst: isFirst) {
            for row in rows { apply(row, isOld: isFirst) }
            isUpToDate = assigned == assignments
            if isUpToDate { scheduler.knowSlots() }
        } else if duties.hosts.isLate(at: monotonic) {
            scheduler.knowSlots()
        }
        // A worker that ends writes its last rows elsewhere.
        guard !phase.isEnded else { return }
        let rows = rowsToTell()
        if !rows.isEmpty {
            let records = rows.map { $0.newRecord() }
            duties.hosts.keep(records)
            let results = await ports.log.append(records)
            for (row, result) in zip(rows, results) where result.offset != nil {
                duties.hosts.tell(row, at: monotonic)
            }
        }
        await passSlots()
        // Only after reading the newest rows under the same assignment: otherwise a row that is in use could be
        // deleted.
        if isUpToDate { await sweepRows() } else { duties.hosts.abandonSweep() }
        duties.hosts.shared()
        settle()
    }

    /// Examines one page of rows, and deletes some once it has seen all. The owner of the first partition deletes rows
    /// of workers. The owner of a slot's default partition deletes the slot's row, because the slot is there without a
    /// row, too.
    private func sweepRows() async {
        guard !partitions.isEmpty else { return }
        while true {
            switch duties.hosts.sweepStep(at: monotonic) {
            case .none: return
            case .begin:
                // A refused question is asked again in a second.
                guard let bounds = try? await ports.log.bounds(.origins, OriginRow.partition) else { return }
                duties.hosts.beginSweep(bounds)
            case .page(let next):
                guard
                    let records = try? await ports.log.read(
                        .origins, OriginRow.partition, from: next, limit: OriginSweep.page)
                else { return }
                let rows = await rows(of: records, slotsAlone: partitions[OriginRow.partition] == nil)
                if !duties.hosts.sweep(records, rows, mayGo: mayGo) { return }
            case .delete:
                var slots: [PartitionID: [NewRecord]] = [:]
                var rows: [NewRecord] = []
                for (tombstone, place) in duties.hosts.tombstones(at: monotonic) {
                    if let place { slots[place, default: []].append(tombstone) } else { rows.append(tombstone) }
                }
                if !rows.isEmpty, partitions[OriginRow.partition] != nil { _ = await ports.log.append(rows) }
                for (place, rows) in slots {
                    if let owner = partitions[place]?.ownership { _ = await ports.log.append(rows, as: owner) }
                }
                return
            }
        }
    }

    /// Decodes a page, which takes some 50 ms, so not on the thread that decides.
    private nonisolated func rows(of records: [Record], slotsAlone: Bool) async -> [OriginRow?] {
        records.map { slotsAlone && !$0.key.starts(with: OriginRow.slotPrefix.utf8) ? nil : OriginRow($0) }
    }

    private func mayGo(_ row: OriginRow) -> Bool {
        guard let number = row.slot, let place = row.partition else {
            return partitions[OriginRow.partition] != nil && row.isForgettable(at: now)
        }
        let slot = HostSlots.Slot(OriginHost(group: row.host), number)
        return row.at < now - OriginRow.kept && partitions[place] != nil && scheduler.isAtDefaultOwner(slot, at: place)
    }

    /// Writes passed slots as owner of the partition where each slot is. The append is refused if another worker owns
    /// that by now.
    private func passSlots() async {
        let slotRequests = duties.hosts.beginPassing(at: monotonic, slowWait: scheduler.rules.slowWait)
        for pass in scheduler.pass(slotRequests, at: moment) {
            // Partitions may have gone and come back meanwhile.
            guard scheduler.isPassing(pass.slot, to: pass.to), let owner = partitions[pass.from]?.ownership else {
                continue
            }
            let row = OriginRow(host: pass.slot.host.description, slot: pass.slot.number, at: pass.to, at: now)
            let record = row.newRecord()
            duties.hosts.keep([record])
            let results = await ports.log.append([record], as: owner)
            // A row without an acknowledgement is written again.
            if results.first?.offset != nil { scheduler.move(pass.slot, to: pass.to, at: monotonic) }
        }
        duties.hosts.passed()
    }

    /// Sets this worker's part of the hosts' limits, by its partitions.
    func ownSlots() {
        guard configuration.tellsOrigins else { return }
        scheduler.own(Set(partitions.keys), of: ports.log.partitionCount)
    }

    private func newRows(isFirst: Bool) async throws(LogFailure) -> [OriginRow] {
        let bounds = try await ports.log.bounds(.origins, OriginRow.partition)
        var (next, isAnew) = duties.hosts.begin(reading: bounds)
        if isAnew { scheduler.forgetSlots() }
        var (reading, rows) = (OriginReading(at: now), [OriginRow]())
        while next < bounds.upperBound {
            let records = try await ports.log.read(
                .origins, OriginRow.partition, from: next, limit: OriginReading.page)
            guard let last = records.last else { break }
            if isFirst {
                for record in records { reading.take(record) }
            } else {
                rows += records.compactMap { OriginRow($0) }
                duties.hosts.keep(records)
            }
            next = last.offset + 1
        }
        duties.hosts.read(upTo: max(next, bounds.upperBound))
        return isFirst ? reading.rows : rows
    }

    /// Applies a row: findings of other workers hold for this one, too, and operators' commands are carried out.
    private func apply(_ row: OriginRow, isOld: Bool) {
        let host = OriginHost(group: row.host)
        if let slot = row.slot {
            if let partition = row.partition {
                scheduler.move(HostSlots.Slot(host, slot), to: partition, at: monotonic)
            }
            return
        }
        // A row from before the first reading was written by a worker of the same name, which ended.
        let isOwn = row.by == configuration.owner
        guard isOld || !isOwn else { return }
        // Clocks differ, so only rows from before the first reading are judged by their time.
        if !isOwn, !isOld || now - row.at < OriginSummary.freshness { duties.hosts.hear(row, at: monotonic) }
        if scheduler.hear(row, isOld: isOld, isOwn: isOwn, at: moment) { tell(host) }
    }

    private func rowsToTell() -> [OriginRow] {
        var waiting: [OriginHost: ByLane<Int>] = [:]
        for owned in partitions.values {
            waiting.merge(owned.hostJobs, uniquingKeysWith: +)
        }
        let away = Set(waiting.keys)
        for entry in scheduler.entries.values where entry.waits == .fetch {
            waiting[entry.host, default: .none][entry.lane] += 1
        }
        let slotRequests = scheduler.slotRequests(at: moment)
        var hosts: [OriginHost: (row: OriginRow, count: Int)] = [:]
        for (host, origin) in scheduler.origins {
            var row = row(of: host, origin, waiting[host] ?? .none, isAway: away.contains(host))
            if let slotRequest = slotRequests[host] { row.tell(slotRequest, at: moment) }
            hosts[host] = (row, origin.count)
        }
        return duties.hosts.rowsToTell(hosts, at: monotonic)
    }

    /// Last rows of a worker that ends. It leaves its state of hosts, and asks none of them any more.
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
            row.throttledBy = scheduler.holding(host, isSlow: isSlow, at: monotonic) ?? (isCrowded ? .readAhead : nil)
        }
        if let counts = counters.hosts[host] {
            (row.checks, row.matches, row.staleOutcomes) = (counts.checks, counts.matches, counts.stale)
        }
        return row
    }
}
