/// A record's place in one partition.
package struct RecordPlace: Sendable, Hashable {
    package let topic: Topic
    package let offset: Int64
    package init(_ topic: Topic, _ offset: Int64) { (self.topic, self.offset) = (topic, offset) }
}

/// A header of a record, as CloudEvents' binary mode uses them (`ce_id`, `ce_type` …).
package struct RecordHeader: Sendable, Hashable {
    package let name: String
    package let value: [UInt8]
    package init(_ name: String, _ value: [UInt8]) { (self.name, self.value) = (name, value) }
    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, Array(value.utf8)) }
    package var text: String { String(decoding: value, as: UTF8.self) }
}

/// What is appended to the log.
package struct NewRecord: Sendable, Hashable {
    package var topic: Topic
    package var partition: PartitionID
    package var key: [UInt8]
    /// nil is a tombstone.
    package var value: [UInt8]?
    package var headers: [RecordHeader]

    package init(topic: Topic, partition: PartitionID, key: [UInt8], value: [UInt8]?, headers: [RecordHeader] = []) {
        (self.topic, self.partition, self.key, self.value, self.headers) = (topic, partition, key, value, headers)
    }
}

/// What is read back.
package struct Record: Sendable, Hashable {
    package var topic: Topic
    package var partition: PartitionID
    /// Increases within a partition, with gaps.
    package var offset: Int64
    /// Milliseconds since 1970, set by the log.
    package var timestamp: Int64
    package var key: [UInt8]
    package var value: [UInt8]?
    package var headers: [RecordHeader]

    package init(
        topic: Topic, partition: PartitionID, offset: Int64, timestamp: Int64, key: [UInt8], value: [UInt8]?,
        headers: [RecordHeader]
    ) {
        (self.topic, self.partition, self.offset, self.timestamp) = (topic, partition, offset, timestamp)
        (self.key, self.value, self.headers) = (key, value, headers)
    }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.text }
}
