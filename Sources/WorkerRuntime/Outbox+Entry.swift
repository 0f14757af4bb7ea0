internal import ImageModel
internal import Partition

extension Outbox {
    /// An answer as the log gets it.
    struct Entry: Sendable {
        let place: RecordPlace
        let records: [NewRecord]
        /// What the answer counts as; nil for a retry.
        let count: Tally.Answer?

        init(_ answer: Answer, partitions: Int) {
            let record = answer.record
            place = RecordPlace(record.topic, record.offset)
            switch answer.settlement {
            case .outcome(let outcome):
                count = Tally.Answer(outcome)
                records = [outcome.newRecord(partition: record.partition, key: record.key)]
            case .dead(let letter, let outcome):
                count = Tally.Answer(outcome)
                records = [
                    letter.newRecord(partition: record.partition),
                    outcome.newRecord(partition: record.partition, key: record.key),
                ]
            case .retry(let job, let attempts, let notBefore, let firstSeen, let cause):
                count = nil
                let note = RetryNote(
                    job: job.id, lane: job.lane, attempt: attempts, notBefore: notBefore, firstSeen: firstSeen,
                    cause: cause, origin: record.jobOrigin, traceparent: job.traceparent)
                records = [
                    note.newRecord(key: record.key, body: record.value ?? [], partition: record.partition, at: answer.at)
                ]
            case .rekey(let job):
                count = nil
                var headers = RecordHeaders(record.headers.filter { $0.name != EventHeader.id })
                headers.append(EventHeader.id, job.id)
                headers.append(EventHeader.rekeyed, "\(record.jobOrigin)")
                records = [
                    NewRecord(
                        topic: record.topic, partition: job.source.partition(of: partitions),
                        key: RecordKey.job(job.source).bytes, value: record.value, headers: headers)
                ]
            }
        }
    }
}
