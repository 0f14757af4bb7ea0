package import Canonical
internal import Failures
internal import Planning
package import Records
internal import VariantSpec

/// One partition's flights, waiters, retries and committable offsets: events in, effects out.
///
/// It never awaits, reads a clock, or touches a file, so the same code runs under a simulator. Times are milliseconds
/// since 1970; chance comes from a seed.
package struct PartitionState: Sendable {
    package let partition: PartitionID
    package let rules: PartitionRules
    var flights: [FlightID: Flight] = [:]
    var bySource: [SourceKey: FlightID] = [:]
    package internal(set) var committable: [Topic: CommittableOffset] = [:]
    var recentAnswers = RecentAnswers()
    var delayed = Heap<Delayed>()
    /// Flights whose answers wait for the index, by the position they wait for.
    var folding = Heap<Folding>()
    var folded: Int64 = 0
    private var flightCount: Int
    private var delayCount = 0
    /// Retries are left unread until then: more wait than are kept.
    var retriesRest: Int64 = 0
    private var random: SplitMix64

    /// - Parameters:
    ///   - firstFlight: above every flight of an earlier ownership, whose tasks may still bring results.
    package init(_ partition: PartitionID, rules: PartitionRules, seed: UInt64, firstFlight: Int = 0) {
        (self.partition, self.rules, flightCount) = (partition, rules, firstFlight)
        random = SplitMix64(state: seed)
    }

    /// A topic is read from a position on: when the partition comes, and again where its log turns out to be another one.
    /// Jobs that were taken up from the old log are finished and answered; their offsets mean nothing any more.
    package mutating func begin(_ topic: Topic, at position: Int64, finished: [Int64] = []) {
        let incarnation = committable[topic].map { $0.incarnation &+ 1 } ?? 0
        committable[topic] = CommittableOffset(from: position, finished: finished, incarnation: incarnation)
    }

    /// Counts the logs that the topic has had under this owner.
    package func incarnation(_ topic: Topic) -> Int32 { committable[topic]?.incarnation ?? 0 }

    /// What is finished of a topic, less what only the log knows; nil if it was not begun.
    package func progress(_ topic: Topic) -> TopicProgress? {
        guard let mark = committable[topic], let next = mark.value else { return nil }
        return TopicProgress(next: next, finished: mark.finishedOffsets)
    }

    /// Records taken up and not finished: reading goes on while there is room.
    package var unfinished: Int { committable.values.reduce(0) { $0 + $1.unfinished } }
    package func unfinished(_ topic: Topic) -> Int { committable[topic]?.unfinished ?? 0 }
    /// Records from the oldest unfinished one to the last that was taken up.
    package func span(_ topic: Topic) -> Int { committable[topic]?.span ?? 0 }
    /// Finished records that a successor does again: one before them is not finished.
    package func finishedAhead(_ topic: Topic) -> Int { committable[topic]?.finishedAhead ?? 0 }
    /// Every record before it is finished; nil until one was taken up.
    package func committable(_ topic: Topic) -> Int64? { committable[topic]?.value }
    /// When the oldest unfinished record was appended, milliseconds since 1970; nil if all that was taken up is finished.
    package func oldestTime(_ topic: Topic) -> Int64? { committable[topic]?.oldestTime }
    /// Whether records of a topic may be taken up now, as far as there is room.
    package func takes(_ topic: Topic, at now: Int64) -> Bool { topic != .retry || now >= retriesRest }
    package func has(_ flight: FlightID) -> Bool { flights[flight] != nil }
    /// Whether the flight has had a permit.
    package func hasBegun(_ flight: FlightID) -> Bool { flights[flight]?.started != nil }
    /// Whether a fetch, or a render and what follows it, runs for the flight.
    package func isAtWork(_ flight: FlightID) -> Bool {
        flights[flight].map { $0.stage == .fetching || $0.stage == .rendering } ?? false
    }
    /// Whether a flight that has had a permit is not over.
    package var isUnderWay: Bool { flights.values.contains { $0.started != nil } }
    package func isInFlight(_ source: SourceKey) -> Bool { bySource[source] != nil }
    package var hasFlights: Bool { !flights.isEmpty }
    package var flightIDs: some Sequence<FlightID> { flights.keys }

    package mutating func reduce(_ event: PartitionEvent, at now: Int64, into effects: inout [PartitionEffect]) {
        switch event {
        case .arrived(let waiter): arrive(waiter, now, &effects)
        case .answered(let record, let settlement):
            if receive(record, &effects) { effects.append(.settle(record, settlement)) }
        case .found(let waiter, let snapshot): begin(waiter, snapshot, now, &effects)
        case .granted(let kind, let id): granted(kind, id, now, &effects)
        case .fetched(let id, let facts): fetched(id, facts, now, &effects)
        case .rendered(let id): effects.append(.release(.render, id))
        case .announced(let id, let task, let source, let rows, let position):
            announced(id, task, source, rows, position, now, &effects)
        case .blobsGone(let id, let locations): blobsGone(id, locations, now, &effects)
        case .refusedVariant(let id, let spec, let note): refused(id, spec, note, now, &effects)
        // A flight of an ownership that is over says nothing of this machine now, nor of the partition.
        case .failed(let id, let note):
            guard flights[id] != nil else { return }
            if note.verdict == .wait { effects.append(.halt(id)) }
            end(id, note, now, &effects)
        case .unannounced(let id, let note):
            guard flights[id] != nil else { return }
            if note.verdict == .wait { effects.append(.hold(id)) }
            end(id, note, now, &effects)
        case .folded(let position): fold(position, now, &effects)
        case .settled(let places): settled(places, &effects)
        case .tick: tick(now, &effects)
        }
    }

    mutating func receive(_ record: Record, _ effects: inout [PartitionEffect]) -> Bool {
        // Read before its log was replaced: its job is done like any other, and no offset waits for it.
        guard record.incarnation == incarnation(record.topic) else { return true }
        if committable[record.topic, default: CommittableOffset()].receive(record.offset, appended: record.timestamp) {
            return true
        }
        // Finished in an earlier ownership, and so is all before it.
        if unfinished(record.topic) == 0, let value = committable(record.topic) {
            effects.append(.commit(record.topic, value))
        }
        return false
    }

    mutating func nextFlight() -> FlightID {
        flightCount += 1
        return FlightID(partition, flightCount)
    }

    mutating func delay(_ waiter: Waiter) {
        delayCount += 1
        delayed.push(Delayed(due: waiter.due, number: delayCount, waiter: waiter))
    }

    /// When a job that failed now is tried again.
    mutating func retryTime(after attempts: Int, _ now: Int64) -> Int64 {
        now + rules.retry.delay(after: attempts, jitter: Double(random.next() >> 11) * 0x1p-53)
    }

    private mutating func settled(_ places: [RecordPlace], _ effects: inout [PartitionEffect]) {
        var moved: Set<Topic> = []
        for place in places where place.incarnation == incarnation(place.topic) {
            if committable[place.topic]?.finish(place.offset) == true { moved.insert(place.topic) }
        }
        for topic in Topic.consumed where moved.contains(topic) {
            if let value = committable[topic]?.value { effects.append(.commit(topic, value)) }
        }
    }
}

struct Delayed: Comparable, Sendable {
    let due: Int64
    let number: Int
    let waiter: Waiter
    static func < (a: Self, b: Self) -> Bool { (a.due, a.number) < (b.due, b.number) }
    static func == (a: Self, b: Self) -> Bool { a.number == b.number }
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
