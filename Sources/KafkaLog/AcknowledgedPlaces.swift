import Records

/// Whether an acknowledgement is to be believed: a partition's records are acknowledged in the order that they were handed
/// over in, each at a later offset than the one before.
///
/// librdkafka 2.0.2 tells of others as done, too, with the offset of the last that is. A broker that knows nothing of a
/// producer takes the first batch that finds the partition's leader ready for its first, whatever that is. Where an earlier
/// batch was sent a moment too soon, as to a topic that was just made, the broker takes its repeat for an old one: it is
/// acknowledged, and nowhere in the log. (Seen with Kafka 4.3: twelve records, the first two at the offset of the last.)
///
/// Records of a batch that had to be sent twice, and that are there, may be told of in the same way: they are doubted, too, and
/// appended once more. So is one record of each partition of a log that was truncated, or made anew.
struct AcknowledgedPlaces {
    private struct Place: Hashable {
        let topic: Topic
        let partition: PartitionID
    }

    private var last: [Place: Int64] = [:]

    /// False: the record may be nowhere.
    mutating func take(_ offset: Int64, of topic: Topic, _ partition: PartitionID) -> Bool {
        let place = Place(topic: topic, partition: partition)
        guard let last = last.updateValue(offset, forKey: place) else { return offset >= 0 }
        return offset > last
    }
}
