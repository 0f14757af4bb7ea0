package import Clocks
internal import JSONText

/// Record that an outcome, a dead letter or a parked row completes, as named by its header `mz_answers`. An owner that
/// finds the completion in the log does not run the job again.
///
/// Written `jobs.fast-3-17-1763802000000`: topic, partition, offset and append time. The append time identifies the
/// log, because another log has another record at this offset.
///
/// Older workers end it with `-dead` in an outcome that they append together with its dead letter. Such an outcome is
/// ignored: the next owner completes the job by the dead letter, under the same id.
package struct CompletedRecord: Sendable, Hashable {
    package let topic: Topic
    package let partition: PartitionID
    package let offset: Int64
    package let timestamp: WallTime

    package init(_ record: Record) {
        (topic, partition) = (record.topic, record.partition)
        (offset, timestamp) = (record.offset, record.timestamp)
    }

    /// nil if the record completes no other, or names it in another form.
    package init?(completedBy record: Record) {
        guard let text = record.header(EventHeader.answers) else { return nil }
        self.init(text)
    }

    /// Parses the form above. nil: it has another form.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4,
            let origin = RecordOrigin(parts[0...2].joined(separator: "-")), let milliseconds = Int64(parts[3])
        else { return nil }
        self.init(origin, WallTime(milliseconds: milliseconds))
    }

    private init(_ origin: RecordOrigin, _ timestamp: WallTime) {
        (topic, partition, offset) = (origin.topic, origin.partition, origin.offset)
        self.timestamp = RecordLimits.time(timestamp)
    }

    static let textLimit = RecordOrigin.textLimit + 21

    var description: String {
        "\(RecordOrigin(topic: topic, partition: partition, offset: offset))-\(timestamp.milliseconds)"
    }

    fileprivate func append(to headers: inout RecordHeaders) {
        // Written by hand, because a string would cost more than all other headers of an outcome.
        headers.append(EventHeader.answers, upTo: Self.textLimit) { out in
            var count = RecordOrigin(topic: topic, partition: partition, offset: offset).write(to: out)
            out[count] = RecordOrigin.separator
            count += 1
            return count + Decimal.write(timestamp.milliseconds, to: out + count)
        }
    }
}

extension RecordHeaders {
    package mutating func append(completed record: Record) { CompletedRecord(record).append(to: &self) }
}
