package import Canonical
package import Clocks
package import ImageModel
package import Records

/// One record that a flight must answer: a job, and where in the log it stands.
///
/// Never changes; shared, since it goes through several events and effects, and a copy of its parts costs more than all
/// that these do with it.
package final class PendingJob: Sendable {
    package let job: Job
    /// As it came, for a retry topic or a dead letter.
    package let record: Record
    /// Attempts made before this one.
    package let attempts: Int
    /// When the job was first taken up.
    package let firstSeen: WallTime
    /// Not to be tried before this; `epoch` if it may run at once.
    package let notBefore: WallTime
    /// Since when the machine's fault has held it back; nil if that does not.
    package let heldSince: WallTime?
    /// Owners that died while it was under way, or may have been, as its record tells.
    package let deaths: Int
    /// What of its host held it back last.
    package let heldBy: HostHold?
    /// The host that it waited for in a tier, where redirects led there; nil: its URL's, if any.
    package let awaited: OriginHost?
    /// Since when its host has been at fault; nil if it was not yet.
    package let failingSince: WallTime?
    /// Of the last failed attempt; nil if there was none, or a record of a retry topic tells it.
    package let lastCode: String?

    package init(
        job: Job, record: Record, attempts: Int = 0, firstSeen: WallTime? = nil, notBefore: WallTime = .epoch,
        heldSince: WallTime? = nil, deaths: Int = 0, failingSince: WallTime? = nil, heldBy: HostHold? = nil,
        awaited: OriginHost? = nil, lastCode: String? = nil
    ) {
        (self.heldBy, self.awaited, self.lastCode) = (heldBy, awaited, lastCode)
        (self.job, self.record, self.attempts, self.failingSince) = (job, record, attempts, failingSince)
        (self.notBefore, self.heldSince, self.deaths) = (notBefore, heldSince, deaths)
        self.firstSeen = firstSeen ?? record.timestamp
    }

    /// The same job, to be tried later.
    ///
    /// - Parameter code: why, if not for the same reason as before.
    func putOff(
        until notBefore: WallTime, attempts: Int, heldSince: WallTime? = nil, failingSince: WallTime? = nil,
        code: String? = nil
    ) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, deaths: deaths, failingSince: failingSince ?? self.failingSince, heldBy: heldBy,
            awaited: awaited, lastCode: code ?? lastCode)
    }

    /// The same job, whose next record tells this.
    func told(deaths: Int) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, deaths: deaths, failingSince: failingSince, heldBy: heldBy, awaited: awaited,
            lastCode: lastCode)
    }

    /// The same job, that goes on in a tier until this host has room, and waits for nothing else; nil: its URL's.
    func passedOn(awaiting host: OriginHost?, failingSince: WallTime?, deaths: Int) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, heldSince: heldSince, deaths: deaths,
            failingSince: failingSince ?? self.failingSince, heldBy: heldBy, awaited: host,
            lastCode: lastCode)
    }

    /// The same job, whose outcome says so.
    func held(by hold: HostHold) -> PendingJob {
        PendingJob(
            job: job, record: record, attempts: attempts, firstSeen: firstSeen, notBefore: notBefore,
            heldSince: heldSince, deaths: deaths, failingSince: failingSince, heldBy: hold, awaited: awaited,
            lastCode: lastCode)
    }

    /// Whether it is fast and its host has not failed: it does not become slow while it waits.
    var isUrgent: Bool { job.lane.isUrgent && failingSince == nil }

    package var place: RecordPlace { RecordPlace(record) }

    /// When it is looked at: a retry whose time passes before its turn comes is told so then.
    package var due: WallTime { min(notBefore, job.expires ?? .distantFuture) }

    /// For how long its host has been at fault.
    func failing(at now: WallTime) -> Duration { now - (failingSince ?? now) }

    /// A fast job whose host does not answer goes on as a slow one after a while. Its record keeps its lane: that is signed.
    func lane(at now: WallTime, _ retry: RetryPolicy) -> Lane {
        retry.lane(job.lane, failingSince: failingSince, at: now)
    }

    func isExpired(at now: WallTime) -> Bool { job.expires.map { $0 <= now } ?? false }
}
