package import Clocks
internal import Failures
internal import ImageModel
internal import Ledger
internal import Permits
package import Records

/// Effects of controls on the jobs in memory. The worker applies them to the rows of `parked`. `Jobs+Pauses` has pauses.
extension Jobs {
    /// Applies a control to the jobs of all flights, and lets it stand for jobs that are not read yet.
    package mutating func control(_ control: Control, _ record: Record, _ now: Moment, _ effects: inout [JobEffect]) {
        guard controls.isNew(control, record, at: now.wall) else {
            let refusal = ControlFailure.replayed(reason: "another record has its id \(control.id)")
            return effects.append(.work(.complete(record, .control(ControlOutcome(refusing: control, refusal, at: now.wall)))))
        }
        if control.verb.action.isPausing { return pause(control, record, now, &effects) }
        controls.add(control, record)
        for id in flights.ids.sorted() where flights[id]?.mayBeNamed(by: control) == true { apply(to: id, now, &effects) }
        // A job may have moved to a paused lane.
        if !pauses.isEmpty { parkPaused(now, &effects) }
        effects.append(.work(.control(control, record)))
    }

    /// Applies the standing controls to a flight. A job whose render has begun, or whose fetch is nearly complete, is
    /// completed. One that waits for its render is not.
    private mutating func apply(to id: FlightID, _ now: Moment, _ effects: inout [JobEffect]) {
        let late = flights[id]?.late.compactMap { rule($0, now, &effects) }
        if let late { flights[id]?.late = late }
        let isBegun = flights[id].map { $0.isFetching && $0.course?.isNearlyFetched == true } ?? false
        change(id, now, &effects) { jobs, pending, effects in jobs.rule(pending, isBegun: isBegun, now, &effects) }
    }

    /// Changes the jobs of a flight whose render has not begun. `rule` returns a job as it is from now on; nil: it left.
    mutating func change(
        _ id: FlightID, _ now: Moment, _ effects: inout [JobEffect],
        _ rule: (inout Jobs, PendingJob, inout [JobEffect]) -> PendingJob?
    ) {
        guard var flight = flights[id] else { return }
        let wasAlone = runsAlone(flight)
        let before = flight.pendingJobs
        if flight.isOpen {
            flight.pendingJobs = before.compactMap { pending in
                let kept = rule(&self, pending, &effects)
                if kept == nil, flight.course != nil { outlive([pending]) }
                return kept
            }
        }
        let isAbandoned = flight.pendingJobs.isEmpty && !before.isEmpty
        let lane = flight.pendingJobs.map { $0.lane(at: now.wall, rules.retry) }.min() ?? flight.lane
        let isMoved = flight.isOpen && lane != flight.lane
        if isMoved { flight.lane = lane }
        flights[id] = flight
        if isAbandoned { return end(id, now, &effects) }
        if isMoved { effects.append(.permit(.move(id, lane, since: flight.since))) }
        // Without the job that ran alone, the others need no isolated run.
        if wasAlone, !runsAlone(flight), case .queued(let kind) = flight.stage {
            effects.append(.permit(.forget(id)))
            request(kind, for: flight, &effects)
        }
    }

    /// The job after the standing controls; nil if one of them ended it.
    ///
    /// - Parameter isBegun: whether the job may move and is not cancelled any more.
    mutating func rule(
        _ pending: PendingJob, isBegun: Bool = false, _ now: Moment, _ effects: inout [JobEffect]
    ) -> PendingJob? {
        guard !controls.isEmpty, let ruling = controls.ruling(on: pending.job, pending.record, firstSeen: pending.firstSeen)
        else { return pending }
        switch ruling.action {
        case .cancel where isBegun: return pending
        case .cancel:
            controls.count(ruling.place, jobs: 1)
            effects.complete(pending, .cancelled, at: now)
            return nil
        case .move(let lane) where lane != pending.lane(at: now.wall, rules.retry):
            controls.count(ruling.place, jobs: 1)
            return pending.moved(to: lane)
        case .move, .pause, .resume: return pending
        }
    }

    /// Completes a record that needs no work. A mis-keyed job that a control cancels is not published again: in the partition of
    /// its source it would come after the control.
    package mutating func complete(
        _ record: Record, _ disposition: Disposition, _ now: Moment, _ effects: inout [JobEffect]
    ) {
        if case .rekey(let job) = disposition,
            let ruling = controls.ruling(on: job, record, firstSeen: record.timestamp), case .cancel = ruling.action
        {
            controls.count(ruling.place, jobs: 1)
            return effects.complete(PendingJob(job: job, record: record), .cancelled, at: now)
        }
        effects.append(.work(.complete(record, disposition)))
    }

    /// Controls that apply to no job in memory and to no unread one. A job that renders may fail, and would be parked.
    package func passedControls(_ committable: (Topic) -> Int64?) -> [Controls.Standing] {
        if controls.isEmpty { return [] }
        return controls.passed(committable).filter { standing in
            !flights.all.contains { flight in
                flight.mayBeNamed(by: standing.control)
                    && (flight.pendingJobs + flight.late).contains {
                        standing.applies(to: Candidate($0.job, $0.record, firstSeen: $0.firstSeen))
                    }
            }
        }
    }

    /// Notes the ends of the lanes, for controls that were read before the log was asked.
    package mutating func bound(_ controls: Set<RecordPlace>, _ ends: [Topic: Int64]) { self.controls.bound(controls, ends) }

    /// Counts rows of `parked` that a control ended or moved.
    package mutating func count(_ control: RecordPlace, jobs: Int) { controls.count(control, jobs: jobs) }

    /// Ends a control. Returns its outcome.
    package mutating func endControl(_ place: RecordPlace, at now: WallTime) -> ControlOutcome? {
        controls.remove(place).map { ControlOutcome(of: $0.control, jobs: $0.jobs, at: now) }
    }
}

extension Flight {
    /// Whether its source may be the one of a control.
    func mayBeNamed(by control: Control) -> Bool {
        if case .source(let source, _) = control.scope { source == self.source } else { true }
    }
}
