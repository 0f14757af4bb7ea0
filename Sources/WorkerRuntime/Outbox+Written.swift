internal import ImageModel
internal import JSONText
internal import Partition

extension Outbox {
    /// Answers as the log gets them.
    struct Written: Sendable {
        struct Entry: Sendable {
            let place: RecordPlace
            /// How many records answer it.
            let records: Int
            /// What the answer counts as; nil for a retry.
            let count: Tally.Answer?
        }

        private(set) var entries: [Entry] = []
        /// Entry by entry.
        private(set) var records: [NewRecord] = []

        var isEmpty: Bool { entries.isEmpty }

        mutating func add(_ entry: Entry, _ records: some Sequence<NewRecord>) {
            entries.append(entry)
            self.records += records
        }

        mutating func add(_ answers: [Answer], partitions: Int) {
            entries.reserveCapacity(entries.count + answers.count)
            records.reserveCapacity(records.count + answers.count)
            var json = JSONWriter(reserving: 2_048)
            for answer in answers { add(answer, partitions: partitions, by: &json) }
        }

        private mutating func add(_ answer: Answer, partitions: Int, by json: inout JSONWriter) {
            let (record, first) = (answer.record, records.count)
            var count: Tally.Answer?
            switch answer.settlement {
            case .outcome(let outcome):
                count = Tally.Answer(outcome)
                records.append(outcome.newRecord(partition: record.partition, key: record.key, by: &json))
            case .dead(let letter, let outcome):
                count = Tally.Answer(outcome)
                records.append(letter.newRecord(partition: record.partition))
                records.append(outcome.newRecord(partition: record.partition, key: record.key, by: &json))
            case .retry(let job, let attempts, let notBefore, let firstSeen, let cause):
                let note = RetryNote(
                    job: job.id, lane: job.lane, attempt: attempts, notBefore: notBefore, firstSeen: firstSeen,
                    cause: cause, origin: record.jobOrigin, traceparent: job.traceparent)
                records.append(
                    note.newRecord(
                        key: record.key, body: record.value ?? [], partition: record.partition, at: answer.at))
            case .rekey(let job):
                var headers = RecordHeaders(record.headers.filter { $0.name != EventHeader.id })
                headers.append(EventHeader.id, job.id)
                headers.append(EventHeader.rekeyed, "\(record.jobOrigin)")
                records.append(
                    NewRecord(
                        topic: record.topic, partition: job.source.partition(of: partitions),
                        key: RecordKey.job(job.source).bytes, value: record.value, headers: headers))
            }
            entries.append(
                Entry(
                    place: RecordPlace(record), records: records.count - first, count: count))
        }
    }
}
