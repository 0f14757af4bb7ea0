package import Clocks

/// A record's place in one partition.
package struct RecordPlace: Sendable, Hashable {
    package let topic: Topic
    package let offset: Int64
    /// Which log of the topic: see `Record.incarnation`.
    package let incarnation: Int32
    package init(_ topic: Topic, _ offset: Int64, incarnation: Int32 = 0) {
        (self.topic, self.offset, self.incarnation) = (topic, offset, incarnation)
    }
    package init(_ record: Record) { self.init(record.topic, record.offset, incarnation: record.incarnation) }
}

/// What is appended to the log.
package struct NewRecord: Sendable, Hashable {
    package var topic: Topic
    package var partition: PartitionID
    package var key: [UInt8]
    /// nil is a tombstone.
    package var value: [UInt8]?
    package var headers: RecordHeaders

    package init(topic: Topic, partition: PartitionID, key: [UInt8], value: [UInt8]?, headers: RecordHeaders = []) {
        (self.topic, self.partition, self.key, self.value, self.headers) = (topic, partition, key, value, headers)
    }

    package var byteCount: Int { key.count + (value?.count ?? 0) + headers.byteCount }
    /// A little more than `byteCount`, and known at once.
    package var packedBytes: Int { key.count + (value?.count ?? 0) + headers.packedBytes }
}

/// What is read back.
package struct Record: Sendable, Hashable {
    package var topic: Topic
    package var partition: PartitionID
    /// Increases within a partition, with gaps.
    package var offset: Int64
    /// Milliseconds since 1970, set by the log or, on Kafka, by anybody who publishes: bounded.
    package private(set) var timestamp: WallTime
    package var key: [UInt8]
    package var value: [UInt8]?
    package var headers: RecordHeaders
    /// Counts the logs that the topic has had under this owner: another one, where the topic was recreated, gives the same
    /// offsets to other records.
    package var incarnation: Int32 = 0

    package init(
        topic: Topic, partition: PartitionID, offset: Int64, timestamp: WallTime, key: [UInt8], value: [UInt8]?,
        headers: RecordHeaders
    ) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
        self.timestamp = RecordLimits.time(timestamp)
        (self.key, self.value, self.headers) = (key, value, headers)
    }

    package func header(_ name: String) -> String? { headers.withFirst(name) { String(decoding: $0, as: UTF8.self) } }
}
