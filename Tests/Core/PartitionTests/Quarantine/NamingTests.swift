import Ledger
import Quarantine
import Records
import TestSupport
import Testing

@Suite("Flights that begin once a durable row names them")
struct NamingTests {
    private let first = Naming.Grant(.fetch, FlightID(PartitionID(0), 1))
    private let second = Naming.Grant(.render, FlightID(PartitionID(0), 2))

    @Test("What is granted while a row is on its way waits for the next one")
    func rows() {
        var naming = Naming()
        #expect(!naming.isWaiting && naming.named(at: 0).isEmpty)
        naming.add(first, at: 100)
        #expect(naming.begin() == [first.flight] && !naming.isWaiting)
        naming.add(second, at: 900)
        #expect(naming.isWaiting && !naming.isLate(at: 1_099) && naming.isLate(at: 1_100))
        #expect(naming.named(at: 1_050) == [first])
        // Its own time begins with the row that it could go into.
        #expect(!naming.isLate(at: 2_049) && naming.isLate(at: 2_050))
        #expect(naming.begin() == [second.flight] && naming.named(at: 1_500) == [second])
        #expect(naming == Naming())
    }

    @Test("A log that does not take the row gives up all, and the next begin anew")
    func givenUp() {
        var naming = Naming()
        naming.add(first, at: 0)
        _ = naming.begin()
        naming.add(second, at: 500)
        #expect(naming.abandon() == [first, second] && naming == Naming())
        // The row lands after all.
        #expect(naming.named(at: 1_200).isEmpty && !naming.isLate(at: 5_000))
    }
}
