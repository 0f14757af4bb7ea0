internal import Canonical
package import Clocks
package import Failures
package import Hosts
package import Ledger
package import Permits
internal import Positions
package import Quarantine
package import Records

/// The jobs of one partition that are in memory, in flights. It also keeps the state of sources and hosts that they need.
///
/// It never awaits, reads a clock, or touches a file, so the same code runs under a simulator. Random numbers come from
/// a seed.
package struct Jobs: ~Copyable, Sendable {
    let partition: PartitionID
    package let rules: PartitionRules
    var flights = FlightTable()
    var refusals = RecentRefusals()
    var origins = RecentOrigins()
    /// Jobs that may have crashed earlier owners, and flights that start once a row names them (`Jobs+Quarantine`).
    package internal(set) var quarantined = QuarantinedJobs()
    var naming = Naming()
    /// Hosts and lanes whose parked jobs are ready to start.
    package var parked: Set<HostLane> = []
    /// Flights that fetch, or did at the last tick.
    var fetching: Set<FlightID> = []
    /// Flights whose outcomes wait for the index, by the position that they wait for.
    var folding = Heap<Folding>()
    var folded: Int64 = 0
    /// Times when a flight's results were last stored and announced: by this worker, and in this partition.
    package internal(set) var lastPass: (worker: WallTime, partition: WallTime) = (.distantPast, .distantPast)
    /// Sources for which stale variants were returned, and which a job of the worker's own requests again.
    var scheduled: [SourceKey: ScheduledRefresh] = [:]
    /// Changes of sources that this owner has reported.
    var reportedChanges: Set<String> = []
    /// Controls that apply to jobs which are not read yet, or whose rows are not examined yet.
    package internal(set) var controls = Controls()
    package internal(set) var pauses = Pauses()
    /// Whether the partition goes to another owner.
    var isLeaving = false
    /// Number of logs that each topic has had before under this owner. Records of an earlier log do not return.
    var incarnations = ByTopic<Int32>(repeating: 0)
    /// Number of jobs that were parked while their flights ran.
    var runningCount: Int64 = 0
    private var flightCount: Int
    private var random: SplitMix64

    /// - Parameter firstFlight: number above every flight of an earlier ownership, whose tasks may still deliver
    ///   results.
    package init(_ partition: PartitionID, rules: PartitionRules, seed: UInt64, firstFlight: Int) {
        (self.partition, self.rules, flightCount) = (partition, rules, firstFlight)
        random = SplitMix64(state: seed)
    }

    /// Notes when this worker last completed a flight's work, in any partition.
    package mutating func notePass(at time: WallTime) { lastPass.worker = time }

    /// Starts reading a topic. See `PartitionState.begin`.
    package mutating func begin(_ topic: Topic, incarnation: Int32) { incarnations[topic] = incarnation }

    /// Forgets records whose outcomes are acknowledged.
    package mutating func forget(_ places: [RecordPlace]) {
        clear(places)
    }

    /// Fails a flight. A flight that is not known is from an ownership that is over, and shows nothing about this
    /// machine now, nor about the partition.
    package mutating func fail(
        _ id: FlightID, _ note: FailureNote, by obstacle: PermitScheduler.Obstacle, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        guard let flight = flights[id] else { return }
        // The logs of other partitions show nothing about this one's.
        let lastPass = obstacle == .log ? lastPass.partition : lastPass.worker
        if note.verdict == .wait, !flight.isHeldAlone(lastPass) { effects.append(.permit(.fail(id, obstacle))) }
        end(id, note, lastPass, now, &effects)
    }

    /// Prepares for another owner. Flights that wait for a permit are released, and outcomes wait for the index no
    /// more, because it reads no further.
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

    /// A random number between 0 and 1, so that jobs that failed together do not return together.
    mutating func jitter() -> Double { Double(random.next() >> 11) * 0x1p-53 }
}

struct Folding: Comparable, Sendable {
    let position: Int64
    let flight: FlightID
    static func < (a: Self, b: Self) -> Bool { (a.position, a.flight) < (b.position, b.flight) }
}
