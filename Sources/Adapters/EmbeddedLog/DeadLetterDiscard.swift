package import Records

/// How a dead letter is taken away: by a record of the same key without a value, whose header names the letter.
///
/// Readers of `dead` leave out a letter that a later record discards; the embedded log deletes it at once.
package enum DeadLetterDiscard {
    package static let header = "mz_discards"

    /// The record that discards `deadLetter`; nil if the dead letter has no id (`ce_id`).
    package static func record(of deadLetter: Record) -> NewRecord? {
        guard deadLetter.topic == .dead, let id = deadLetter.header("ce_id") else { return nil }
        return NewRecord(
            topic: .dead, partition: deadLetter.partition, key: deadLetter.key, value: nil,
            headers: [RecordHeader(header, id)])
    }
}
