internal import Canonical
internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Jobs
internal import JSONText
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// Outcomes on their way to the log, and messages to operators.
extension Worker {
    func tell(_ notice: PermitNotice, _ owned: OwnedPartition) {
        switch notice {
        case .opened(let obstacle): tellOpened(obstacle, owned)
        case .closed(let obstacle): tellClosed(obstacle, owned)
        case .blocked(let host), .unblocked(let host): tell(host)
        }
    }

    private func tellOpened(_ obstacle: PermitScheduler.Obstacle, _ owned: OwnedPartition) {
        switch obstacle {
        case .machine: logger.warning("Paused: single jobs probe until one succeeds.")
        case .log:
            logger.warning(
                "Appends to this partition fail. It is paused: single jobs probe until one succeeds. Other partitions continue.",
                ["partition": .string("\(owned.id)")])
        }
    }

    private func tellClosed(_ obstacle: PermitScheduler.Obstacle, _ owned: OwnedPartition) {
        switch obstacle {
        case .machine: logger.info("A probe succeeded: the worker continues.")
        case .log:
            logger.info(
                "Appends to this partition succeed again: it continues.", ["partition": .string("\(owned.id)")])
        }
    }

    /// Logs that a host is blocked, or asked again.
    func tell(_ host: OriginHost) {
        guard let origin = scheduler.origins[host] else { return }
        guard case .blocked(let until) = origin.phase, let trouble = origin.trouble else {
            return logger.info("The host is asked again.", ["host": .string("\(host)")])
        }
        let seconds = (max(.zero, until - monotonic) + .milliseconds(999)).components.seconds
        logger.warning(
            "The host is blocked for \(seconds) s: its jobs are parked, and one of them probes it then.",
            ["code": .string(trouble.code), "host": .string("\(host)")])
    }

    /// Logs why a job is retried: each time if its own failure is the cause. If the job waits for a part that all jobs
    /// need, the line comes once in ten seconds.
    func tell(_ cause: FailureNote, of pending: PendingJob) {
        guard cause.verdict != .wait else {
            return tellNow(cause, ["code": .string(cause.code), "job": .string(pending.job.id)])
        }
        let outlook = RetryOutlook(of: pending, after: cause, by: configuration.partition, at: now)
        logger.info(
            "\(cause.message) \(outlook)",
            [
                "code": .string(cause.code), "job": .string(pending.job.id), "attempt": .int(Int64(pending.attempts)),
                "nextAt": .string(Timestamp.text(pending.due)),
            ])
    }

    /// Counts and logs a partition's failure.
    func report(_ failure: some StageFailure, of partition: PartitionID, times: Int = 1) {
        counters.countFailure(failure.code, times: times)
        logger.error("\(failure)", ["code": .string(failure.code), "partition": .string("\(partition)")])
    }

    /// Counts a partition's failure each time, and logs it now and then.
    func note(_ failure: some StageFailure, of partition: PartitionID) {
        note(failure, ["code": .string(failure.code), "partition": .string("\(partition)")])
    }

    /// Counts the failure each time, and logs it now and then.
    func note(_ failure: some StageFailure, _ notes: Logger.Metadata = [:]) {
        counters.countFailure(failure.code)
        tellNow(FailureNote(failure), notes)
    }

    /// Logs a repeated failure once in ten seconds.
    func tellNow(_ cause: FailureNote, _ notes: Logger.Metadata = [:]) {
        guard loggedAt[cause.code].map({ monotonic - $0 >= .seconds(10) }) ?? true else { return }
        loggedAt[cause.code] = monotonic
        // The worker did not fail when it parks a job.
        logger.log(
            RetryCause.Code(rawValue: cause.code) == nil ? .error : .notice, "\(cause.message)",
            notes.isEmpty ? ["code": .string(cause.code)] : notes)
    }

    /// Sends the waiting outcomes to the log, one batch of a partition at a time.
    func send() {
        for owned in partitions.values {
            let isOpen = owned.openParkedEpoch != nil
            let batch = owned.outbox.next(parkedEpoch: owned.parked.epoch, isOpen: isOpen)
            // The epoch row will not come any more.
            if owned.isLeaving, !isOpen { owned.outbox.leave() }
            guard let batch else { continue }
            tasks.yield { [owner = owned.ownership] in await self.send(batch, as: owner) }
        }
    }

    func sent(
        _ written: Outbox.Written, _ results: [AppendResult], as owner: Ownership, took duration: Duration
    ) async {
        timings.append(duration)
        var failed = Outbox.Written()
        var (finished, more): ([RecordPlace], [Outbox.Completion]) = ([], [])
        var landed: [(key: RecordKey, offset: Int64, place: RecordPlace)] = []
        finished.reserveCapacity(written.entries.count)
        let isReady = written.isReady(results)
        var next = 0
        for entry in written.entries {
            let own = next..<next + entry.records
            next = own.upperBound
            if results[own].allSatisfy({ $0.offset != nil }) {
                if let next = entry.next {
                    if isReady || !entry.waitsForAll { more.append(next) } else { failed.add(entry.waiting, []) }
                } else {
                    finished.append(entry.place)
                }
                if let key = entry.parked, let offset = results[own].last?.offset { landed.append((key, offset, entry.place)) }
                if let completion = entry.count { count(completion) }
            } else if let large = entry.large,
                let refusal = results[own].lazy.compactMap(\.failure).first(where: \.isTooLarge)
            {
                more.append(large.small(FailureNote(refusal)))
            } else {
                failed.add(entry, written.records[own])
            }
        }
        let goesAgain = !failed.isEmpty
        failed.add(more, partitions: ports.log.partitionCount, keys: configuration.keys, epoch: written.parkedEpoch)
        if let refusal = results.lazy.compactMap(\.failure).first {
            note(
                refusal,
                [
                    "code": .string(refusal.code), "partition": .string("\(owner.partition)"),
                    "waiting": .int(Int64(failed.entries.count)),
                ])
            // The outbox stays closed meanwhile, so no second batch piles up behind a log that is full or unavailable.
            if goesAgain { await pauseAfterRefusal() }
        }
        // If the partition went away while its outcomes were being appended, its jobs belong to another owner. That
        // holds even if it has come back since: its jobs are read again then.
        guard let owned = owned(by: owner) else { return }
        // A failed append may still be in the log. The next owner reads it once more.
        let places = zip(written.records, results).compactMap { record, result in
            result.offset.map { (topic: record.topic, offset: $0) }
        }
        owned.outcomeTail?.note(places, isAll: places.count == results.count, endsParked: written.endsParked)
        for place in places where place.topic == .parked { owned.parkedEnd = max(owned.parkedEnd, place.offset + 1) }
        for (key, offset, place) in landed { owned.starts.landed(key, at: offset, of: place) }
        owned.outbox.returned(finished, failed: failed)
        republishParked(owned)
        feed(.acknowledged(finished), to: owned)
        settle()
    }

    private func count(_ completion: Counters.Completion) {
        counters.count(completion)
        guard let failed = completion.failed else { return }
        logger.warning(
            "\(failed.cause.message)",
            [
                "code": .string(failed.cause.code), "outcome": .string(completion.kind.rawValue),
                "job": .string(failed.job),
                "url": .string(failed.url.description),
            ])
    }
}

extension LogFailure {
    fileprivate var isTooLarge: Bool { kind == .tooLarge }
}
