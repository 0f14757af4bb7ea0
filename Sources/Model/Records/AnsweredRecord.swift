package import Clocks
internal import JSONText

/// The record that an outcome, a dead letter or a retry answers, as its header `mz_answers` names it: an owner who finds
/// the answer in the log does not do the job again.
///
/// Written `jobs.fast-3-17-1763802000000`: topic, partition, offset, and when it was appended, by which another log's
/// record at the same offset is known. Older workers end it with `-dead` in an outcome that they append together with its dead
/// letter. Such an outcome counts for nothing: the next owner answers by the letter, under the same id.
package struct AnsweredRecord: Sendable, Hashable {
    package let topic: Topic
    package let partition: PartitionID
    package let offset: Int64
    package let timestamp: WallTime

    package init(_ record: Record) {
        (topic, partition) = (record.topic, record.partition)
        (offset, timestamp) = (record.offset, record.timestamp)
    }

    /// nil if the record answers none, or names it in another form.
    package init?(answeredBy record: Record) {
        guard let text = record.header(EventHeader.answers) else { return nil }
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

    private static let textLimit = RecordOrigin.textLimit + 21

    fileprivate func append(to headers: inout RecordHeaders) {
        // By hand: a string would cost more than all other headers of an outcome.
        headers.append(EventHeader.answers, upTo: Self.textLimit) { out in
            var count = RecordOrigin(topic: topic, partition: partition, offset: offset).write(to: out)
            out[count] = RecordOrigin.separator
            count += 1
            return count + Decimal.write(timestamp.milliseconds, to: out + count)
        }
    }
}

extension RecordHeaders {
    package mutating func append(answered record: Record) { AnsweredRecord(record).append(to: &self) }
}
