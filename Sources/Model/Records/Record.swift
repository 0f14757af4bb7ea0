package import Clocks

/// Position of a record in one partition.
package struct RecordPlace: Sendable, Hashable {
    package let topic: Topic
    package let offset: Int64
    /// Incarnation of the topic's log; see `Record.incarnation`.
    package let incarnation: Int32
    package init(_ topic: Topic, _ offset: Int64, incarnation: Int32 = 0) {
        (self.topic, self.offset, self.incarnation) = (topic, offset, incarnation)
    }
    package init(_ record: Record) { self.init(record.topic, record.offset, incarnation: record.incarnation) }
}

/// A record to append to the log.
package struct NewRecord: Sendable, Hashable {
    package var topic: Topic
    package var partition: PartitionID
    package var key: [UInt8]
    /// nil for a tombstone.
    package var value: [UInt8]?
    package var headers: RecordHeaders

    package init(topic: Topic, partition: PartitionID, key: [UInt8], value: [UInt8]?, headers: RecordHeaders = []) {
        (self.topic, self.partition, self.key, self.value, self.headers) = (topic, partition, key, value, headers)
    }

    package var byteCount: Int { key.count + (value?.count ?? 0) + headers.byteCount }
    /// Size slightly above `byteCount`, known without a count.
    package var packedBytes: Int { key.count + (value?.count ?? 0) + headers.packedBytes }
}

/// A record read from the log.
package struct Record: Sendable, Hashable {
    package var topic: Topic
    package var partition: PartitionID
    /// Offset, increasing within a partition, with gaps.
    package var offset: Int64
    /// Milliseconds since 1970, limited to the range of dates. Set by the log or, on Kafka, by any publisher.
    package private(set) var timestamp: WallTime
    package var key: [UInt8]
    package var value: [UInt8]?
    package var headers: RecordHeaders
    /// Number of the topic's log among the logs that this owner has seen. If a topic was recreated, its new log gives
    /// the same offsets to other records.
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
