package import Canonical
package import Clocks
package import Hosts
package import ImageModel
package import Jobs
package import Ledger
package import Permits
package import Planning
internal import Ports
package import Positions
package import Quarantine
package import Records

/// State of one partition. It routes each event to its jobs and its positions, and returns the effects that the runtime
/// must perform.
///
/// It never awaits, reads a clock, or touches a file, so the same code runs under a simulator. Random numbers come from
/// a seed.
package struct PartitionState: ~Copyable, Sendable {
    package let partition: PartitionID
    private var jobs: Jobs
    private var positions = Positions()
    /// Buffers reused between events.
    private var effects: ([JobEffect], [JobEffect]) = ([], [])

    /// - Parameters:
    ///   - firstFlight: number above every flight of an earlier ownership, whose tasks may still deliver results.
    package init(_ partition: PartitionID, rules: PartitionRules, seed: UInt64, firstFlight: Int = 0) {
        self.partition = partition
        jobs = Jobs(partition, rules: rules, seed: seed, firstFlight: firstFlight)
    }

    /// Starts reading a topic at a position: when the partition comes, and again if its log turns out to be another
    /// one. Jobs accepted from the old log are finished and get their outcomes, but their offsets mean nothing any
    /// more.
    package mutating func begin(
        _ topic: Topic, at position: Int64, finished: [Int64] = [], completed: [Int64: WallTime] = [:],
        deadLetters: [Int64: LoneDeadLetter] = [:], isNewLog: Bool = false
    ) {
        if isNewLog { jobs.noteNewLog(of: topic, isFirst: positions.finished(topic) == nil) }
        positions.begin(topic, at: position, finished: finished, completed: completed, deadLetters: deadLetters)
        jobs.begin(topic, incarnation: positions.incarnation(topic))
    }

    /// Processes an event with all its consequences, except the work that the runtime does. Permits change, and jobs
    /// are looked up.
    ///
    /// - Parameter lookUp: returns the stored variants for the job's source; nil if the index cannot be read now.
    package mutating func run(
        _ event: PartitionEvent, at now: Moment, permits: inout PermitScheduler, into work: inout [Effect],
        lookUp: (PendingJob) -> SourceSnapshot?
    ) {
        var (effects, next) = effects
        self.effects = ([], [])
        notePass(at: permits.lastPass)
        reduce(event, at: now, into: &next)
        while !next.isEmpty {
            swap(&effects, &next)
            // Taking effects from the end moves them. A copy would cost as much as everything else here.
            effects.reverse()
            while let effect = effects.popLast() {
                switch effect {
                case .lookUp(let pending):
                    if let snapshot = lookUp(pending) {
                        reduce(.found(pending, snapshot), at: now, into: &next)
                    } else {
                        work.append(.await(pending))
                    }
                case .permit(let change): work += permits.apply(change, at: now).map { .tell($0) }
                case .work(let own): work.append(own)
                }
            }
        }
        self.effects = (effects, next)
    }

    package mutating func notePass(at time: WallTime) { jobs.notePass(at: time) }

    /// Appends one event's effects, in order.
    package mutating func reduce(_ event: PartitionEvent, at now: Moment, into effects: inout [JobEffect]) {
        switch event {
        case .arrived(let pending): arrive(pending, now, &effects)
        case .completed(let record, let disposition):
            if receive(record, &effects) { jobs.complete(record, disposition, now, &effects) }
        case .controlled(let control, let record):
            if receive(record, &effects) { jobs.control(control, record, now, &effects) }
        case .parkedBefore(let record):
            if receive(record, &effects) { acknowledged([RecordPlace(record)], &effects) }
        case .resumed(let pending): effects.append(.lookUp(pending))
        case .found(let pending, let snapshot): jobs.begin(pending, snapshot, now, &effects)
        case .granted(let kind, let id, let hold):
            jobs.granted(kind, id, throttledBy: hold, now, &effects)
        case .nearlyFetched(let id): jobs.nearlyFetched(id)
        case .fetched(let id, let picture): jobs.fetched(id, picture, now, &effects)
        case .notModified(let id, let head): jobs.notModified(id, head, now, &effects)
        case .redirected(let id, let redirect): jobs.redirected(id, redirect, now, &effects)
        case .rendered(let id): jobs.rendered(id, &effects)
        case .announced(let id, let original, let rows, let position):
            jobs.announced(id, original, rows, position, now, &effects)
        case .blobsGone(let id, let locations): jobs.blobsGone(id, locations, now, &effects)
        case .looked(let id, let row): jobs.looked(id, row, now, &effects)
        case .refusedVariants(let id, let specs, let note, let made):
            jobs.refused(id, specs, note, made, now, &effects)
        case .unfetched(let id, let report): jobs.unfetched(id, report, now, &effects)
        case .held(let id, let hold): jobs.held(id, hold, now, &effects)
        case .failed(let id, let note):
            jobs.noteDamage(id, note, now)
            jobs.fail(id, note, by: .machine, now, &effects)
        case .unannounced(let id, let note): jobs.fail(id, note, by: .log, now, &effects)
        case .folded(let position): jobs.fold(position, now, &effects)
        case .leaving: jobs.leave(now, &effects)
        case .acknowledged(let places): acknowledged(places, &effects)
        case .tick: jobs.tick(positions, now, &effects)
        }
    }

    private mutating func arrive(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) {
        guard receive(pending.record, &effects) else { return }
        if let cause = positions.cause(of: pending.record) {
            return effects.complete(pending, .dead, failure: cause, at: now)
        }
        jobs.arrive(pending, now, &effects)
    }

    /// Whether the record must be processed.
    private mutating func receive(_ record: Record, _ effects: inout [JobEffect]) -> Bool {
        switch positions.receive(record) {
        case .new: return true
        case .finished(let committable):
            if let committable { effects.append(.work(.commit(record.topic, committable))) }
            return false
        }
    }

    private mutating func acknowledged(_ places: [RecordPlace], _ effects: inout [JobEffect]) {
        jobs.forget(places)
        for (topic, committable) in positions.finish(places) {
            jobs.forgetQuarantined(topic, below: committable)
            effects.append(.work(.commit(topic, committable)))
        }
    }
}

/// Progress of the topics.
extension PartitionState {
    /// Notes that no record of a topic is unfinished, and that the log has no more records below an offset. Returns the
    /// offset if it is committable now.
    package mutating func pass(_ topic: Topic, to offset: Int64) -> Int64? {
        positions.pass(topic, to: offset)
    }

    /// Number of logs that the topic has had before under this owner.
    package func incarnation(_ topic: Topic) -> Int32 { positions.incarnation(topic) }

    /// Finished records of a topic, without those that only the log shows as finished. nil if reading has not begun.
    package func progress(_ topic: Topic) -> TopicProgress? {
        guard let (next, ahead) = positions.finished(topic) else { return nil }
        return TopicProgress(next: next, finished: ahead)
    }

    /// Whether a progress row would omit outcomes that were found in the log.
    package var hasUnprovedOutcomes: Bool { positions.hasUnprovedOutcomes }
    /// Accepted records that are not finished. Reading continues while there is space.
    package var unfinished: Int { positions.unfinished }
    package func unfinished(_ topic: Topic) -> Int { positions.unfinished(topic) }
    /// Finished records behind an unfinished one. A successor processes them again.
    package func finishedAhead(_ topic: Topic) -> Int { positions.finishedAhead(topic) }
    package func finishedRecords(_ topic: Topic) -> FinishedRecords? { positions.finishedRecords(topic) }
    /// Offset below which every record is finished. nil until a record was accepted.
    package func committable(_ topic: Topic) -> Int64? { positions.committable(topic) }
    /// Append time of the oldest unfinished record. nil if all accepted records are finished.
    package func oldestTime(_ topic: Topic) -> WallTime? { positions.oldestTime(topic) }
    /// Bounds of reading ahead: unfinished records, and the span. Both come from one call, because each access to a part of
    /// a class's state copies that part.
    package func reading(_ topic: Topic) -> (unfinished: Int, span: Int) {
        (unfinished(topic), positions.span(topic))
    }
}

/// Queries of the jobs.
extension PartitionState {
    package func has(_ flight: FlightID) -> Bool { jobs.has(flight) }
    package func isAtWork(_ flight: FlightID) -> Bool { jobs.isAtWork(flight) }
    package var isUnderWay: Bool { jobs.isUnderWay }
    package var sourcesUnderWay: Set<SourceKey> { jobs.sourcesUnderWay }
    package func isInFlight(_ source: SourceKey) -> Bool { jobs.isInFlight(source) }
    package var hasFlights: Bool { jobs.hasFlights }
    package var held: [HostLane: Int] { jobs.held }
    package var flightIDs: some Sequence<FlightID> { jobs.flightIDs }
    package func pendingJobs(of flight: FlightID) -> [PendingJob] { jobs.pendingJobs(of: flight) }
    package func beginning(of flight: FlightID) -> Instant? { jobs.beginning(of: flight) }
    package func donorRefusals(of flight: FlightID, at now: WallTime) -> [DonorRefusal] {
        jobs.donorRefusals(of: flight, at: now)
    }
    /// Number of further parked jobs of the host and lane that may start.
    package func room(for share: HostLane, atMost use: Int = .max) -> Int {
        jobs.pauses.holding(ParkedShare(share.host, share.lane)) == nil ? jobs.room(for: share, atMost: use) : 0
    }
    /// Forgets the suspicion of these rows of `parked`: they are deleted, or their jobs have other rows with it.
    package mutating func moved(_ places: [RecordPlace]) { jobs.forget(places) }
    /// Hosts and lanes whose parked jobs are ready: further jobs of theirs are parked behind them.
    package mutating func note(parked: Set<HostLane>) { jobs.parked = parked }
}

/// Controls that stand (`Jobs+Controls`).
extension PartitionState {
    package var controls: Controls { jobs.controls }
    /// Controls without an unfinished record from before them.
    package var passedControls: [Controls.Standing] {
        jobs.passedControls { positions.committable($0) }
    }
    /// Notes the ends of the lanes, for controls that were read before the log was asked.
    package mutating func bound(_ controls: Set<RecordPlace>, _ ends: [Topic: Int64]) { jobs.bound(controls, ends) }
    package mutating func count(_ control: RecordPlace, jobs count: Int) { jobs.count(control, jobs: count) }
    package mutating func endControl(_ place: RecordPlace, at now: WallTime) -> ControlOutcome? {
        jobs.endControl(place, at: now)
    }
    package var pauses: Pauses { jobs.pauses }
    package mutating func recordedPauses(_ row: [Pause]) -> [Pauses.Decided] { jobs.recordedPauses(row) }
}

/// Queries and changes of quarantined jobs (`Jobs+Quarantine`).
extension PartitionState {
    package var quarantined: QuarantinedJobs { jobs.quarantined }
    package mutating func takeOver(_ left: ProgressRow?, isOwn: Bool) { jobs.takeOver(left, isOwn: isOwn) }
    package mutating func outliveCrashes() { jobs.outliveCrashes() }
    package mutating func awaitsName(_ grant: Naming.Grant, at now: Instant) -> Bool {
        jobs.awaitsName(grant, at: now)
    }
    package var awaitsNames: Bool { jobs.awaitsNames }
    package mutating func beginNaming() -> Set<RecordPlace> { jobs.beginNaming() }
    package mutating func named(by row: ProgressRow, at now: Instant) -> [Naming.Grant] {
        jobs.named(by: row, at: now)
    }
    package mutating func abandonNaming() -> [Naming.Grant] { jobs.abandonNaming() }
    package mutating func abandonLateNaming(at now: Instant) -> [Naming.Grant] { jobs.abandonLateNaming(at: now) }
    package var namedStill: Set<RecordPlace> { jobs.namedStill }
    package mutating func forgetNames(but row: ProgressRow) { jobs.forgetNames(but: row) }
}
