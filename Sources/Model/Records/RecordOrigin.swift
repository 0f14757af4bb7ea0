internal import JSONText

extension Record {
    /// Topic, partition and offset of the record, for people and for ids: `jobs.fast-3-17`.
    package var placeText: String { RecordOrigin(self).description }

    /// Position of the job's first record. The headers of a retry state it.
    package var jobOrigin: RecordOrigin {
        header(EventHeader.origin).flatMap { RecordOrigin($0) } ?? RecordOrigin(self)
    }

    /// Partition whose owner republished the job here; nil if the job was published here.
    package var rekeyedFrom: PartitionID? { header(EventHeader.rekeyed).flatMap { RecordOrigin($0) }?.partition }
}

/// Original position of a record, kept when its bytes go to another topic; written `jobs.fast-3-17`.
package struct RecordOrigin: Sendable, Hashable, CustomStringConvertible {
    package let topic: Topic
    package let partition: PartitionID
    package let offset: Int64

    package init(topic: Topic, partition: PartitionID, offset: Int64) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
    }

    package init(_ record: Record) {
        self.init(topic: record.topic, partition: record.partition, offset: record.offset)
    }

    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let topic = Topic(rawValue: String(parts[0])), let partition = Int32(parts[1]),
            let offset = Int64(parts[2]), partition >= 0, offset >= 0
        else { return nil }
        self.init(topic: topic, partition: PartitionID(partition), offset: offset)
    }

    package var description: String { "\(topic.rawValue)-\(partition)-\(offset)" }

    /// Most bytes of the text: the longest topic's name and two numbers.
    static let textLimit = 64
    static let separator = UInt8(ascii: "-")

    /// Writes the same text as `description` and returns its length.
    func write(to out: UnsafeMutablePointer<UInt8>) -> Int {
        var count = 0
        for byte in topic.rawValue.utf8 {
            out[count] = byte
            count += 1
        }
        for number in [Int64(partition.number), offset] {
            out[count] = Self.separator
            count += 1
            count += Decimal.write(number, to: out + count)
        }
        return count
    }
}
