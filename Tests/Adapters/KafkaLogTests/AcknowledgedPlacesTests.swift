import Records
import Testing

@testable import KafkaLog

@Suite("Which acknowledgements of Kafka's are believed", .timeLimit(.minutes(1)))
struct AcknowledgedPlacesTests {
    /// All were handed over before the first of them was acknowledged.
    private func taken(_ offsets: [Int64]) -> [Bool] {
        var places = AcknowledgedPlaces()
        return offsets.map { places.take($0, of: .jobsFast, PartitionID(0), doubts: 0) }
    }

    @Test(
        "A batch that is told of without a place of its own is doubted whole, however its records are numbered",
        arguments: [[-1, 0, 1, 2], [-1_001, -1_000], [4, 5, 6, 60], [9, 9], [9, 10, 11]] as [[Int64]])
    func batch(offsets: [Int64]) {
        #expect(taken(Array(0...9) + offsets) == Array(repeating: true, count: 10) + offsets.map { _ in false })
        // The first that is told of at all.
        if offsets[0] < 0 { #expect(taken(offsets) == offsets.map { _ in false }) }
    }

    @Test("Records that are handed over after a doubt are believed again, also in a recreated log")
    func again() {
        var places = AcknowledgedPlaces()
        func take(_ offset: Int64, _ doubts: Int) -> Bool {
            places.take(offset, of: .variants, PartitionID(0), doubts: doubts)
        }
        let first = [take(40, 0), take(0, 0), take(41, 0)]
        #expect(first == [true, false, false])
        let doubts = places.doubts(of: .variants, PartitionID(0))
        let later = [take(1, doubts), take(42, 0), take(2, doubts)]
        #expect(later == [true, false, true])
    }

    @Test("Each partition counts for itself")
    func partitions() {
        var places = AcknowledgedPlaces()
        let taken = [(Topic.jobsFast, 0), (.jobsFast, 1), (.jobsSlow, 0)].map { topic, partition in
            places.take(3, of: topic, PartitionID(Int32(partition)), doubts: 0)
        }
        #expect(taken == [true, true, true])
        #expect(places.doubts(of: .jobsFast, PartitionID(0)) == 0)
    }
}
