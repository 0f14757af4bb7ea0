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
            // A retry's headers name the job's first record.
            let origin = record.header(EventHeader.origin).flatMap { RecordOrigin($0) } ?? RecordOrigin(record)
            switch answer.settlement {
            case .outcome(let outcome):
                count = Tally.Answer(outcome)
                records = [outcome.newRecord(partition: record.partition, key: record.key)]
            case .dead(let attempts, let cause, let outcome):
                count = Tally.Answer(outcome)
                let letter = DeadLetter(
                    of: record, id: outcome.job, cause: cause, attempts: attempts,
                    url: outcome.url.isEmpty ? nil : outcome.url, at: answer.at, origin: origin)
                records = [
                    letter.newRecord(partition: record.partition),
                    outcome.newRecord(partition: record.partition, key: record.key),
                ]
            case .retry(let job, let attempts, let notBefore, let firstSeen, let cause):
                count = nil
                let note = RetryNote(
                    job: job.id, lane: job.lane, attempt: attempts, notBefore: notBefore, firstSeen: firstSeen,
                    cause: cause, origin: origin, traceparent: job.traceparent)
                records = [
                    note.newRecord(key: record.key, body: record.value ?? [], partition: record.partition, at: answer.at)
                ]
            case .rekey(let job):
                count = nil
                var headers = RecordHeaders(record.headers.filter { $0.name != EventHeader.id })
                headers.append(EventHeader.id, job.id)
                headers.append(EventHeader.rekeyed, "\(origin)")
                records = [
                    NewRecord(
                        topic: record.topic, partition: job.source.partition(of: partitions),
                        key: RecordKey.job(job.source).bytes, value: record.value, headers: headers)
                ]
            }
        }
    }
}
