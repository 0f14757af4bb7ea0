import Canonical
import Clocks
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Planning
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Circuit breakers, and clocks that are set", .timeLimit(.minutes(1)))
struct CircuitBreakerTests {
    enum Step {
        case fails(Int)
        case passes(Int)
        case ends(Int)
        case grants(Int, at: Moment)
        case grantsNothing(at: Moment)
    }

    /// One permit of each kind; flights 1 to 9 ask for a fetch, of whom 1 has it. A probe may begin each 2,000 ms.
    @Test(
        "Closed, open, half open: what each step comes to",
        arguments: [
            (
                "a failure opens it, and a probe goes on later",
                [.fails(1), .grantsNothing(at: 1_999), .grants(2, at: 2_000)]
            ),
            (
                "a probe that fails is followed when it is time",
                [.fails(1), .grants(2, at: 2_000), .fails(2), .grantsNothing(at: 3_999), .grants(3, at: 4_000)]
            ),
            (
                "a probe that ends by its own fault is followed at once",
                [.fails(1), .grants(2, at: 2_000), .ends(2), .grants(3, at: 2_001), .ends(3), .grants(4, at: 2_002)]
            ),
            (
                "a probe that gets through closes it",
                [
                    .fails(1), .grants(2, at: 2_000), .passes(2), .grants(3, at: 2_001), .passes(3),
                    .grants(4, at: 2_002),
                ]
            ),
        ] as [(String, [Step])], [PermitScheduler.Obstacle.machine, .log])
    func steps(row: (name: String, steps: [Step]), obstacle: PermitScheduler.Obstacle) {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        func id(_ number: Int) -> FlightID { FlightID(PartitionID(0), number) }
        for number in 1...9 { permits.request(.fetch, id(number), lane: .fast, since: WallTime(number)) }
        var granted = permits.grants(at: 0).map(\.flight.number)
        #expect(granted == [1])
        for step in row.steps {
            switch step {
            case .fails(let number):
                _ = permits.fail(id(number), by: obstacle, at: number == 1 ? 0 : 2_000)
                permits.forget(id(number))
            case .passes(let number):
                let closed = permits.pass(id(number))
                #expect(closed == (number == 2 ? [obstacle] : []))
                permits.forget(id(number))
            case .ends(let number): permits.forget(id(number))
            case .grants(let number, let now):
                granted = permits.grants(at: now).map(\.flight.number)
                #expect(granted == [number], "\(row.name), at \(now)")
            case .grantsNothing(let now):
                granted = permits.grants(at: now).map(\.flight.number)
                #expect(granted.isEmpty, "\(row.name), at \(now)")
            }
        }
    }

    /// An hour, as a clock is set that was wrong by a time zone.
    static let clockSteps: [Duration] = [0, -3_600_000, 3_600_000]

    @Test("A wall clock that is set brings no probe sooner or later", arguments: clockSteps)
    func probes(step: Duration) {
        var permits = PermitScheduler(PermitRules(fetch: 1, render: 1))
        let begin = Moment(wall: 10_000_000, monotonic: 50)
        let failed = permits.fail(FlightID(PartitionID(0), 9), by: .machine, at: begin)
        #expect(failed)
        permits.request(.fetch, FlightID(PartitionID(0), 1), lane: .fast, since: 0)
        for (later, count) in [(1_999 as Duration, 0), (2_000, 1)] {
            let now = Moment(wall: begin.wall + step + later, monotonic: begin.monotonic + later)
            let granted = permits.grants(at: now)
            #expect(granted.count == count)
        }
    }

    @Test("A wall clock that is set parks no running job sooner or later", arguments: clockSteps)
    func holds(step: Duration) throws {
        let rules = PartitionRules(reuse: ReuseRules(), holdLimit: 1_000)
        var state = PartitionState(PartitionID(0), rules: rules, seed: 1)
        let begin = Moment(wall: 10_000_000, monotonic: 50)
        func reduce(_ event: PartitionEvent, at now: Moment) -> [JobEffect] {
            var effects: [JobEffect] = []
            state.reduce(event, at: now, into: &effects)
            return effects
        }
        func pending(_ offset: Int64, expires: WallTime? = nil) -> PendingJob {
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: offset, timestamp: begin.wall, key: [], value: [],
                headers: [])
            let job = Job(
                id: "j", url: "http://o/a", source: .numbered(1),
                variants: [VariantSpec(width: 10, height: 10, format: .webp)], lane: .fast, expires: expires)
            return PendingJob(job: job, record: record)
        }
        let (running, done) = (pending(0), pending(1, expires: 1))
        for pending in [running, done] {
            for case .lookUp(let pending) in reduce(.arrived(pending), at: begin) {
                for case .permit(.request(.fetch, let id, _, _, _, _)) in reduce(.found(pending, SourceSnapshot()), at: begin) {
                    _ = reduce(.granted(.fetch, id), at: begin)
                }
            }
        }
        _ = reduce(.acknowledged([done.place]), at: begin)
        for (later, count) in [(1_000 as Duration, 0), (1_001, 1)] {
            let now = Moment(wall: begin.wall + step + later, monotonic: begin.monotonic + later)
            #expect(reduce(.tick, at: now).count == count)
        }
    }
}
