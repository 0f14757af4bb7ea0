package import Canonical
package import Clocks
internal import Failures
package import Hosts
package import ImageModel
package import Ledger
package import Permits
internal import Planning
package import Positions
package import Records
internal import VariantSpec

/// One partition's flights, pending jobs, retries and committable offsets: events in, effects out.
///
/// It never awaits, reads a clock, or touches a file, so the same code runs under a simulator. Chance comes
/// from a seed.
package struct PartitionState: ~Copyable, Sendable {
    package let partition: PartitionID
    package let rules: PartitionRules
    var flights: [FlightID: Flight] = [:]
    var bySource: [SourceKey: FlightID] = [:]
    var positions = Positions()
    var refusals = RecentRefusals()
    var origins = RecentOrigins()
    package internal(set) var hostJobs = HostJobs()
    var waits = ShortWaits()
    /// Flights that fetch, or did at the last tick.
    var fetching: Set<FlightID> = []
    /// Flights whose answers wait for the index, by the position they wait for.
    var folding = Heap<Folding>()
    var folded: Int64 = 0
    /// When a flight's work was last stored and announced: by this worker, and in this partition.
    package var lastPass: (worker: WallTime, partition: WallTime) = (.distantPast, .distantPast)
    /// Sources that were answered for by what is fresh no longer, and that a job of ours asks for again.
    var owed: [SourceKey: Owed] = [:]
    /// Changes of sources that this owner has told of.
    var toldChanges: Set<String> = []
    /// What earlier owners may have died of.
    package var suspects = Suspects()
    /// It goes to another owner.
    var isLeaving = false
    /// Reused between events.
    private var effects: ([PartitionEffect], [PartitionEffect]) = ([], [])
    private var flightCount: Int
    private var random: SplitMix64

    /// - Parameters:
    ///   - firstFlight: above every flight of an earlier ownership, whose tasks may still bring results.
    package init(_ partition: PartitionID, rules: PartitionRules, seed: UInt64, firstFlight: Int = 0) {
        (self.partition, self.rules, flightCount) = (partition, rules, firstFlight)
        random = SplitMix64(state: seed)
    }

    /// A topic is read from a position on: when the partition comes, and again where its log turns out to be another one.
    /// Jobs that were taken up from the old log are finished and answered; their offsets mean nothing any more.
    package mutating func begin(
        _ topic: Topic, at position: Int64, finished: [Int64] = [], answered: [Int64: WallTime] = [:],
        letters: [Int64: LoneLetter] = [:], waits: [TopicProgress.Wait] = [], end: Int64? = nil
    ) {
        if let end { hostJobs.begin(topic, at: position, end: end) }
        positions.begin(topic, at: position, finished: finished, answered: answered, letters: letters)
        self.waits.begin(topic, waits, incarnation: incarnation(topic))
    }

    /// Nothing of a topic is unfinished, and the log has no more records below an offset: returns that, if it is committable now.
    package mutating func pass(_ topic: Topic, to offset: Int64) -> Int64? {
        positions.pass(topic, to: offset)
    }

    /// Counts the logs that the topic has had under this owner.
    package func incarnation(_ topic: Topic) -> Int32 { positions.incarnation(topic) }

    /// What is finished of a topic, less what only the log knows; nil if it was not begun.
    package func progress(_ topic: Topic) -> TopicProgress? {
        guard let (next, ahead) = positions.finished(topic) else { return nil }
        return TopicProgress(
            next: next, finished: ahead,
            waits: waits.progress(topic, incarnation: incarnation(topic), from: next))
    }

    /// Whether a progress row would not tell of answers that were found in the log.
    package var hasUnprovedAnswers: Bool { positions.hasUnprovedAnswers }
    /// Records taken up and not finished: reading goes on while there is room.
    package var unfinished: Int { positions.unfinished }
    package func unfinished(_ topic: Topic) -> Int { positions.unfinished(topic) }
    /// Records from the oldest unfinished one to the last that was taken up.
    package func span(_ topic: Topic) -> Int { positions.span(topic) }
    /// Finished records that a successor does again: one before them is not finished.
    package func finishedAhead(_ topic: Topic) -> Int { positions.finishedAhead(topic) }
    package func finishedRecords(_ topic: Topic) -> FinishedRecords? { positions.finishedRecords(topic) }
    /// Every record before it is finished; nil until one was taken up.
    package func committable(_ topic: Topic) -> Int64? { positions.committable(topic) }
    /// When the oldest unfinished record was appended; nil if all that was taken up is finished.
    package func oldestTime(_ topic: Topic) -> WallTime? { positions.oldestTime(topic) }
    /// Of the unfinished ones, those that wait in memory for their time.
    package func waiting(_ topic: Topic) -> Int { waits.count(topic) }
    /// What bounds how much is read ahead: unfinished records less those that wait in memory, and the span. Asked together:
    /// each question to a part of a class's state is one to a copy of it.
    package func reading(_ topic: Topic) -> (unfinished: Int, span: Int) {
        (unfinished(topic) - waiting(topic), span(topic))
    }
    package func has(_ flight: FlightID) -> Bool { flights[flight] != nil }
    /// Whether the flight has had a permit.
    package func hasBegun(_ flight: FlightID) -> Bool { flights[flight]?.course != nil }
    /// Whether a fetch, or a render and what follows it, runs for the flight.
    package func isAtWork(_ flight: FlightID) -> Bool { flights[flight]?.isAtWork ?? false }
    /// Whether a flight that has had a permit is not over.
    package var isUnderWay: Bool { flights.values.contains { $0.course != nil } }
    package func isInFlight(_ source: SourceKey) -> Bool { bySource[source] != nil }
    package var hasFlights: Bool { !flights.isEmpty }
    package var flightIDs: some Sequence<FlightID> { flights.keys }

    /// An event, and all that follows from it but the work that the runtime does: permits change, and jobs are looked up.
    ///
    /// - Parameter lookUp: what is stored for the job's source; nil if that cannot be told now.
    package mutating func run(
        _ event: PartitionEvent, at now: Moment, permits: inout PermitScheduler, into work: inout [PartitionWork],
        lookUp: (PendingJob) -> SourceSnapshot?
    ) {
        var (effects, next) = effects
        self.effects = ([], [])
        lastPass.worker = permits.lastPass
        reduce(event, at: now, into: &next)
        while !next.isEmpty {
            swap(&effects, &next)
            // What is taken from the end is moved; a copy would cost as much as all else here.
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

    /// One event's effects, in order.
    package mutating func reduce(_ event: PartitionEvent, at now: Moment, into effects: inout [PartitionEffect]) {
        switch event {
        case .arrived(let pending): arrive(pending, now, &effects)
        case .answered(let record, let disposition):
            if receive(record, &effects) { effects.append(.work(.answer(record, disposition))) }
            noteRead(record)
        case .resumed(let pending): effects.append(.lookUp(pending))
        case .found(let pending, let snapshot): begin(pending, snapshot, now, &effects)
        case .granted(let kind, let id, let hold):
            if let hold, let held = flights[id]?.pendingJobs.map({ $0.held(by: hold) }) {
                flights[id]?.pendingJobs = held
            }
            granted(kind, id, now, &effects)
        case .fetched(let id, let picture): fetched(id, picture, now, &effects)
        case .notModified(let id, let head): notModified(id, head, now, &effects)
        case .redirected(let id, let redirect): redirected(id, redirect, now, &effects)
        case .rendered(let id): rendered(id, &effects)
        case .announced(let id, let original, let rows, let position):
            announced(id, original, rows, position, now, &effects)
        case .blobsGone(let id, let locations): blobsGone(id, locations, now, &effects)
        case .looked(let id, let row): looked(id, row, now, &effects)
        case .refusedVariants(let id, let specs, let note, let made):
            refused(id, specs, note, made, now, &effects)
        case .unfetched(let id, let report): unfetched(id, report, now, &effects)
        case .held(let id, let hold): held(id, hold, now, &effects)
        case .failed(let id, let note):
            noteDamage(id, note, now)
            fail(id, note, by: .machine, lastPass.worker, now, &effects)
        // What other partitions' logs take says nothing of this one's.
        case .unannounced(let id, let note): fail(id, note, by: .log, lastPass.partition, now, &effects)
        case .folded(let position): fold(position, now, &effects)
        case .fencedAgain(let position): fencedAgain(position, &effects)
        case .leaving: leave(now, &effects)
        case .acknowledged(let places): acknowledged(places, &effects)
        case .tick: tick(now, &effects)
        }
    }

    /// A flight of an ownership that is over says nothing of this machine now, nor of the partition.
    mutating func fail(
        _ id: FlightID, _ note: FailureNote, by obstacle: PermitScheduler.Obstacle, _ lastPass: WallTime, _ now: Moment,
        _ effects: inout [PartitionEffect]
    ) {
        guard let flight = flights[id] else { return }
        if note.verdict == .wait, !flight.isHeldAlone(lastPass) { effects.append(.permit(.fail(id, obstacle))) }
        end(id, note, lastPass, now, &effects)
    }

    private mutating func leave(_ now: Moment, _ effects: inout [PartitionEffect]) {
        isLeaving = true
        for (id, flight) in flights where flight.course == nil { effects.append(.permit(.forget(id))) }
        for flight in flights.values where flight.redirect != nil { leave(flight, &effects) }
        while let done = folding.pop() { finish(done.flight, now, &effects) }
    }

    /// Whether the record is to be done.
    mutating func receive(_ record: Record, _ effects: inout [PartitionEffect]) -> Bool {
        switch positions.receive(record) {
        case .new: return true
        case .finished(let committable):
            if let committable { effects.append(.work(.commit(record.topic, committable))) }
            return false
        }
    }

    mutating func nextFlight() -> FlightID {
        flightCount += 1
        return FlightID(partition, flightCount)
    }

    /// Between 0 and 1, so that jobs that failed together do not come back together.
    mutating func jitter() -> Double { Double(random.next() >> 11) * 0x1p-53 }

    private mutating func acknowledged(_ places: [RecordPlace], _ effects: inout [PartitionEffect]) {
        waits.forget(places)
        for place in places { suspects.clear(place) }
        for (topic, committable) in positions.finish(places) {
            suspects.forget(topic, below: committable)
            effects.append(.work(.commit(topic, committable)))
        }
    }
}

struct Folding: Comparable, Sendable {
    let position: Int64
    let flight: FlightID
    static func < (a: Self, b: Self) -> Bool { (a.position, a.flight) < (b.position, b.flight) }
}
