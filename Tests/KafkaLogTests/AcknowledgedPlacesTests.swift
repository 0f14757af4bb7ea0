import Records
import Testing

@testable import KafkaLog

@Suite("Which acknowledgements of Kafka's are believed", .timeLimit(.minutes(1)))
struct AcknowledgedPlacesTests {
    @Test("A record that has no offset of its own is nowhere; each partition counts for itself")
    func places() {
        var places = AcknowledgedPlaces()
        func take(_ offset: Int64, _ topic: Topic = .jobsFast, _ partition: Int32 = 0) -> Bool {
            places.take(offset, of: topic, PartitionID(partition))
        }
        let first = (0...9).map { take($0) }
        #expect(!first.contains(false))
        // As librdkafka told of the two that were sent before the topic was there.
        let later = [take(9), take(9), take(10)]
        #expect(later == [false, false, true])
        let others = [take(3, .jobsFast, 1), take(3, .jobsSlow)]
        #expect(others == [true, true])
        // Of one that was found to be there already no offset may be known.
        let unknown = take(-1_001, .dead)
        #expect(!unknown)
    }

    @Test("A log that was made anew is believed again from its second record on")
    func anew() {
        var places = AcknowledgedPlaces()
        let taken = [40, 0, 1, 2].map { places.take($0, of: .variants, PartitionID(0)) }
        #expect(taken == [true, false, true, true])
    }
}
