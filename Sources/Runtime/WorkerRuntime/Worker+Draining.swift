internal import Clocks
internal import Ledger
internal import Permits
internal import Ports
internal import Positions
internal import Posix
internal import Records
internal import Synchronization
internal import Telemetry

/// How a worker ends: it is told to stop, or nothing is left to do.
extension Worker {
    /// Told to stop: finish what runs within the configured time, commit, leave the clean flag.
    package func drain() {
        guard phase.isRunning else { return }
        phase = .draining(until: ports.time.monotonic + configuration.drain)
        scheduler.drain()
        let rest = underWay == 0 ? "" : ": it finishes \(underWay) \(underWay == 1 ? "source" : "sources") first"
        logger.info("The worker is stopping\(rest).", ["underWay": .int(Int64(underWay))])
    }

    /// The log is asked last: it may hold what this worker has not heard of yet.
    func drainIfIdle() async {
        let (patience, now) = (configuration.patience, ports.time.monotonic)
        guard isQuiet(for: patience) else { return idle.interrupt() }
        guard let asked = idle.quiet(atLeast: ports.consumer.quietTime, at: now) else { return }
        let rest = await rest()
        let ending = idle.heard(
            rest, asked: asked, isQuiet: isQuiet(for: patience), at: now, tools: ports.log.toolTopic)
        guard let ending else { return }
        if case .without(let failure) = ending { undone = failure }
        drain()
    }

    /// Ends once nothing is under way and all is told of, or the deadline has passed.
    func endDrain(by deadline: Instant) {
        let isLate = ports.time.monotonic > deadline
        // The log may not have taken the row that takes it back: the next owner would take the job for the cause.
        let blaming = partitions.values.filter { $0.ledger.blames }
        for owned in blaming { name(owned) }
        let isQuiet = underWay == 0 && scheduler.isIdle && isAnswered && isCommitted && isProgressWritten
        guard isLate || (isQuiet && blaming.isEmpty) else { return }
        if isLate {
            logger.warning(
                "The drain deadline passed; what still runs is done again at the next start.",
                ["underWay": .int(Int64(underWay))])
            // Told should it never end.
            hanging.withLock { $0 = duties.standstill.standstill(after: .zero) }
        }
        phase = .ended(undone)
        // It takes the fence's place, by which ignored rows are known: not before the valid ones are published again.
        let last = partitions.values.filter { !$0.isLeaving }.map { owned in
            let isClean = !isLate && owned.isRestored && owned.lifecycle.isClean
            let rows = [lastProgressRow(of: owned), isClean ? epochRow(of: owned, isClean: true) : nil]
            return (owner: owned.ownership, rows: rows.compactMap { $0 })
        }
        // The next worker reads them before it asks any host.
        let hosts = duties.hosts.hasRead ? lastRowsToTell().map { $0.newRecord() } : []
        tasks.yield { [ports] in
            // What is refused here costs the next owner work, and nothing else. Together, since each commit costs a sync of
            // the disk, or a round trip.
            await withDiscardingTaskGroup { group in
                for last in last where !last.rows.isEmpty {
                    group.addTask { _ = await ports.log.append(last.rows, as: last.owner) }
                }
            }
            if !hosts.isEmpty { _ = await ports.log.append(hosts) }
            self.tasks.finish()
        }
    }
}
