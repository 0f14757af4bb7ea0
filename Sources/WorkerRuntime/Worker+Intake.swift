internal import ImageModel
internal import Partition
internal import Ports

/// Records become jobs: decoded, canonicalised again, and refused with the reason if they are none.
extension Worker {
    nonisolated func takeUp(_ record: Record) -> PartitionEvent {
        do {
            let job = try intake.job(from: record)
            guard job.source.partition(of: ports.log.partitionCount) == record.partition else {
                return .answered(record, .rekey(job))
            }
            guard record.topic == .retry else { return .arrived(Waiter(job: job, record: record)) }
            let note = try RetryNote(record)
            return .arrived(
                Waiter(
                    job: job, record: record, attempts: note.attempt, firstSeen: note.firstSeen,
                    notBefore: note.notBefore))
        } catch {
            let failure = error as? any StageFailure
            return .answered(record, refusal(of: record, failure.map { FailureNote($0) }))
        }
    }

    private nonisolated func refusal(of record: Record, _ failure: FailureNote?) -> Settlement {
        let failure = failure ?? FailureNote(code: "job.unknown", message: "The record cannot be read.", verdict: .deadLetter)
        return .dead(
            attempts: 0,
            Outcome(
                job: intake.id(ofRefused: record), source: nil, url: intake.url(ofRefused: record) ?? "",
                lane: record.topic == .jobsSlow ? .slow : .fast, kind: .dead, variants: [], failure: failure, at: now,
                traceparent: record.traceparent))
    }
}
