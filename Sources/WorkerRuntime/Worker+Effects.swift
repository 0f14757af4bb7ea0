internal import Failures
internal import ImageModel
internal import Partition
internal import Ports
internal import Records
internal import Telemetry

/// Each effect of the reducers, performed.
extension Worker {
    func perform(
        _ effect: PartitionEffect, of owned: OwnedPartition, at now: Int64, more effects: inout [PartitionEffect]
    ) {
        switch effect {
        case .lookUp(let pending):
            guard owned.isRestored, let snapshot = snapshot(for: pending, in: owned, at: now) else {
                owned.pendingJobs.append(pending)
                break
            }
            owned.state.reduce(.found(pending, snapshot), at: now, into: &effects)
        case .request(let kind, let flight, let lane, let since, let host):
            if owned.isLeaving, !owned.state.hasBegun(flight) { return }
            scheduler.request(kind, flight, lane: lane, since: since, host: host)
        case .release(let kind, let flight):
            scheduler.release(kind, flight)
        case .move(let flight, let lane, let since):
            scheduler.move(flight, to: lane, since: since)
        case .halt(let flight):
            guard scheduler.fail(flight, at: now) else { break }
            logger.warning("Nothing new is begun but one job now and then, until one of them is done.")
        case .hold(let flight):
            guard scheduler.hold(flight, at: now) else { break }
            logger.warning(
                "The log does not take what this partition has to say: nothing new is begun there but one job now and then, until one of them is done. All others go on.",
                ["partition": .string("\(owned.id)")])
        case .pass(let flight):
            for other in partitions.values where other !== owned { feed(.passed, to: other) }
            for ended in scheduler.pass(flight) {
                switch ended {
                case .machine: logger.info("A job was done again: all go on.")
                case .log:
                    logger.info(
                        "The log takes what this partition has to say: it goes on.",
                        ["partition": .string("\(owned.id)")])
                }
            }
        case .forget(let flight):
            scheduler.forget(flight)
            fetched[flight] = nil
        case .fetch(let flight, let url, let lane):
            underWay += 1
            counters.fetches += 1
            tasks.yield { await self.beginFetch(flight, url: url, lane: lane) }
        case .render(let flight, let task):
            underWay += 1
            let body = fetched[flight]
            tasks.yield { await self.make(flight, task, body) }
        case .putOff(let pending, let cause):
            counters.retries += 1
            tell(cause, of: pending.job)
        case .settle(let record, let disposition):
            owned.outbox.add(Outbox.Answer(record, disposition, at: now))
        case .commit(let topic, let committable):
            ports.consumer.commit(topic, owned.id, below: committable)
            if !owned.readable.isEmpty { turnSoon() }
        }
    }

    /// Why a job is put off: each time for its own sake, and once in ten seconds where it waits for what all jobs need.
    private func tell(_ cause: FailureNote, of job: Job) {
        let notes: Logger.Metadata = ["code": .string(cause.code), "job": .string(job.id)]
        guard cause.verdict == .wait else { return logger.info("\(cause.message)", notes) }
        tellNow(cause, notes)
    }

    /// Counted each time, and said now and then.
    func note(_ failure: some StageFailure, _ notes: Logger.Metadata = [:]) {
        counters.countFailure(failure.code)
        tellNow(FailureNote(failure), notes)
    }

    /// What goes on failing is said once in ten seconds.
    func tellNow(_ cause: FailureNote, _ notes: Logger.Metadata = [:]) {
        guard now - (told[cause.code] ?? 0) >= 10_000 else { return }
        told[cause.code] = now
        logger.error("\(cause.message)", notes.isEmpty ? ["code": .string(cause.code)] : notes)
    }

    /// What is stored for the pending job's source, less the wanted variants whose blobs are gone: those are made again. nil:
    /// the index is damaged, and being rebuilt; or the store is away.
    func snapshot(for pending: PendingJob, in owned: OwnedPartition, at now: Int64) -> SourceSnapshot? {
        guard storeAbsence == nil else { return nil }
        do throws(IndexFailure) {
            let snapshot = try owned.looks.snapshot(for: pending, at: now, isGone: isGone) {
                () throws(IndexFailure) in
                try owned.index.snapshot(of: pending.job.source)
            }
            guard storeAbsence != nil else { return snapshot }
            owned.looks.forget(pending.job.source)
            return nil
        } catch {
            if case .corrupt = error {
                rebuild(owned, error)
                return nil
            }
            counters.countFailure(error.code)
            // An unreadable index costs work, never a job: everything is planned as if nothing were stored.
            logger.error("\(error)", ["code": .string(error.code), "partition": .string("\(owned.id)")])
            return SourceSnapshot()
        }
    }

    /// Hands the waiting answers to the log, one batch of a partition at a time.
    func send() {
        for owned in partitions.values {
            guard let batch = owned.outbox.next() else { continue }
            tasks.yield { [owner = owned.ownership] in await self.send(batch, as: owner) }
        }
    }

    /// Answers are written down here: not on the thread that decides.
    private nonisolated func send(_ batch: Outbox.Batch, as owner: Ownership) async {
        var written = batch.again
        written.add(batch.new, partitions: ports.log.partitionCount)
        await sent(written, await ports.log.append(written.records, as: owner), as: owner)
    }

    private func sent(_ written: Outbox.Written, _ results: [AppendResult], as owner: Ownership) async {
        var failed = Outbox.Written()
        var (finished, smaller): ([RecordPlace], [Outbox.Answer]) = ([], [])
        finished.reserveCapacity(written.entries.count)
        var next = 0
        for entry in written.entries {
            let own = next..<next + entry.records
            next = own.upperBound
            if results[own].allSatisfy({ $0.offset != nil }) {
                finished.append(entry.place)
                if let answer = entry.count { count(answer) }
            } else if let large = entry.large,
                let refusal = results[own].lazy.compactMap(\.failure).first(where: \.isTooLarge)
            {
                smaller.append(large.small(FailureNote(refusal)))
            } else {
                failed.add(entry, written.records[own])
            }
        }
        let goesAgain = !failed.isEmpty
        failed.add(smaller, partitions: ports.log.partitionCount)
        if let refusal = results.lazy.compactMap(\.failure).first {
            note(
                refusal,
                [
                    "code": .string(refusal.code), "partition": .string("\(owner.partition)"),
                    "waiting": .int(Int64(failed.entries.count)),
                ])
            // The outbox stays closed meanwhile: no second batch piles up behind a log that is full or away.
            if goesAgain { await ports.time.sleep(for: .milliseconds(500)) }
        }
        // What went away while its answers were on their way is another's to answer, even if it came back since: its jobs
        // are read again then.
        guard let owned = partitions[owner.partition], owned.ownership == owner else { return }
        owned.outbox.returned(finished, failed: failed)
        feed(.settled(finished), to: owned)
        settle()
    }

    private func count(_ answer: Counters.Answer) {
        counters.count(answer)
        guard let failed = answer.failed else { return }
        logger.warning(
            "\(failed.cause.message)",
            [
                "code": .string(failed.cause.code), "outcome": .string(answer.kind.rawValue),
                "job": .string(failed.job),
                "url": .string(failed.url),
            ])
    }
}

extension LogFailure {
    fileprivate var isTooLarge: Bool { kind == .tooLarge }
}
