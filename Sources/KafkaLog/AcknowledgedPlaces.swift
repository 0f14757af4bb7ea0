import Records

/// Which acknowledgements are believed: those whose offsets rise, by partition, in the order that records are handed over in.
///
/// A broker that knows nothing of a producer takes the first batch that finds the partition's leader ready for its first,
/// whatever that is. Where an earlier batch was sent a moment too soon, as to a topic that was just made, the broker takes its
/// repeat for an old one, and librdkafka 2.0.2 tells of it as done, without a place: it is nowhere in the log. (Seen with Kafka
/// 4.3.) A repeat of a batch that is there, whose answer was lost, looks the same.
///
/// librdkafka numbers the records of such a batch from what is no offset, so that later ones may look as if they had a place.
/// With the first, all are doubted that were handed over before: to append again what is there costs a repeat. A log that was
/// truncated, or made anew, costs the same.
struct AcknowledgedPlaces: Sendable {
    private struct Place: Hashable {
        let topic: Topic
        let partition: PartitionID
    }

    private struct State {
        /// How many doubts there were: records are believed that were handed over since the last.
        var doubts = 0
        /// The last offset that was believed since.
        var last: Int64 = -1
    }

    private var states: [Place: State] = [:]

    /// What a record is handed over with.
    func doubts(of topic: Topic, _ partition: PartitionID) -> Int {
        states[Place(topic: topic, partition: partition)]?.doubts ?? 0
    }

    /// False: the record may be nowhere.
    ///
    /// - Parameter doubts: as the record was handed over with.
    mutating func take(_ offset: Int64, of topic: Topic, _ partition: PartitionID, doubts: Int) -> Bool {
        let place = Place(topic: topic, partition: partition)
        var state = states[place] ?? State()
        guard doubts == state.doubts else { return false }
        let isPlaced = offset > state.last
        if isPlaced { state.last = offset } else { state = State(doubts: doubts + 1) }
        states[place] = state
        return isPlaced
    }
}
