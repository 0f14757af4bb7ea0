internal import Canonical
internal import Clocks
internal import Failures
internal import ImageModel
internal import Jobs
internal import Partition
internal import Ports
internal import Records

/// Turns records into jobs: decodes them, canonicalises again, and refuses records that are no jobs, with the reason.
extension Worker {
    nonisolated func takeUp(_ record: Record, _ recent: inout RecentParts) -> PartitionEvent {
        if record.topic == .control { return takeUp(control: record) }
        let job: Job
        do throws(JobFailure) {
            try configuration.keys?.check(record)
            job = try intake.job(from: record, &recent)
        } catch {
            // An outcome under the id of an untrusted client could be taken for that of the real job.
            return refuse(record, FailureNote(error), id: error.isUntrusted ? record.placeText : nil)
        }
        let home = job.source.partition(of: ports.log.partitionCount)
        // A record that was republished from its proper partition is done here. Its owner counts other partitions, and
        // would send it back for ever. So is a parked job: its row is in this partition.
        guard home == record.partition || record.rekeyedFrom == home || record.topic == .parked else {
            return .completed(record, .rekey(job))
        }
        guard record.topic.hasNotes else { return .arrived(PendingJob(job: job, record: record)) }
        do throws(RecordFailure) {
            let (note, now) = (try RetryNote(record), now)
            // Times from a clock that was ahead: a job would wait for them, and be retried until they are long past.
            return .arrived(
                PendingJob(
                    job: job, record: record, attempts: note.attempt, firstSeen: min(note.firstSeen, now),
                    notBefore: min(note.notBefore, now + RecordLimits.longestWait),
                    heldSince: note.heldSince.map { min($0, now) }, crashes: note.crashes,
                    failingSince: note.failingSince.map { min($0, now) },
                    throttledBy: note.cause.hold, awaited: note.host, movedTo: record.movedTo(from: job.lane)))
        } catch {
            return refuse(record, FailureNote(error))
        }
    }

    private nonisolated func takeUp(control record: Record) -> PartitionEvent {
        do throws(ControlFailure) {
            let control = try Control(record, rules: configuration.canonical, keys: configuration.keys)
            if case .source(let source, let url) = control.scope, source.partition(of: ports.log.partitionCount) != record.partition {
                throw .misplaced(url: url.shown.description, key: source.hex)
            }
            return .controlled(control, record)
        } catch {
            let id = error.isUntrusted ? record.placeText : intake.id(ofRefused: record)
            return .completed(
                record, .control(ControlOutcome(control: id, verb: nil, kind: .refused, failure: FailureNote(error), at: now)))
        }
    }

    private nonisolated func refuse(_ record: Record, _ cause: FailureNote, id: String? = nil) -> PartitionEvent {
        let (url, now) = (id == nil ? intake.url(ofRefused: record) : nil, now)
        let id = id ?? intake.id(ofRefused: record)
        var outcome = Outcome(
            job: id, source: nil, url: url ?? "", lane: record.topic.lane ?? .fast, kind: .dead,
            variants: [], failure: cause, at: now, traceparent: record.traceparent)
        outcome.replays = record.replays
        return .completed(
            record, .dead(DeadLetter(of: record, id: id, cause: cause, attempts: 0, url: url, at: now), outcome))
    }
}
