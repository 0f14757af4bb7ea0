import Clocks
import Ports
import TestSupport
import Testing

@Suite("How a worker's clock compares with the brokers'", .timeLimit(.minutes(1)))
struct LogClockTests {
    @Test(
        "A broker's time between writing and reading tells of no difference; before and after it tells of one at least",
        arguments: [
            (written: 100, appended: 100, read: 100, skew: 0), (100, 150, 200, 0), (100, 90, 200, 10),
            (100, 260, 200, -60), (3_600_100, 100, 3_600_200, 3_600_000), (100, 3_600_100, 300, -3_599_800),
            // The clock was set back between the two: only a broker's time after the reading tells anything.
            (3_600_100, 200, 300, 0), (3_600_100, 900, 300, -600),
        ] as [(written: WallTime, appended: WallTime, read: WallTime, skew: Duration)])
    func one(written: WallTime, appended: WallTime, read: WallTime, skew: Duration) {
        var clock = LogClock()
        #expect(clock.skew(wall: read, monotonic: 7) == nil)
        clock.note(written: written, appended: appended, wall: read, monotonic: 7)
        #expect(clock.skew(wall: read, monotonic: 7) == skew)
        #expect(clock.skew(wall: read + 50, monotonic: 57) == skew, "time goes on for both")
    }

    @Test("A clock that is set counts at once, and the next record confirms it")
    func set() {
        var clock = LogClock()
        clock.note(written: 1_000, appended: 1_001, wall: 1_002, monotonic: 2)
        #expect(clock.skew(wall: 3_601_012, monotonic: 12) == 3_600_000)
        clock.note(written: 3_601_020, appended: 1_021, wall: 3_601_022, monotonic: 22)
        #expect(clock.skew(wall: 3_601_022, monotonic: 22) == 3_599_999)
        #expect(clock.skew(wall: 1_032, monotonic: 32) == -1, "put right")
    }
}
