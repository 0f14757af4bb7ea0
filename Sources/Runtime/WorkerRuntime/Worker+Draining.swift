internal import Clocks
internal import Ledger
internal import Permits
internal import Ports
internal import Positions
internal import Posix
internal import Records
internal import Synchronization
internal import Telemetry

/// End of a worker: it is told to stop, or nothing is left to do.
extension Worker {
    /// Stops the worker. It finishes running work within the configured time, commits, and leaves the clean flag.
    package func drain() {
        guard phase.isRunning else { return }
        phase = .draining(until: ports.time.monotonic + configuration.drain)
        scheduler.drain()
        let rest = underWay == 0 ? "" : ": it finishes \(underWay) \(underWay == 1 ? "source" : "sources") first"
        logger.info("The worker is stopping\(rest).", ["underWay": .int(Int64(underWay))])
    }

    /// Drains if nothing is left. The log is asked last, because it may hold records that have not reached this worker.
    func drainIfIdle() async {
        let (patience, now) = (configuration.patience, ports.time.monotonic)
        guard isQuiet(for: patience) else { return idle.interrupt() }
        guard let asked = idle.quiet(atLeast: ports.consumer.quietTime, at: now) else { return }
        let rest = await rest()
        let ending = idle.heard(
            rest, asked: asked, isQuiet: isQuiet(for: patience), at: now, tools: ports.log.toolTopic)
        guard let ending else { return }
        if case .without(let failure) = ending { undone = failure }
        if let failure = duties.stopped.failure { undone = failure }
        drain()
    }

    /// Ends the drain once nothing is in progress and everything is written, or the deadline has passed.
    func endDrain(by deadline: Instant) {
        let isLate = ports.time.monotonic > deadline
        // The log may lack the row that withdraws the blame. The next owner would take the job for the cause.
        let blaming = partitions.values.filter { $0.ledger.blames }
        for owned in blaming { name(owned) }
        let isQuiet = underWay == 0 && scheduler.isIdle && isAnswered && isCommitted && isProgressWritten
        guard isLate || (isQuiet && blaming.isEmpty) else { return }
        if isLate {
            logger.warning(
                "The drain deadline passed; unfinished work is repeated after the next start.",
                ["underWay": .int(Int64(underWay))])
            // For the health report, if the process never ends.
            hanging.withLock { $0 = duties.standstill.standstill(after: .zero) }
        }
        phase = .ended(undone)
        // The row replaces the fence, which identifies ignored rows. So it is not written before the valid rows are
        // published again.
        let last = partitions.values.filter { !$0.isLeaving }.map { owned in
            let isClean = !isLate && owned.isRestored && owned.lifecycle.isClean
            let rows = [lastProgressRow(of: owned), isClean ? epochRow(of: owned, isClean: true) : nil]
            return (owner: owned.ownership, rows: rows.compactMap { $0 })
        }
        // The next worker reads these rows before it asks any host.
        let hosts = duties.hosts.hasRead ? lastRowsToTell().map { $0.newRecord() } : []
        tasks.yield { [ports] in
            // A refused row only costs the next owner work. They are appended together, because each commit costs a
            // sync of the disk, or a round trip.
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
