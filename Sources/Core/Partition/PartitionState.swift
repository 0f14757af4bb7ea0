package import Canonical
internal import Failures
package import ImageModel
internal import Planning
package import Records
internal import VariantSpec

/// One partition's flights, pending jobs, retries and committable offsets: events in, effects out.
///
/// It never awaits, reads a clock, or touches a file, so the same code runs under a simulator. Times are milliseconds
/// since 1970; chance comes from a seed.
package struct PartitionState: ~Copyable, Sendable {
    package let partition: PartitionID
    package let rules: PartitionRules
    var flights: [FlightID: Flight] = [:]
    var bySource: [SourceKey: FlightID] = [:]
    /// nil of a topic that was not begun.
    var committable = ByTopic<CommittableOffset?>(repeating: nil)
    var refusals = RecentRefusals()
    var origins = RecentOrigins()
    /// Jobs that went to tiers for the sake of their host, and are not back: of this owner's, more may be there.
    package internal(set) var jobsAway: [OriginHost: [Lane: Int]] = [:]
    /// Fast ones among them whose host has not failed: they do not become slow while they wait.
    var urgentAway: [OriginHost: Int] = [:]
    /// The same of earlier owners', as far as they told.
    var jobsLeftAway = JobsLeftAway()
    /// Jobs that flights of a host hold, by the flight's lane.
    package internal(set) var hostJobs: [HostLane: Int] = [:]
    var waits = ShortWaits()
    /// Jobs that were put off in memory, until they are answered: their records do not tell how often they were tried.
    var tried: [RecordPlace: PendingJob] = [:]
    /// The same of an earlier owner's, until their records come.
    var inherited: [RecordPlace: TopicProgress.Wait] = [:]
    /// Records with a dead letter of an earlier owner's, until their outcomes are durable.
    var letters: [RecordPlace: LoneLetter] = [:]
    /// Flights that fetch, or did at the last tick.
    var fetching: Set<FlightID> = []
    /// Flights whose answers wait for the index, by the position they wait for.
    var folding = Heap<Folding>()
    var folded: Int64 = 0
    /// When a flight's work was last stored and announced: by this worker, and in this partition. Milliseconds since 1970.
    package var lastPass: (worker: Int64, partition: Int64) = (0, 0)
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
        _ topic: Topic, at position: Int64, finished: [Int64] = [], answered: [Int64: Int64] = [:],
        letters: [Int64: LoneLetter] = [:], waits: [TopicProgress.Wait] = [], end: Int64? = nil
    ) {
        if let end { jobsLeftAway.begin(topic, at: position, end: end) }
        let incarnation = committable[topic].map { $0.incarnation &+ 1 } ?? 0
        inherited = inherited.filter { $0.key.topic != topic }
        for wait in waits { inherited[RecordPlace(topic, wait.offset, incarnation: incarnation)] = wait }
        self.letters = self.letters.filter { $0.key.topic != topic }
        for (offset, letter) in letters where offset >= position {
            self.letters[RecordPlace(topic, offset, incarnation: incarnation)] = letter
        }
        committable[topic] = CommittableOffset(
            from: position, finished: finished, answered: answered, incarnation: incarnation)
    }

    /// Nothing of a topic is unfinished, and the log has no more records below an offset: returns that, if it is committable now.
    package mutating func pass(_ topic: Topic, to offset: Int64) -> Int64? {
        committable[topic]?.pass(to: offset) == true ? offset : nil
    }

    /// Counts the logs that the topic has had under this owner.
    package func incarnation(_ topic: Topic) -> Int32 { committable[topic]?.incarnation ?? 0 }

    /// What is finished of a topic, less what only the log knows; nil if it was not begun.
    package func progress(_ topic: Topic) -> TopicProgress? {
        guard let offsets = committable[topic], let next = offsets.value else { return nil }
        return TopicProgress(next: next, finished: offsets.finishedOffsets, waits: waits(topic, from: next))
    }

    /// Of jobs that wait in memory or were there, what their records do not tell, by offset.
    private func waits(_ topic: Topic, from next: Int64) -> [TopicProgress.Wait] {
        if tried.isEmpty, inherited.isEmpty { return [] }
        let incarnation = incarnation(topic)
        let own = tried.lazy.filter { $0.key.topic == topic && $0.key.incarnation == incarnation }.map {
            TopicProgress.Wait(
                offset: $0.key.offset, attempts: $0.value.attempts, notBefore: $0.value.notBefore,
                heldSince: $0.value.heldSince, failingSince: $0.value.failingSince, code: $0.value.lastCode)
        }
        let left = inherited.lazy.filter { $0.key.topic == topic && $0.key.offset >= next }.map(\.value)
        return (Array(own) + left).sorted { $0.offset < $1.offset }
    }

    /// Whether a progress row would not tell of answers that were found in the log.
    package var hasUnprovedAnswers: Bool {
        !letters.isEmpty || committable.contains { $0?.hasUnprovedAnswers ?? false }
    }
    /// Records taken up and not finished: reading goes on while there is room.
    package var unfinished: Int { Topic.consumed.reduce(0) { $0 + unfinished($1) } }
    package func unfinished(_ topic: Topic) -> Int { committable[topic]?.unfinished ?? 0 }
    /// Records from the oldest unfinished one to the last that was taken up.
    package func span(_ topic: Topic) -> Int { committable[topic]?.span ?? 0 }
    /// Finished records that a successor does again: one before them is not finished.
    package func finishedAhead(_ topic: Topic) -> Int { committable[topic]?.finishedAhead ?? 0 }
    package func finishedRecords(_ topic: Topic) -> FinishedRecords? { committable[topic]?.finishedRecords }
    /// Every record before it is finished; nil until one was taken up.
    package func committable(_ topic: Topic) -> Int64? { committable[topic]?.value }
    /// When the oldest unfinished record was appended, milliseconds since 1970; nil if all that was taken up is finished.
    package func oldestTime(_ topic: Topic) -> Int64? { committable[topic]?.oldestTime }
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
                case .permit(let change): permits.apply(change, at: now, into: &work)
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
        _ id: FlightID, _ note: FailureNote, by obstacle: PermitScheduler.Obstacle, _ lastPass: Int64, _ now: Moment,
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

    mutating func receive(_ record: Record, _ effects: inout [PartitionEffect]) -> Bool {
        // Read before its log was replaced: its job is done like any other, and no offset waits for it.
        guard record.incarnation == incarnation(record.topic) else { return true }
        guard let isNew = committable[record.topic]?.receive(record.offset, appended: record.timestamp) else {
            begin(record.topic, at: record.offset)
            return receive(record, &effects)
        }
        if isNew { return true }
        // Finished in an earlier ownership, and so is all before it.
        letters[RecordPlace(record)] = nil
        if unfinished(record.topic) == 0, let value = committable(record.topic) {
            effects.append(.work(.commit(record.topic, value)))
        }
        return false
    }

    mutating func nextFlight() -> FlightID {
        flightCount += 1
        return FlightID(partition, flightCount)
    }

    /// Between 0 and 1, so that jobs that failed together do not come back together.
    mutating func jitter() -> Double { Double(random.next() >> 11) * 0x1p-53 }

    private mutating func acknowledged(_ places: [RecordPlace], _ effects: inout [PartitionEffect]) {
        var moved = ByTopic(repeating: false)
        for place in places where !tried.isEmpty || !inherited.isEmpty {
            (tried[place], inherited[place]) = (nil, nil)
        }
        for place in places { suspects.clear(place) }
        for place in places where place.incarnation == incarnation(place.topic) {
            if committable[place.topic]?.finish(place.offset) == true { moved[place.topic] = true }
        }
        for topic in Topic.consumed where moved[topic] {
            guard let value = committable[topic]?.value else { continue }
            suspects.forget(topic, below: value)
            // Those that were left out of the log went with their letters.
            if !letters.isEmpty { letters = letters.filter { $0.key.topic != topic || $0.key.offset >= value } }
            effects.append(.work(.commit(topic, value)))
        }
    }
}

struct Folding: Comparable, Sendable {
    let position: Int64
    let flight: FlightID
    static func < (a: Self, b: Self) -> Bool { (a.position, a.flight) < (b.position, b.flight) }
}

/// Small seeded generator (Steele, Lea, Flood 2014), so that a simulation repeats.
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
