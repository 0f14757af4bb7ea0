import Testing
import WorkerRuntime

@Suite("Whether work that could go on does", .timeLimit(.minutes(1)))
struct StandstillWatchTests {
    typealias Moment = (second: Int64, fetching: Int, fetched: Int, making: Int, made: Int)

    /// As it is looked at, twice a second, up to each moment.
    private func watch(_ moments: [Moment], every milliseconds: Int64 = 500) -> Standstill? {
        var watch = StandstillWatch()
        var now: Int64 = 0
        for moment in moments {
            while now <= moment.second * 1000 {
                watch.note(
                    [
                        .fetch: .init(running: moment.fetching, ended: moment.fetched),
                        .make: .init(running: moment.making, ended: moment.made),
                    ], at: now)
                now += milliseconds
            }
        }
        return watch.standstill(after: .seconds(60))
    }

    @Test(
        "One kind of work that runs and does not end is a standstill; everything else is life",
        arguments: [
            ("nothing to do", [(600, 0, 0, 0, 0)], nil),
            ("fetches that never end", [(600, 32, 7, 0, 0)], .fetch),
            ("not long enough", [(60, 32, 7, 0, 0)], nil),
            ("a little longer", [(62, 32, 7, 0, 0)], .fetch),
            ("one that hangs beside others that end", [(50, 2, 1, 0, 0), (100, 2, 2, 0, 0), (150, 2, 3, 0, 0)], nil),
            (
                "fetches hang while renders of donors go on", [(40, 3, 1, 2, 5), (80, 3, 1, 2, 9), (120, 3, 1, 2, 14)],
                .fetch
            ),
            ("a wedged seat", [(600, 0, 9, 1, 8)], .make),
            ("it moves again", [(600, 0, 9, 1, 8), (601, 0, 9, 1, 9)], nil),
            ("it comes to its end", [(600, 1, 9, 0, 8), (601, 0, 10, 0, 8)], nil),
            ("idle for long, then something new", [(600, 0, 9, 0, 8), (630, 1, 9, 0, 8)], nil),
            // Announcements, waits and permits are in none of the counts.
            ("all wait for the broker", [(5, 4, 0, 4, 0), (600, 0, 4, 0, 4)], nil),
        ] as [(String, [Moment], StandstillWatch.Step?)])
    func rule(what: String, moments: [Moment], stuck: StandstillWatch.Step?) {
        #expect(watch(moments)?.step == stuck, "\(what)")
    }

    @Test("Time in which the process itself was stopped does not count")
    func stopped() {
        #expect(watch([(3_000, 4, 0, 0, 0)], every: 60_000) == nil)
    }

    @Test("It says what hangs, and for how long")
    func words() throws {
        let standstill = try #require(watch([(100, 3, 0, 0, 0)]))
        #expect("\(standstill)".hasPrefix("3 sources are being fetched, and none of them has come on for 100 s"))
    }
}
