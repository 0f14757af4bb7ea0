import Clocks
internal import Ledger
import Partition
import Records
import TestSupport
import Testing
import WorkerRuntime

@Suite("Whether each source that could come on does", .timeLimit(.minutes(1)))
struct StandstillWatchTests {
    /// What begins at a second, or ends: by the flight's number.
    enum Event: Sendable {
        case begin(StandstillWatch.Step, Int)
        case comeOn(Int)
        case end(Int)
        /// A flight is fetched at each second up to this one, and takes one.
        case others(until: Int64)
    }
    typealias Moment = (second: Int64, event: Event)

    private static func flight(_ number: Int) -> FlightID { FlightID(PartitionID(0), number) }

    /// As it is looked at, twice a second, up to `end`.
    private func watch(_ moments: [Moment], until end: Int64, every milliseconds: Int64 = 500) -> Standstill? {
        var watch = StandstillWatch()
        var moments = moments[...]
        var busyUntil: Int64 = 0
        for now in stride(from: 0, through: end * 1000, by: Int(milliseconds)) {
            watch.tick(at: Instant(milliseconds: now))
            while let moment = moments.first, moment.second * 1000 <= now {
                moments.removeFirst()
                switch moment.event {
                case .begin(let step, let number): watch.begin(step, of: Self.flight(number))
                case .comeOn(let number): watch.comeOn(Self.flight(number))
                case .end(let number): watch.end(Self.flight(number))
                case .others(let until): busyUntil = until * 1000
                }
            }
            if now < busyUntil {
                watch.end(Self.flight(1_000 + Int(now / 1000) - 1))
                watch.begin(.fetch, of: Self.flight(1_000 + Int(now / 1000)))
            }
        }
        return watch.standstill(after: .seconds(60))
    }

    @Test(
        "One source that stays in a step is a standstill, whatever the others do; everything else is life",
        arguments: [
            ("nothing to do", [], 600, nil),
            ("a fetch that never ends", [(0, .begin(.fetch, 1))], 600, .fetch),
            ("not long enough", [(0, .begin(.fetch, 1))], 60, nil),
            ("a little longer", [(0, .begin(.fetch, 1))], 61, .fetch),
            (
                "one wedged seat beside others that end", [(0, .begin(.render, 1)), (0, .others(until: 200))], 200,
                .render
            ),
            ("many that each take some time", [(0, .others(until: 600))], 600, nil),
            (
                "a source that comes on, step by step",
                [(0, .begin(.fetch, 1)), (50, .begin(.render, 1)), (100, .begin(.store, 1))], 150, nil
            ),
            ("a render that comes on, part by part", [(0, .begin(.render, 1)), (50, .comeOn(1))], 100, nil),
            ("its next part hangs", [(0, .begin(.render, 1)), (50, .comeOn(1))], 120, .render),
            ("what has ended comes on no more", [(0, .begin(.render, 1)), (1, .end(1)), (2, .comeOn(1))], 600, nil),
            ("a put that hangs", [(0, .begin(.render, 1)), (50, .begin(.store, 1))], 120, .store),
            ("it moves again", [(0, .begin(.render, 1)), (599, .end(1))], 600, nil),
            // Announcements, waits and permits are no step.
            ("all wait for the broker", [(0, .begin(.store, 1)), (5, .end(1))], 600, nil),
            ("idle for long, then something new", [(600, .begin(.fetch, 1))], 630, nil),
        ] as [(String, [Moment], Int64, StandstillWatch.Step?)])
    func rule(what: String, moments: [Moment], end: Int64, stuck: StandstillWatch.Step?) {
        #expect(watch(moments, until: end)?.step == stuck, "\(what)")
    }

    @Test("Time in which the process itself was stopped does not count")
    func stopped() {
        #expect(watch([(0, .begin(.fetch, 1))], until: 3_000, every: 60_000) == nil)
    }

    @Test("Each step has its sources, and the time of the one that is longest in it")
    func loads() {
        var watch = StandstillWatch()
        watch.tick(at: 0)
        watch.begin(.store, of: Self.flight(1))
        watch.tick(at: 900)
        watch.begin(.store, of: Self.flight(2))
        watch.begin(.fetch, of: Self.flight(3))
        watch.tick(at: 1_400)
        #expect(
            watch.loads.map { "\($0.step) \($0.sources) \($0.oldest.milliseconds)" } == [
                "fetch 1 500", "render 0 0", "store 2 1400", "look 0 0",
            ])
        watch.comeOn(Self.flight(1))
        watch.end(Self.flight(2))
        #expect(watch.loads.map(\.sources) == [1, 0, 1, 0] && watch.loads.map(\.oldest) == [500, 0, 0, 0])
    }

    @Test("It says what hangs, how many of how many, and for how long")
    func words() throws {
        let standstill = try #require(
            watch([(0, .begin(.fetch, 1)), (20, .begin(.fetch, 2)), (90, .begin(.fetch, 3))], until: 100))
        #expect("\(standstill)".hasPrefix("2 of 3 sources that are being fetched have not come on, one for 100 s"))
    }
}
