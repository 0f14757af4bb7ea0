internal import Canonical
internal import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Records

/// What goes wrong. A seed has some of them, so that others show what they do alone.
enum Fault: Int, CaseIterable {
    case kill, terminate, pause, rebalance, loseDisk, oldDisk, otherDisk, clock
    case cut, full, away, slow, failReads, compact, truncate, recreate, recreateChangelog, retain, expireOffsets, reset
    case fillStore, failStore, swapStore, slowStore, removeBlob, tearBlob, index
    case failOrigin, stallOrigin, askToWait, changeOrigin, renderer

    static func some(by chance: inout Chance) -> [Fault] {
        // From a calm world to one where all fails.
        let share = [0, 1, 2, 3, 5][chance.below(5)]
        return allCases.filter { _ in chance.below(6) < share }
    }
}

extension World {
    func faultSoon() {
        guard !faults.isEmpty else { return }
        after(chance.within(300_000...4_000_000)) { [self] in
            if isCalm { return }
            inject(chance.pick(faults))
            faultSoon()
        }
    }

    /// How long a fault lasts, microseconds.
    private func aWhile() -> Int64 { now + chance.within(200_000...12_000_000) }

    func disturb(until time: Int64, _ partitions: [PartitionID] = Cluster.partitions) {
        for partition in partitions {
            disturbedUntil[Int(partition.number)] = max(disturbedUntil[Int(partition.number)], time)
        }
    }

    private func inject(_ fault: Fault) {
        let until = aWhile()
        let log = cluster.log(chance.pick(Topic.consumed), chance.pick(Cluster.partitions))
        note("fault", Int64(fault.rawValue), Int64(log.place), text: "\(fault)")
        let running = machines.filter { $0.process.map { !$0.isPaused } ?? false }
        switch fault {
        case .away:
            // Where nothing else goes wrong, one partition shows what that is to the others.
            let partition =
                faults == [.away] ? PartitionID(Int32(seed % UInt64(Cluster.partitionCount))) : log.partition
            let log = cluster.log(
                chance.pick([.jobsFast, .jobsSlow, .parked, .variants, .outcomes, .dead]), partition)
            log.awayUntil = now + chance.within(500_000...60_000_000)
            count(.topicAway)
            disturb(until: log.awayUntil, [log.partition])
            return
        case .kill, .pause, .terminate, .loseDisk, .oldDisk, .otherDisk:
            if !running.isEmpty { inject(fault, on: chance.pick(running), until) }
        case .rebalance: after(hopeless.publishNext()) { [self] in group.rebalance() }
        case .clock: jump(chance.pick(machines))
        case .cut: cluster.cutUntil = until
        case .full: cluster.fullUntil = until
        case .slow:
            count(.logSlow)
            cluster.slowUntil = until
        case .failReads: readFailsUntil = until
        case .compact: compact()
        case .truncate, .recreate, .retain, .expireOffsets: damage(log, fault)
        case .recreateChangelog:
            count(.changelogRecreated)
            poisonJobs.excuse(log.partition)
            ownerships.forget(log.partition)
            ledger.recreate(cluster.log(.variants, log.partition))
            cluster.announce(cluster.log(.variants, log.partition))
            recreated.insert(log.partition)
            after(chance.within(2_000_000...25_000_000)) { [self] in stopForRestore() }
        case .reset:
            // A person stops all workers, sets offsets, and starts them again.
            if !resetWaits, running.count == machines.count { stopAll(for: \.resetWaits) }
        case .fillStore: shelf.fullUntil = until
        case .failStore: shelf.failsUntil = until
        case .swapStore:
            (shelf.foreignUntil, shelf.isAway) = (until, choices.isOne(in: 2))
        case .slowStore:
            count(.storeSlow)
            shelf.slowUntil = until
        case .removeBlob, .tearBlob: for _ in 0...chance.below(6) { damageBlob(fault) }
        case .index: indexFailsUntil = until
        case .failOrigin: origins.failsUntil[chance.below(Origins.hostCount)] = until
        case .askToWait: origins.asksUntil[chance.below(Origins.hostCount)] = until
        case .stallOrigin:
            let host = chance.below(Origins.hostCount)
            origins.stallsUntil[host] = until
            publishImpatient(at: host)
        case .changeOrigin:
            count(.originChanged)
            origins.sources[chance.below(Origins.sourceCount)].version += 1
            // And of those that are asked for again.
            for _ in 0..<3 { origins.sources[choices.below(24)].version += 1 }
        case .renderer: rendererFailsUntil = until
        }
        disturb(until: until)
    }

    private func inject(_ fault: Fault, on machine: Machine, _ until: Int64) {
        guard let process = machine.process else { return }
        switch fault {
        case .terminate:
            count(.terminated)
            after(hopeless.publishNext()) { process.drain() }
        case .pause: pause(process, until: until)
        default:
            count(.killed)
            process.kill()
            group.expire(process)
            machine.process = nil
            if fault == .loseDisk {
                count(.diskLost)
                machine.disk.lose()
            } else if fault == .oldDisk {
                count(.diskOlder)
                machine.disk.goBack()
            } else if fault == .otherDisk {
                count(.diskForeign)
                machine.disk.swap()
            }
            after(chance.within(100_000...10_000_000)) { [self] in restart(machine) }
        }
    }

    private func pause(_ process: SimulatedProcess, until: Int64) {
        count(.paused)
        process.pause()
        group.expire(process)
        after(until - now) { if !process.isDead, process.isPaused { process.wake() } }
    }

    func pauseSoon(_ process: SimulatedProcess) {
        after(chance.within(0...2_000)) { [self] in
            if isCalm || process.isDead || process.isPaused || process.hasEnded { return }
            pause(process, until: now + chance.within(4_000_000...14_000_000))
            disturb(until: now + 14_000_000)
        }
    }

    private func jump(_ machine: Machine) {
        if choices.isOne(in: 3), !machine.isClockWrong {
            count(.clockWrong)
            machine.isClockWrong = true
            after(choices.within(1_000_000...40_000_000)) { machine.isClockWrong = false }
            return
        }
        let step = chance.within(-4_000...20_000)
        count(step < 0 ? .clockBack : .clockForward)
        machine.offset += step
    }

    private func damage(_ log: TopicLog, _ fault: Fault) {
        switch fault {
        case .truncate:
            guard log.end - log.start > 2 else { return }
            count(.truncated)
            poisonJobs.excuse(log.partition)
            ledger.excuse(log.truncate(to: log.end - chance.within(1...2)))
        case .recreate:
            count(.recreated)
            poisonJobs.excuse(log.partition)
            ledger.excuse(log.recreate())
            group.committed[log.place] = nil
        case .retain:
            guard log.end > log.start else { return }
            count(.retained)
            ledger.excuse(log.retain(from: chance.within(log.start...log.end)))
        default:
            // The fingerprint's offsets are kept as long as the group is there.
            guard log.topic != .jobsFast else { return }
            count(.offsetsExpired)
            group.committed[log.place] = nil
        }
        cluster.announce(log)
    }

    private func stopAll(for purpose: ReferenceWritableKeyPath<World, Bool>) {
        self[keyPath: purpose] = true
        for machine in machines { machine.process?.drain() }
    }

    /// A person stops all workers, restores what was recreated, and starts them again.
    private func stopForRestore() {
        guard !recreated.isEmpty, !restoreWaits else { return }
        disturb(until: now + 2_000_000, recreated.sorted())
        guard machines.allSatisfy({ $0.process?.isPaused != true }) else {
            return after(1_000_000) { [self] in stopForRestore() }
        }
        stopAll(for: \.restoreWaits)
    }

    /// As `mezzotint topics restore` does, from all disks.
    func restore() {
        restoreWaits = false
        for partition in recreated.sorted() { restore(partition) }
        recreated = []
    }

    private func restore(_ partition: PartitionID) {
        let log = cluster.log(.variants, partition)
        var files: [String: SimulatedDisk.File] = [:]
        for machine in machines {
            let disk = machine.disk
            for (number, file) in ((disk.aside[partition] ?? []) + [disk.files[partition]].compactMap(\.self))
                .enumerated()
            where !file.isForeign { files["\(machine.number)/\(number)"] = file }
        }
        let candidates = files.sorted { $0.key < $1.key }.compactMap { path, file in
            file.checkpoint.map { ChangelogRestore.Candidate(path: path, checkpoint: $0, store: nil) }
        }
        var changelog = ChangelogRestore(partition, from: candidates)
        for entry in log.entries { changelog.read(entry.record) }
        let newest = changelog.verdicts(end: log.end, store: nil).first { $0.verdict == .newest }
        let file = newest.flatMap { files[$0.candidate.path] }
        var rows = (file?.rows ?? [:]).sorted { $0.key.hex < $1.key.hex }.map(\.value)
        if plants(.publishLess), rows.count > 1 { rows.removeFirst() }
        for record in rows.flatMap({ changelog.missing(from: $0) }) + changelog.end(file?.progress, at: wall) {
            _ = ledger.land(record, in: log, epoch: nil, by: nil)
        }
        poisonJobs.excuse(partition)
        ledger.checkRestored(log)
        disturb(until: now, [partition])
        if file != nil { for machine in machines { machine.disk.retire(partition) } }
    }

    func reset() {
        guard group.isEmpty else { return }
        resetWaits = false
        let isEarliest = chance.isOne(in: 2)
        count(isEarliest ? .resetEarliest : .resetLatest)
        let log = cluster.log(chance.pick(Topic.consumed), chance.pick(Cluster.partitions))
        // Offsets without an opened changelog tell a worker that the changelog was recreated, and it stops.
        guard cluster.log(.variants, log.partition).end > 0 else { return }
        ownerships.reset(log)
        note("reset", Int64(log.place), isEarliest ? 1 : 0)
        if !isEarliest {
            ledger.excuse(log.entries)
            for entry in log.entries { log.finish(entry.record.offset, entry.serial) }
        }
        group.committed[log.place] = isEarliest ? log.start : log.end
    }

    private func damageBlob(_ fault: Fault) {
        let locations = shelf.blobs.keys.sorted()
        guard !locations.isEmpty else { return }
        let location = chance.pick(locations)
        shelf.destroyed.insert(location)
        if fault == .removeBlob {
            count(.blobGone)
            shelf.blobs[location] = nil
        } else {
            count(.blobTorn)
            let bytes = shelf.blobs[location] ?? []
            // Cut, or as long as before and other bytes.
            let kept = bytes.prefix(chance.below(bytes.count + 1))
            shelf.blobs[location] =
                chance.isOne(in: 2) ? Array(kept) : kept + [UInt8](repeating: 0, count: bytes.count - kept.count)
        }
    }

    // MARK: What goes on by itself

    func compactSoon() {
        after(20_000_000) { [self] in
            compact()
            compactSoon()
        }
    }

    private func compact() {
        let time = wall
        for log in cluster.logs where log.topic.isCompacted {
            let gone = log.compact(before: time - Self.compactionLag, tombstones: time - Self.tombstonesKept)
            if !gone.isEmpty { count(.compacted) }
        }
    }
}
