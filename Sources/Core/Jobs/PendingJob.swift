package import Canonical
package import Clocks
package import ImageModel
package import Records

/// One record that a flight must complete: a job with its position in the log.
///
/// It is immutable and shared, because it passes through several events and effects. A copy of its parts would cost
/// more than all of these do with it.
package final class PendingJob: Sendable {
    package let job: Job
    /// The record as it came, for a row of `parked` or a dead letter.
    package let record: Record
    /// Number of attempts before this one.
    package let attempts: Int
    /// Time when the job was first accepted.
    package let firstSeen: WallTime
    /// Earliest time of its attempt; `epoch` if it may run at once.
    package let notBefore: WallTime
    /// Time since which the machine's fault has held it back; nil if it does not.
    package let heldSince: WallTime?
    /// Number of owners that crashed while it was in progress, or may have been, according to its record.
    package let crashes: Int
    /// The last limit of its host that held it back.
    package let throttledBy: HostHold?
    /// Redirect target that it waited for; nil: it waited for its URL's host, if any.
    package let awaited: OriginHost?
    /// Time since which its host has been at fault; nil if it was not yet.
    package let failingSince: WallTime?
    /// Lane that a control moved it to; nil if none did.
    package let movedTo: Lane?

    package init(
        job: Job, record: Record, attempts: Int = 0, firstSeen: WallTime? = nil, notBefore: WallTime = .epoch,
        heldSince: WallTime? = nil, crashes: Int = 0, failingSince: WallTime? = nil, throttledBy: HostHold? = nil,
        awaited: OriginHost? = nil, movedTo: Lane? = nil
    ) {
        (self.throttledBy, self.awaited, self.movedTo) = (throttledBy, awaited, movedTo)
        (self.job, self.record, self.attempts, self.failingSince) = (job, record, attempts, failingSince)
        (self.notBefore, self.heldSince, self.crashes) = (notBefore, heldSince, crashes)
        self.firstSeen = firstSeen ?? record.timestamp
    }

    /// The same job, for a later attempt.
    func putOff(
        until notBefore: WallTime, attempts: Int, heldSince: WallTime? = nil, failingSince: WallTime? = nil
    ) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, crashes: crashes, failingSince: failingSince ?? self.failingSince, throttledBy: throttledBy,
            awaited: awaited, movedTo: movedTo)
    }

    /// The same job, with this number of crashes for its next record.
    func counting(crashes: Int) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, crashes: crashes, failingSince: failingSince, throttledBy: throttledBy, awaited: awaited, movedTo: movedTo)
    }

    /// The same job, which waits until this host has room, and for nothing else. nil: its URL's host.
    func awaiting(_ host: OriginHost?, failingSince: WallTime?, crashes: Int) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, heldSince: heldSince, crashes: crashes,
            failingSince: failingSince ?? self.failingSince, throttledBy: throttledBy, awaited: host, movedTo: movedTo)
    }

    /// The same job as one of a row, which is appended while the job runs.
    func parkedRunning(_ offset: Int64) -> PendingJob {
        var headers = record.headers
        headers.append(EventHeader.origin, "\(record.jobOrigin)")
        let row = Record(
            topic: .parked, partition: record.partition, offset: offset, timestamp: record.timestamp,
            key: RecordKey.parked(job.source, JobIdentity(of: record)).bytes, value: record.value, headers: headers)
        return PendingJob(
            job: job, record: row, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, crashes: crashes, failingSince: failingSince, throttledBy: throttledBy, awaited: awaited, movedTo: movedTo)
    }

    /// The same job, with the limit that held it back for its outcome.
    func held(by hold: HostHold) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, crashes: crashes, failingSince: failingSince, throttledBy: hold, awaited: awaited, movedTo: movedTo)
    }

    /// The same job, which runs on this lane from now on, also if its host fails.
    func moved(to lane: Lane) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, crashes: crashes, failingSince: failingSince, throttledBy: throttledBy, awaited: awaited,
            movedTo: lane)
    }

    package var place: RecordPlace { RecordPlace(record) }

    /// Time of its next examination. A job that expires before its retry is reported as expired then.
    package var due: WallTime { min(notBefore, job.expires ?? .distantFuture) }

    /// How long its host has been at fault.
    func failing(at now: WallTime) -> Duration { now - (failingSince ?? now) }

    /// Lane that the job runs on: that of the last control that moved it. Without one, a fast job whose host does not respond becomes slow after a while. Its record keeps
    /// its lane, because that is signed.
    func lane(at now: WallTime, _ retry: RetryPolicy) -> Lane {
        movedTo ?? retry.lane(job.lane, failingSince: failingSince, at: now)
    }

    func isExpired(at now: WallTime) -> Bool { job.expires.map { $0 <= now } ?? false }
}
