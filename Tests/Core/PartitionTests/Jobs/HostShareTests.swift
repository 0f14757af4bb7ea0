import Canonical
import Clocks
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

@Suite("Fetch permits by host", .timeLimit(.minutes(1)))
struct HostShareTests {
    private let one = OriginHost(of: "http://one.example/")
    private let two = OriginHost(of: "http://two.example/")
    private let three = OriginHost(of: "http://three.example/")

    private func flight(_ number: Int, _ partition: Int32 = 0) -> FlightID { FlightID(PartitionID(partition), number) }

    private func numbers(_ scheduler: inout PermitScheduler, at now: Moment = 0) -> [Int] {
        scheduler.grants(at: now).map(\.flight.number)
    }

    private func expect<Value: Equatable>(
        _ granted: Value, _ wanted: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(granted == wanted, sourceLocation: sourceLocation)
    }

    @Test(
        "A host holds at most half of the permits, even alone, and one if there is only one",
        arguments: [(fetch: 1, share: 1), (2, 1), (3, 1), (4, 2), (7, 3), (32, 16), (1_024, 512)])
    func half(fetch: Int, share: Int) {
        var permits = PermitScheduler(PermitRules(fetch: fetch, render: 1))
        for i in 1...2 * fetch { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i), host: one) }
        expect(numbers(&permits), Array(1...share))
        permits.forget(flight(1))
        expect(numbers(&permits), [share + 1])
    }

    @Test("Flights of other hosts pass those of a host at its half, and these keep their order", arguments: [1, 8_192])
    func passed(ahead: Int) {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 1))
        for i in 1...ahead + 8 {
            permits.request(.fetch, flight(i, Int32(i % 12)), lane: .fast, since: WallTime(i), host: one)
        }
        expect(numbers(&permits), [1, 2, 3, 4])
        let next = ahead + 9
        permits.request(.fetch, flight(next), lane: .fast, since: 1_000_000, host: two)
        permits.request(.fetch, flight(next + 1), lane: .fast, since: 1_000_000, host: three)
        expect(numbers(&permits), [next, next + 1])
        for i in 1...ahead + 4 {
            permits.forget(flight(i, Int32(i % 12)))
            expect(numbers(&permits), [i + 4])
        }
    }

    @Test("A fast flight that waits for its host alone keeps no slow one of another host from a permit")
    func slowBeside() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1))
        for i in 1...4 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i), host: one) }
        permits.request(.fetch, flight(5), lane: .slow, since: 5, host: one)
        permits.request(.fetch, flight(6), lane: .slow, since: 6, host: two)
        expect(numbers(&permits), [1, 2, 6])
        permits.forget(flight(1))
        expect(numbers(&permits), [3])
        permits.forget(flight(2))
        permits.forget(flight(3))
        expect(numbers(&permits), [4, 5])
    }

    @Test("Slow flights leave two thirds of what a host bears to fast ones")
    func slowShare() {
        var permits = PermitScheduler(PermitRules(fetch: 16, render: 1))
        for i in 1...9 { permits.request(.fetch, flight(i), lane: .slow, since: WallTime(i), host: one) }
        expect(numbers(&permits), [1, 2])
        for i in 10...16 { permits.request(.fetch, flight(i), lane: .fast, since: WallTime(i), host: one) }
        expect(numbers(&permits), [10, 11, 12, 13, 14, 15])
        permits.move(flight(1), to: .fast, since: 1)
        expect(numbers(&permits), [])
        permits.forget(flight(10))
        expect(numbers(&permits), [16])
        permits.forget(flight(1))
        expect(numbers(&permits), [3])
    }

    @Test("An aged slow flight waits for its host; a younger one of another host does not wait for it")
    func aged() {
        var permits = PermitScheduler(PermitRules(fetch: 4, render: 1, slowWait: 1_000))
        for i in 1...9 { permits.request(.fetch, flight(i), lane: .fast, since: 0, host: i % 2 == 0 ? one : two) }
        expect(numbers(&permits), [1, 2, 3, 4])
        permits.request(.fetch, flight(11), lane: .slow, since: 1, host: one)
        permits.request(.fetch, flight(12), lane: .slow, since: 2, host: two)
        permits.forget(flight(1))
        // Its host's permit came first, and it is not done when the older one's comes.
        expect(numbers(&permits, at: 2_000), [12])
        permits.forget(flight(2))
        expect(numbers(&permits, at: 2_000), [11])
        permits.forget(flight(3))
        expect(numbers(&permits, at: 2_000), [5])
    }
}
