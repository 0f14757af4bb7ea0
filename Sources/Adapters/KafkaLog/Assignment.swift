internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// What must be known before partitions that the group gave us can be read: of all of them, or of those whose leaders answer.
struct Assignment: Sendable {
    /// Counts the group's decisions, so that one that took long to prepare can't undo a newer one.
    let number: Int
    /// The group's generation, which grows with every rebalance.
    let generation: Int64
    /// All that the group gave.
    let partitions: [PartitionID]
    /// Of those that can be taken up now.
    let known: [PartitionID: PartitionBounds]

    /// The epoch in which a partition is owned, in `RecordLimits.epochs`: `KafkaQuestions` bounds the offset.
    func epoch(of bounds: PartitionBounds) -> Int64 {
        GroupEpoch.epoch(changelogEnd: bounds.folded.variants.upperBound, generation: generation)
    }
}

/// What the cluster says of a partition of all topics that its owner reads.
struct PartitionBounds: Sendable {
    let folded: ByFoldedTopic<Range<Int64>>
    /// The group's offset of each topic that is finished, where there is one.
    private(set) var committed: [KafkaPlace: Int64] = [:]
    /// Where to begin to read them: there, as far as the log has it.
    private(set) var positions: [KafkaPlace: Int64] = [:]

    /// - Parameter offsets: of a partition's places, all of `Topic.owned`.
    init(_ offsets: [PartitionOffsets]) {
        folded = ByFoldedTopic { topic in offsets.first { $0.topic == topic }?.bounds ?? 0..<0 }
        for offsets in offsets where !offsets.topic.isFolded {
            let place = KafkaPlace(offsets.topic, offsets.partition)
            committed[place] = offsets.committed
            // A new group takes up everything that is there.
            positions[place] = min(offsets.start, offsets.bounds.upperBound)
        }
    }
}

extension KafkaQuestions {
    /// Asks once for what must be known of partitions; blocks, never on the poll thread. One of which a topic's leader is away
    /// takes no other along.
    func partitionBounds(_ partitions: [PartitionID]) -> [PartitionID: Result<PartitionBounds, LogFailure>] {
        // More workers than partitions: nothing is asked.
        if partitions.isEmpty { return [:] }
        guard let leaders = leaders(within: Self.tryLimit) else {
            let failure = silence
            return partitions.reduce(into: [:]) { $0[$1] = .failure(failure) }
        }
        let places = partitions.flatMap { partition in Topic.owned.map { KafkaPlace($0, partition) } }
        let answers = offsetsOnce(places, leaders: leaders, within: Self.tryLimit, isReading: true)
        var found: [PartitionID: Result<PartitionBounds, LogFailure>] = [:]
        for (index, partition) in partitions.enumerated() {
            let own = answers[index * Topic.owned.count..<(index + 1) * Topic.owned.count]
            let offsets = own.reduce(Result<[PartitionOffsets], LogFailure>.success([])) {
                LogFailure.both($0, $1).map { $0 + [$1] }
            }
            found[partition] = offsets.map(PartitionBounds.init)
        }
        return found
    }
}

extension KafkaClient {
    /// The generation of the group that we are a member of.
    ///
    /// librdkafka 2.0.2 tells it only inside what it serialises for transactions: `CGMDv2:`, then four bytes.
    func generation() throws(LogFailure) -> Int64 {
        guard let metadata = rd_kafka_consumer_group_metadata(handle) else {
            throw .unavailable(reason: "this client is not a member of a group")
        }
        defer { rd_kafka_consumer_group_metadata_destroy(metadata) }
        var bytes: UnsafeRawPointer?
        var count = 0
        let error = withUnsafeMutablePointer(to: &bytes) { bytes in
            bytes.withMemoryRebound(to: UnsafeMutableRawPointer?.self, capacity: 1) {
                rd_kafka_consumer_group_metadata_write(metadata, $0, &count)
            }
        }
        try check(error, "the group's generation")
        defer { rd_kafka_mem_free(handle, UnsafeMutableRawPointer(mutating: bytes)) }
        let mark = Array("CGMDv2:".utf8)
        guard let bytes, count >= mark.count + 4,
            UnsafeRawBufferPointer(start: bytes, count: mark.count).elementsEqual(mark)
        else {
            let version = KafkaConfiguration.libraryVersion
            throw .unavailable(reason: "librdkafka \(version) writes its group in another form")
        }
        return Int64(bytes.loadUnaligned(fromByteOffset: mark.count, as: Int32.self))
    }
}
