import Clocks
import Partition
import TestSupport
import Testing

@Suite("A clock that is set forward is believed after a minute")
struct TrustedClockTests {
    /// Each reading: the monotonic clock and the wall's, and what is believed.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let readings: [(monotonic: Instant, wall: WallTime, believed: WallTime)]
    }

    private static let hour: WallTime = 3_600_000

    @Test(
        "What is believed",
        arguments: [
            Case(testDescription: "The first reading is believed", readings: [(5, 356_400_000, 356_400_000)]),
            Case(
                testDescription: "Put right within the minute: nobody has seen it",
                readings: [
                    (0, 0, 0), (1_000, hour + 1_000, 1_000), (60_999, hour + 60_999, 60_999), (61_000, 61_000, 61_000),
                ]),
            Case(
                testDescription: "Still so after a minute: that is the time",
                readings: [
                    (0, 0, 0), (1_000, hour + 1_000, 1_000), (61_000, hour + 61_000, hour + 61_000),
                    (62_000, hour + 62_000, hour + 62_000),
                ]),
            Case(
                testDescription: "Wrong twice: the second minute is another one",
                readings: [
                    (0, 0, 0), (1_000, hour, 1_000), (50_000, 50_000, 50_000), (55_000, hour, 55_000),
                    (70_000, hour, 70_000), (115_000, hour, hour),
                ]),
            Case(
                testDescription: "Set back, and small corrections: at once",
                readings: [
                    (0, hour, hour), (1_000, 500, 500), (2_000, 11_500, 11_500), (3_000, 22_501, 12_500),
                ]),
        ])
    func believed(_ example: Case) {
        var clock = TrustedClock(wall: example.readings[0].wall, monotonic: example.readings[0].monotonic)
        for reading in example.readings {
            let moment = clock.moment(wall: reading.wall, monotonic: reading.monotonic)
            #expect(moment == Moment(wall: reading.believed, monotonic: reading.monotonic))
        }
    }
}
