internal import Failures
internal import ImageModel
internal import Partition
internal import Ports
internal import Records

/// Records become jobs: decoded, canonicalised again, and refused with the reason if they are none.
extension Worker {
    nonisolated func takeUp(_ record: Record, _ readings: inout RecentReadings) -> PartitionEvent {
        let job: Job
        do throws(JobFailure) { job = try readings.job(of: record, by: intake) } catch {
            return refuse(record, FailureNote(error))
        }
        guard job.source.partition(of: ports.log.partitionCount) == record.partition else {
            return .answered(record, .rekey(job))
        }
        guard record.topic.isRetry else { return .arrived(PendingJob(job: job, record: record)) }
        do throws(RecordFailure) {
            let note = try RetryNote(record)
            return .arrived(
                PendingJob(
                    job: job, record: record, attempts: note.attempt, firstSeen: note.firstSeen,
                    notBefore: min(note.notBefore, now + RecordLimits.longestWait), heldSince: note.heldSince,
                    deaths: note.deaths))
        } catch {
            return refuse(record, FailureNote(error))
        }
    }

    private nonisolated func refuse(_ record: Record, _ cause: FailureNote) -> PartitionEvent {
        let (id, url, now) = (intake.id(ofRefused: record), intake.url(ofRefused: record), now)
        let outcome = Outcome(
            job: id, source: nil, url: url ?? "", lane: record.topic.lane ?? .fast, kind: .dead,
            variants: [], failure: cause, at: now, traceparent: record.traceparent)
        return .answered(
            record, .dead(DeadLetter(of: record, id: id, cause: cause, attempts: 0, url: url, at: now), outcome))
    }
}
