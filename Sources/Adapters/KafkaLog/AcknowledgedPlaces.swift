import Records

/// Decides which acknowledgements to trust: within a partition, offsets must rise in the order in which records were
/// handed over.
///
/// A leader that has just become ready accepts the first batch of an unknown producer under any sequence number. If an
/// earlier batch arrived too soon, as with a new topic, its retry is taken for a duplicate. librdkafka 2.0.2 reports
/// the retry as delivered at no offset, although the log does not hold it. (Kafka 4.3 on a busy machine: of twelve
/// records of 1 MB to a new topic, two at -1001, and ten in the log, in 1 of 120 runs.) A true duplicate is reported in
/// the same way.
///
/// Later records of such a batch may be numbered on from there, up to an offset that looks true. So one doubt covers
/// all records that were handed over before it, and those records are appended again. A log that was truncated or
/// recreated raises a doubt, too.
struct AcknowledgedPlaces: Sendable {
    private struct Place: Hashable {
        let topic: Topic
        let partition: PartitionID
    }

    private struct State {
        /// Number of doubts so far. Only records handed over since the last doubt are trusted.
        var doubts = 0
        /// Last offset trusted since the last doubt.
        var last: Int64 = -1
    }

    private var states: [Place: State] = [:]

    /// Doubt count to hand a record over with.
    func doubts(of topic: Topic, _ partition: PartitionID) -> Int {
        states[Place(topic: topic, partition: partition)]?.doubts ?? 0
    }

    /// Returns false if the log may not hold the record.
    ///
    /// - Parameter doubts: the count from when the record was handed over.
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
