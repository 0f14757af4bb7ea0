internal import Canonical
package import Clocks
package import Failures
internal import Hosts
package import Ledger
package import Permits
internal import Positions
package import Records

/// The jobs of one partition that are in memory: those of flights, those that wait for their time, and what is remembered
/// of sources and hosts for them.
///
/// It never awaits, reads a clock, or touches a file, so the same code runs under a simulator. Chance comes from a seed.
package struct Jobs: ~Copyable, Sendable {
    let partition: PartitionID
    package let rules: PartitionRules
    var flights = FlightTable()
    var refusals = RecentRefusals()
    var origins = RecentOrigins()
    var hostJobs = HostJobs()
    var waits = ShortWaits()
    /// What earlier owners may have died of.
    package var suspects = Suspects()
    /// Flights that fetch, or did at the last tick.
    var fetching: Set<FlightID> = []
    /// Flights whose answers wait for the index, by the position they wait for.
    var folding = Heap<Folding>()
    var folded: Int64 = 0
    /// When a flight's work was last stored and announced: by this worker, and in this partition.
    package internal(set) var lastPass: (worker: WallTime, partition: WallTime) = (.distantPast, .distantPast)
    /// Sources that were answered for by what is fresh no longer, and that a job of ours asks for again.
    var owed: [SourceKey: Owed] = [:]
    /// Changes of sources that this owner has told of.
    var toldChanges: Set<String> = []
    /// It goes to another owner.
    var isLeaving = false
    /// Counts the logs that each topic has had under this owner: records of an earlier one do not come again.
    var incarnations = ByTopic<Int32>(repeating: 0)
    private var flightCount: Int
    private var random: SplitMix64

    /// - Parameter firstFlight: above every flight of an earlier ownership, whose tasks may still bring results.
    package init(_ partition: PartitionID, rules: PartitionRules, seed: UInt64, firstFlight: Int) {
        (self.partition, self.rules, flightCount) = (partition, rules, firstFlight)
        random = SplitMix64(state: seed)
    }

    /// This worker last got a flight's work through then, in whatever partition.
    package mutating func notePass(at time: WallTime) { lastPass.worker = time }

    /// A topic is read from a position on, as `PartitionState.begin` says.
    package mutating func begin(
        _ topic: Topic, at position: Int64, incarnation: Int32, waits: [TopicProgress.Wait], end: Int64?
    ) {
        incarnations[topic] = incarnation
        if let end { hostJobs.begin(topic, at: position, end: end) }
        self.waits.begin(topic, waits, incarnation: incarnation)
    }

    /// Answers of these records are acknowledged.
    package mutating func forget(_ places: [RecordPlace]) {
        waits.forget(places)
        for place in places { suspects.clear(place) }
    }

    /// A flight of an ownership that is over says nothing of this machine now, nor of the partition.
    package mutating func fail(
        _ id: FlightID, _ note: FailureNote, by obstacle: PermitScheduler.Obstacle, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        guard let flight = flights[id] else { return }
        // What other partitions' logs take says nothing of this one's.
        let lastPass = obstacle == .log ? lastPass.partition : lastPass.worker
        if note.verdict == .wait, !flight.isHeldAlone(lastPass) { effects.append(.permit(.fail(id, obstacle))) }
        end(id, note, lastPass, now, &effects)
    }

    /// What waits for a permit is another owner's, and answers wait for the index no more, which is not read any further.
    package mutating func leave(_ now: Moment, _ effects: inout [JobEffect]) {
        isLeaving = true
        for flight in flights.all where flight.course == nil { effects.append(.permit(.forget(flight.id))) }
        for flight in flights.all where flight.redirect != nil { leave(flight, &effects) }
        while let done = folding.pop() { finish(done.flight, now, &effects) }
    }

    mutating func nextFlight() -> FlightID {
        flightCount += 1
        return FlightID(partition, flightCount)
    }

    /// Between 0 and 1, so that jobs that failed together do not come back together.
    mutating func jitter() -> Double { Double(random.next() >> 11) * 0x1p-53 }
}

struct Folding: Comparable, Sendable {
    let position: Int64
    let flight: FlightID
    static func < (a: Self, b: Self) -> Bool { (a.position, a.flight) < (b.position, b.flight) }
}
