/// A bug that is put into the ports of a simulation, to see that a checker finds it.
package enum Plant: String, Sendable, CaseIterable {
    /// An offset is committed before its record is finished.
    case commitEarly = "commit-early"
    /// A record that was taken up is never worked on.
    case dropJob = "drop-job"
    /// Rows do not say in which ownership they were written.
    case forgetEpoch = "forget-epoch"
    /// A row that was folded is not in the index.
    case loseRow = "lose-row"
    /// The record that opens an ownership is acknowledged, and not appended.
    case skipFence = "skip-fence"
    /// An answer is acknowledged, and not appended.
    case loseAnswer = "lose-answer"
    /// A job that workers owe is acknowledged, and not appended.
    case loseDebt = "lose-debt"
    /// The group gives one partition to two workers.
    case twoOwners = "two-owners"
    /// A blob is said to be stored, and is not.
    case loseBlob = "lose-blob"
    /// An owner finds older positions than those of the newest progress row.
    case stalePosition = "stale-position"
    /// Rows of `parked` do not tell how often their jobs were tried.
    case forgetAttempts = "forget-attempts"
    /// An owner does not read what the last one had begun.
    case trustNoMarker = "trust-no-marker"
    /// An owner finds no outcome that earlier ones left.
    case hideOutcomes = "hide-outcomes"
    /// A host that asks to be left alone does not say for how long.
    case forgetWait = "forget-wait"
    /// Redirects to other hosts are followed without their leave.
    case followUnasked = "follow-unasked"
    /// Of slots that were passed each worker reads that they stand with it.
    case claimSlots = "claim-slots"
    /// Every slow flight is taken for one that has waited too long.
    case slowFirst = "slow-first"
    /// None ever is.
    case loseAged = "lose-aged"
    /// Slow jobs come by the fast lane.
    case mixLanes = "mix-lanes"
    /// A cancelled fetch does not end.
    case deafFetch = "deaf-fetch"
    /// While one partition's topic is away, nothing is read of any other.
    case stallOthers = "stall-others"
    /// The changelog says that rows were appended before they are, so that jobs are answered before the fold.
    case answerEarly = "answer-early"
    /// More is read ahead than the worker was told to.
    case readOn = "read-on"
    /// One more fetch runs than the worker was told to.
    case sparePermit = "spare-permit"
    /// A fetch goes on when its answer is there.
    case fetchOn = "fetch-on"
    /// An answer lacks its last byte.
    case tearAnswer = "tear-answer"
    /// Of an index that is restored not all rows are published.
    case publishLess = "publish-less"
    /// The tombstone of a parked job is appended before its outcome.
    case unparkEarly = "unpark-early"
    /// The tombstone of a parked job is acknowledged, and not appended.
    case loseTombstone = "lose-tombstone"
    /// Rows of `parked` say that the partition's owner wrote them, whoever did.
    case believeRow = "believe-row"
    /// So do its tombstones.
    case believeTombstone = "believe-tombstone"
    /// The log says that all of `parked` is read before it is, so that parked jobs start before the fold.
    case startEarly = "start-early"
    /// A checkpoint passes the outcomes of parked jobs whose tombstones are missing.
    case passUnparked = "pass-unparked"
    /// The newest parked job of a host and lane is taken for the oldest.
    case newestFirst = "newest-first"
    /// Fast jobs wait among the slow ones of their host.
    case slowParked = "slow-parked"
    /// No parked job is ever seen to be ready.
    case forgetReady = "forget-ready"
    /// All rows of a source have one key, as if a publisher's repeated id were in it.
    case repeatIdentity = "repeat-identity"
    /// The log says that it has no job when a control comes.
    case endControl = "end-control"
    /// A control finds no parked job.
    case hideParked = "hide-parked"
    /// The log says that it has no control when a partition comes.
    case jobsFirst = "jobs-first"
    /// A control is read as if it had come later.
    case lateControl = "late-control"
    /// An owner finds no pauses in the newest progress row.
    case forgetPause = "forget-pause"
    /// A pause is read as if it lasted an hour longer.
    case pauseOn = "pause-on"
    /// A resume is read as if it were of all pauses.
    case resumeAll = "resume-all"
    /// A worker that is told to stop does not.
    case ignoreStop = "ignore-stop"

    /// What is there to find it.
    package var rule: Rule {
        switch self {
        case .commitEarly, .loseAnswer, .dropJob: .committable
        case .forgetEpoch: .fenced
        case .loseRow, .believeRow, .believeTombstone: .index
        case .unparkEarly: .parkedEnd
        case .startEarly, .passUnparked, .loseTombstone, .repeatIdentity: .parkedStart
        case .newestFirst, .slowParked: .parkedOrder
        case .forgetReady, .stallOthers: .parkedRoom
        case .answerEarly: .order
        case .skipFence: .progress
        case .loseDebt: .promises
        case .twoOwners: .waits
        case .loseBlob: .stored
        case .stalePosition: .repeated
        case .forgetAttempts: .attempts
        case .trustNoMarker: .poison
        case .hideOutcomes: .said
        case .forgetWait: .politeness
        case .followUnasked: .third
        case .claimSlots: .ceiling
        case .slowFirst: .lanes
        case .loseAged: .aged
        case .mixLanes: .room
        case .deafFetch: .abandoned
        case .readOn: .memory
        case .sparePermit: .permits
        case .fetchOn: .singleFlight
        case .tearAnswer: .answered
        case .publishLess: .published
        case .endControl, .hideParked, .jobsFirst, .lateControl: .control
        case .forgetPause, .resumeAll: .paused
        case .pauseOn: .resumed
        case .ignoreStop: .ended
        }
    }
}
