internal import ImageModel
internal import Partition

extension Outbox.Entry {
    /// What is appended so that `record` is answered by `settlement`.
    init(_ record: Record, _ settlement: Settlement, in epoch: Int64, partitions: Int, at now: Int64) {
        (partition, self.epoch) = (record.partition, epoch)
        place = RecordPlace(record.topic, record.offset)
        // A retry's headers name the job's first record.
        let origin = record.header(EventHeader.origin).flatMap { RecordOrigin($0) } ?? RecordOrigin(record)
        switch settlement {
        case .outcome(let outcome):
            count = Tally.Answer(outcome)
            records = [outcome.newRecord(partition: record.partition, key: record.key)]
        case .dead(let attempts, let cause, let outcome):
            count = Tally.Answer(outcome)
            let letter = DeadLetter(
                of: record, id: outcome.job, cause: cause, attempts: attempts,
                url: outcome.url.isEmpty ? nil : outcome.url, at: now, origin: origin)
            records = [
                letter.newRecord(partition: record.partition),
                outcome.newRecord(partition: record.partition, key: record.key),
            ]
        case .retry(let job, let attempts, let notBefore, let firstSeen, let cause):
            count = nil
            let note = RetryNote(
                job: job.id, lane: job.lane, attempt: attempts, notBefore: notBefore, firstSeen: firstSeen,
                cause: cause, origin: origin, traceparent: job.traceparent)
            records = [note.newRecord(key: record.key, body: record.value ?? [], partition: record.partition, at: now)]
        case .rekey(let job):
            count = nil
            let key = RecordKey.job(job.source).bytes
            records = [
                NewRecord(
                    topic: record.topic, partition: job.source.partition(of: partitions), key: key, value: record.value,
                    headers: record.headers.filter { $0.name != EventHeader.id }
                        + [RecordHeader(EventHeader.id, job.id), RecordHeader(EventHeader.rekeyed, "\(origin)")])
            ]
        }
    }
}
