internal import ImageModel
internal import Ports

/// Answers on their way to the log: appended in batches, one at a time, until each is acknowledged.
///
/// A record's offset counts as finished only when everything that answers it is durable.
struct Outbox {
    struct Entry: Sendable {
        let partition: PartitionID
        /// Of the ownership that answers: one that came after it knows nothing of this record.
        let epoch: Int64
        let place: RecordPlace
        let records: [NewRecord]
        /// What the answer counts as; nil for a retry.
        let count: Tally.Answer?
    }

    private var waiting: [Entry] = []
    /// The batch on its way.
    private var sent: [Entry] = []

    var isEmpty: Bool { waiting.isEmpty && sent.isEmpty }
    func holds(_ partition: PartitionID) -> Bool {
        waiting.contains { $0.partition == partition } || sent.contains { $0.partition == partition }
    }

    mutating func add(_ entry: Entry) { waiting.append(entry) }

    /// The next batch, if none is on its way.
    mutating func next() -> [Entry]? {
        guard sent.isEmpty, !waiting.isEmpty else { return nil }
        defer { waiting.removeAll(keepingCapacity: waiting.count < 8_192) }
        sent = waiting
        return waiting
    }

    /// The batch came back; what was not acknowledged goes again, first.
    mutating func returned(_ failed: [Entry]) {
        sent = []
        waiting.insert(contentsOf: failed, at: 0)
    }

    /// The partition has another owner: its answers must not be seen.
    mutating func drop(_ partition: PartitionID) { waiting.removeAll { $0.partition == partition } }
}
