internal import Clocks
internal import Failures
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Quarantine
internal import Records
internal import Telemetry

/// Effects of controls on parked jobs, and the ends of controls. `Jobs+Controls` applies them to jobs in memory.
extension Worker {
    /// Begins a control: examines the rows of `parked`.
    func begin(_ control: Control, _ record: Record, _ owned: OwnedPartition) {
        logger.debug(
            "A control is applied.",
            [
                "control": .string(control.id), "verb": .string(control.verb.rawValue),
                "partition": .string("\(owned.id)"), "by": .string(control.by ?? ""),
            ])
        owned.examinations.begin(RecordPlace(record))
        examineParked(owned)
    }

    /// Completes pauses and resumes whose effect the progress row has.
    func finishPauses(_ owned: OwnedPartition) {
        guard phase.isRunning, !owned.isLeaving, let row = owned.ledger.durablePauses else { return }
        for decided in owned.state.recordedPauses(row) {
            let (control, record) = (decided.control, decided.record)
            logger.info(
                "A control is applied.",
                [
                    "control": .string(control.id), "verb": .string(control.verb.rawValue),
                    "partition": .string("\(owned.id)"), "by": .string(control.by ?? ""),
                ])
            let outcome = ControlOutcome(of: control, isApplied: decided.isApplied, at: now)
            owned.outbox.add(Outbox.Completion(record, .control(outcome), key: record.key, at: now))
        }
    }

    /// Counts and logs a control that changed nothing.
    func noteRefusal(_ outcome: ControlOutcome, _ record: Record) {
        guard let failure = outcome.failure else { return }
        counters.countFailure(failure.code)
        logger.warning(
            "A control is refused.",
            [
                "control": .string(outcome.control), "record": .string(record.placeText), "code": .string(failure.code),
                "message": .string(failure.message),
            ])
    }

    /// Asks the log which jobs were published before the standing controls, with one question at a time.
    private func askEnds(_ owned: OwnedPartition) {
        guard owned.state.controls.hasUnbound, !owned.asksEnds else { return }
        owned.asksEnds = true
        let places = Set(owned.state.controls.all.map(\.place))
        tasks.yield { [owner = owned.ownership] in
            let points = Topic.jobTopics.map { LogPoint($0, owner.partition, nil) }
            await self.found(await self.ports.log.offsets(of: points), for: places, owner)
        }
    }

    private func found(
        _ offsets: [Result<PartitionOffsets, LogFailure>], for places: Set<RecordPlace>, _ owner: Ownership
    ) async {
        var ends: [Topic: Int64] = [:]
        var failure: LogFailure?
        for (topic, result) in zip(Topic.jobTopics, offsets) {
            do throws(LogFailure) {
                let found = try result.get()
                // Jobs of an open transaction count, too.
                ends[topic] = found.bounds.upperBound + found.hidden
            } catch {
                // Nothing is written to old retry topics any more.
                if topic.lane != nil { failure = error }
            }
        }
        if let failure {
            note(failure, of: owner.partition)
            await pauseAfterRefusal()
        }
        guard let owned = owned(by: owner) else { return }
        owned.asksEnds = false
        if failure == nil { owned.state.bound(places, ends) }
    }

    /// Applies the standing controls to rows of `parked`, a slice of them at a time. A control whose jobs before it are all
    /// finished or parked examines the rows once more, from the beginning, and ends then.
    func examineParked(_ owned: OwnedPartition) {
        guard !owned.state.controls.isEmpty, phase.isRunning, !owned.isLeaving else { return }
        askEnds(owned)
        guard owned.mayStartParked else { return }
        let moment = moment
        var left = Self.examinedAtOnce
        do throws(IndexFailure) {
            try dropEnded(owned)
            for standing in owned.state.controls.all where left > 0 && owned.outbox.count(.parked) < Self.examinedAtOnce {
                guard let from = owned.examinations.next(standing.place) else { continue }
                let slice = try rows(of: standing.control, after: from, limit: left, owned)
                left -= slice.jobs.count
                var (found, changed) = (false, 0)
                for job in slice.jobs {
                    guard let disposition = disposition(of: job, by: standing, owned, at: moment) else { continue }
                    found = true
                    // A job that runs is in a flight.
                    guard owned.starts.begin(job) else { continue }
                    changed += 1
                    let record = job.record(in: owned.id)
                    noteAnswer(record, disposition, of: owned, at: moment.wall)
                    owned.outbox.add(Outbox.Completion(record, disposition, at: moment.wall))
                }
                if changed > 0 { owned.state.count(standing.place, jobs: changed) }
                owned.examinations.examined(standing.place, upTo: slice.end, found: found)
            }
        } catch {
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
        }
        endControls(owned, at: moment)
        // The rows of the next slice wait for the outcomes of this one.
        if left <= 0, owned.outbox.count(.parked) < Self.examinedAtOnce {
            tasks.yield { [owner = owned.ownership] in await self.examineParked(owner) }
        }
    }

    private func examineParked(_ owner: Ownership) {
        guard let owned = owned(by: owner) else { return }
        examineParked(owned)
        settle()
    }

    /// Most rows that are examined at once, and whose outcomes may be on their way to the log.
    private static let examinedAtOnce = 256

    /// Rows that the control may be about, and the place after which the next slice begins; nil: there is none.
    private func rows(
        of control: Control, after place: Int64, limit: Int, _ owned: OwnedPartition
    ) throws(IndexFailure) -> (jobs: [ParkedJob], end: Int64?) {
        switch control.scope {
        case .job(let id): return (try owned.index.parked.parked(id: id, limit: limit), nil)
        case .source(let source, _): return (try owned.index.parked.parked(of: source, limit: limit), nil)
        case .filter, .all: return try owned.index.parked.page(after: place, limit: limit)
        }
    }

    /// What a control demands of a parked job; nil: nothing.
    private func disposition(
        of job: ParkedJob, by standing: Controls.Standing, _ owned: OwnedPartition, at moment: Moment
    ) -> Disposition? {
        let record = job.record(in: owned.id)
        var recent = RecentParts()
        // An undecodable row, or one with a wrong signature, ends when it starts.
        guard case .arrived(let pending) = takeUp(record, &recent),
            let ruling = owned.state.controls.ruling(on: pending.job, record, firstSeen: pending.firstSeen),
            ruling.place == standing.place
        else { return nil }
        let known = pending.job
        switch ruling.action {
        case .cancel:
            return .outcome(
                Outcome(
                    job: known.id, source: known.source, url: known.url, lane: known.lane, kind: .cancelled,
                    variants: [], attempts: job.row.note.attempt, at: moment.wall, traceparent: known.traceparent))
        case .move(let lane) where job.row.worksAs != lane:
            var row = job.row
            (row.worksAs, row.isMoved) = (lane, true)
            // A quarantined job is known by the offset of its row.
            row.note.crashes = max(row.note.crashes, owned.state.quarantined.crashes(of: RecordPlace(record)))
            return .move(row)
        case .move, .pause, .resume: return nil
        }
    }

    /// Ends the controls that apply to no further job.
    private func endControls(_ owned: OwnedPartition, at moment: Moment) {
        for standing in owned.state.passedControls {
            let place = standing.place
            guard owned.examinations.isOver(place, folded: owned.parked.lifecycle.folded, end: owned.parkedEnd),
                let outcome = owned.state.endControl(place, at: moment.wall)
            else { continue }
            owned.examinations.end(place)
            owned.outbox.add(Outbox.Completion(standing.record, .control(outcome), key: standing.record.key, at: moment.wall))
        }
    }
}
