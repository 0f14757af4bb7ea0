internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Planning
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// Start and end of a job's steps. `JobSteps` has the steps.
extension Worker {
    /// Performs an effect that a partition decided.
    func perform(_ effect: Effect, of owned: OwnedPartition, at now: WallTime) {
        switch effect {
        case .await(let pending): owned.pendingJobs.append(pending)
        case .fetch(let flight, let request):
            (underWay, busyAt) = (underWay + 1, monotonic)
            if request.redirect == nil { noteRefusals(of: flight, owned, at: now) }
            duties.standstill.begin(.fetch, of: flight)
            tasks.yield { await self.beginFetch(flight, request) }
        case .render(let flight, let task):
            (underWay, busyAt) = (underWay + 1, monotonic)
            duties.standstill.begin(.render, of: flight)
            tasks.yield { await self.make(flight, task) }
        case .abort(let flight): fetches[flight]?.cancel()
        case .checked(let host, let check): counters.count(check, of: host)
        case .stoodIn(let host): counters.countStandIn(for: host)
        case .putOff(let pending, let cause):
            counters.retries += 1
            tell(cause, of: pending)
        case .control(let control, let record): begin(control, record, owned)
        case .complete(let record, let disposition):
            noteAnswer(record, disposition, of: owned, at: now)
            if case .park(let pending, let parking, _) = disposition, parking.isRunning {
                owned.starts.hold(
                    .parked(pending.job.source, JobIdentity(of: record)), ParkedShare(parking.host, parking.worksAs))
            }
            owned.outbox.add(Outbox.Completion(record, disposition, at: now))
        case .commit(let topic, let committable):
            commit(topic, below: committable, of: owned)
            if !owned.readable.isEmpty { turnSoon() }
        case .tell(let notice): tell(notice, owned)
        }
    }

    private func beginFetch(_ flight: FlightID, _ request: FetchRequest) async {
        // Not a child of the worker's task group, because a group cancels all its tasks or none.
        let fetch = Task(executorPreference: ports.tasks) { await self.fetch(flight, request) }
        if has(flight) { fetches[flight] = fetch } else { fetch.cancel() }
        await withTaskCancellationHandler {
            await fetch.value
        } onCancel: {
            fetch.cancel()
        }
        // After a redirect, the flight's next fetch may have begun.
        if fetches[flight] == fetch { fetches[flight] = nil }
    }

    /// Notes that most of a flight's body has arrived. A flight that ended meanwhile keeps its permit until its connection is closed.
    func nearlyFetched(_ flight: FlightID) { if has(flight) { feed(.nearlyFetched(flight)) } }

    /// - Parameter isAsked: whether the source's own host was asked. Redirects do not count again.
    func fetched(
        _ event: PartitionEvent, _ step: Step, _ flight: FlightID, _ lane: Lane, _ bytes: Int?, isAsked: Bool
    ) {
        note(step, of: flight, lane)
        if isAsked { counters.requests += 1 }
        if let bytes { counters.countBody(of: bytes) }
        done(event)
    }

    /// Notes that the flight's rows are being appended. It is stored, so the disk has room for another.
    func announcing(_ flight: FlightID) {
        let wasFull = isStoreFull
        duties.standstill.end(flight)
        scheduler.announce(flight)
        if wasFull { settle() }
    }

    func announced(
        _ flight: FlightID, _ task: RenderTask, _ original: String?, _ rows: [VariantRow], _ position: Int64,
        _ steps: StepClock
    ) {
        for step in steps.ended { note(step, of: flight, task.lane) }
        counters.count(
            variants: rows.count, isReuse: task.isReuse, kept: rows.count { $0.isFromKept },
            same: rows.count { task.replaced[$0.spec]?.location == $0.location })
        counters.storedBytes += rows.reduce(original == nil ? 0 : task.fetched?.row.bytes ?? 0) { $0 + $1.bytes }
        if task.batch != nil { noteMade(flight) }
        done(.announced(flight, original: original, rows: rows, position: position))
    }

    /// The partition, if that ownership still holds. Results of an earlier one do not concern the current one.
    func owned(by owner: Ownership) -> OwnedPartition? {
        partitions[owner.partition].flatMap { $0.ownership == owner ? $0 : nil }
    }

    /// Repeats an attempt until it is over: done, or not wanted any more. False: the log, the store or the index refused.
    func untilOver<Failure: Error>(_ attempt: () async throws(Failure) -> Bool) async throws(Failure) {
        while try await !attempt() { await pauseAfterRefusal() }
    }

    /// Waits, because a log that is full refuses at once.
    nonisolated func pauseAfterRefusal() async { await ports.time.sleep(for: .milliseconds(500)) }

    /// Whether the flight's ownership still holds.
    private func has(_ flight: FlightID) -> Bool { partitions[flight.partition]?.state.has(flight) ?? false }

    /// Ends a step: applies its event and performs the effects.
    func done(_ event: PartitionEvent) {
        underWay -= 1
        if let flight = event.flight { duties.standstill.end(flight) }
        switch event {
        case .failed(_, let note), .unannounced(_, let note), .refusedVariants(_, _, let note, _):
            counters.countFailure(note.code)
        // An aborted fetch did not fail.
        case .unfetched(let flight, let report) where has(flight): counters.countFailure(report.note.code)
        default: break
        }
        feed(event)
        settle()
    }

    func feed(_ event: PartitionEvent) {
        guard let flight = event.flight else { return }
        if let owned = partitions[flight.partition], owned.state.has(flight) {
            feed(event, to: owned)
        } else {
            // The flight was released meanwhile, and nothing else returns its permits.
            scheduler.forget(flight)
        }
        if case .rendered = event {
            duties.standstill.begin(.store, of: flight)
            settle()
        }
    }

    /// Failure note of an error. Steps throw their own failures; any other error must not leave a flight without an
    /// end.
    nonisolated func note(of error: any Error) -> FailureNote {
        if let failure = error as? any StageFailure { return FailureNote(failure) }
        logger.error("A step failed with an unexpected error: \(error)")
        return FailureNote(StageFault.unexpected("\(error)"))
    }
}
