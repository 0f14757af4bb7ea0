/// Why a record of ours (not a job) cannot be read: something else wrote it, or the log is damaged.
package enum RecordFailure: CodedFailure, Hashable {
    case key(place: String, text: String)
    case value(place: String, reason: String)
    case header(place: String, name: String, reason: String)

    package var kind: Code {
        switch self {
        case .key: .key
        case .value: .value
        case .header: .header
        }
    }

    package var description: String {
        switch self {
        case .key(let place, let text):
            "The record \(place) has the key \"\(text)\", which names no source, variant or epoch. It is left out; find what wrote it."
        case .value(let place, let reason):
            "The record \(place) cannot be read: \(reason). It is left out; find what wrote it."
        case .header(let place, let name, let reason):
            "The header \(name) of the record \(place) cannot be read: \(reason). Find what wrote it."
        }
    }

    package enum Code: String, FailureCode {
        case key = "record.key"
        case value = "record.value"
        case header = "record.header"

        package var meaning: String {
            switch self {
            case .key: "A record's key names no source, variant or epoch."
            case .value: "The body of a row, an outcome or a note is not what its topic holds."
            case .header: "A header that a retry or a dead letter needs is missing or wrong."
            }
        }

        package var verdict: Verdict { .deadLetter }
    }
}

extension Record {
    /// The record's place for people and for ids: `jobs.fast-3-17`.
    package var placeText: String { RecordOrigin(self).description }
}

/// Where a record came from, kept when its bytes go to another topic; written `jobs.fast-3-17`.
package struct RecordOrigin: Sendable, Hashable, CustomStringConvertible {
    package let topic: Topic
    package let partition: PartitionID
    package let offset: Int64

    package init(topic: Topic, partition: PartitionID, offset: Int64) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
    }

    package init(_ record: Record) { self.init(topic: record.topic, partition: record.partition, offset: record.offset) }

    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let topic = Topic(rawValue: String(parts[0])), let partition = Int32(parts[1]),
            let offset = Int64(parts[2]), partition >= 0, offset >= 0
        else { return nil }
        self.init(topic: topic, partition: PartitionID(partition), offset: offset)
    }

    package var description: String { "\(topic.rawValue)-\(partition)-\(offset)" }
}
