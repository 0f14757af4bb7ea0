import Records

/// Which acknowledgements are believed: those whose offsets rise, by partition, in the order that records are handed over in.
///
/// The broker takes the first batch of an unknown producer that finds the partition's leader ready, whatever its number. An
/// earlier batch that was sent too soon, as to a new topic, is taken for a duplicate when it is repeated. librdkafka 2.0.2
/// reports it as delivered at no offset, and it is nowhere in the log. (Kafka 4.3 on a busy machine: of twelve records of 1 MB
/// to a new topic, two at -1001, and ten in the log, in 1 of 120 runs.) A duplicate that is there looks the same.
///
/// Later records of such a batch may be numbered on from there, up to an offset that looks true. So one doubt is a doubt of all
/// that was handed over before it, and costs a repeat of what is there. So does a log that was truncated or recreated.
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
