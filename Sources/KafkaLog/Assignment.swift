internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// What must be known before partitions that the group gave us can be read.
struct Assignment: Sendable {
    /// Counts the group's decisions, so that one that took long to prepare can't undo a newer one.
    let number: Int
    let partitions: [PartitionID]
    /// The group's generation, which grows with every rebalance.
    let generation: Int64
    /// By partition, as in `partitions`.
    let changelogs: [Range<Int64>]
    /// The group's offset of each topic that is finished, where there is one.
    let committed: [KafkaPlace: Int64]
    /// Where to begin to read them: there, as far as the log has it.
    let positions: [KafkaPlace: Int64]

    /// Asks the cluster; blocks, never on the poll thread. Without partitions (more workers than there are) it asks
    /// nothing.
    init(
        number: Int, generation: Int64, partitions: [PartitionID], asking questions: KafkaQuestions
    ) throws(LogFailure) {
        (self.number, self.generation, self.partitions) = (number, generation, partitions)
        changelogs = try questions.bounds(partitions.map { KafkaPlace(.variants, $0) })
        let places = Topic.consumed.flatMap { topic in partitions.map { KafkaPlace(topic, $0) } }
        let committedOffsets = try questions.committedOffsets(places)
        let bounds = try questions.bounds(places)
        var (committed, positions): ([KafkaPlace: Int64], [KafkaPlace: Int64]) = ([:], [:])
        for (index, place) in places.enumerated() {
            committed[place] = committedOffsets[index]
            // A new group takes up everything that is there.
            positions[place] = min(
                max(committedOffsets[index] ?? 0, bounds[index].lowerBound), bounds[index].upperBound)
        }
        (self.committed, self.positions) = (committed, positions)
    }

    /// The epoch in which the partition at `index` is owned, in `RecordLimits.epochs`: `KafkaQuestions` bounds the offset.
    func epoch(_ index: Int) -> Int64 {
        GroupEpoch.epoch(changelogEnd: changelogs[index].upperBound, generation: generation)
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
