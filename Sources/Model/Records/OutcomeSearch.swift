package import Canonical
package import Clocks
internal import Failures
package import ImageModel

/// Search of log records for the results of one job, or of the jobs of one source.
///
/// It is pure: the caller passes the records of each partition in their order. A crash may repeat an outcome: if it
/// equals an earlier outcome with its id, it is dropped. A job that was published twice has two outcomes if they
/// differ.
package struct OutcomeSearch: Sendable {
    package enum Subject: Sendable, Hashable {
        case job(String)
        case source(SourceKey)
    }

    /// A finished job, from its outcome, or from its dead letter if its outcome is no longer kept.
    package struct Ended: Sendable, Hashable {
        package let report: OutcomeReport
        /// nil if only the dead letter of a parked job exists.
        package let lane: Lane?
        /// Whether `mezzotint dead list` shows its dead letter.
        package fileprivate(set) var hasDeadLetter = false
        /// Id under which `mezzotint dead replay` published the job again: since 0.2.0, its own.
        package fileprivate(set) var replayedAs: String?
        /// Attempts including the last one; nil if their number would reveal something about the worker's network.
        package fileprivate(set) var attempts: Int?
    }

    /// A job that has not finished.
    package struct Pending: Sendable, Hashable {
        package let job: String
        package let topic: Topic
        /// Lane that its publisher chose.
        package let lane: Lane
        /// Append time of its first record.
        package let since: WallTime
        /// Attempts made so far.
        package let attempts: Int
        /// Time when it is due; nil for a record of a lane. A job that is due waits for its host, or for its turn.
        package let due: WallTime?
        /// Reason why it waits, or waited last; nil for a record of a lane.
        package let code: String?
        package let message: String?

        /// Where the job is, as far as the log shows it.
        package enum Place: String, Sendable, Hashable {
            /// A record of a lane, read or not.
            case lane
            case parked
            /// Parked while it runs, because it has run for long. If its worker has died since, it runs again.
            case running
        }

        package var place: Place {
            topic.lane != nil ? .lane : code == RetryCause.Code.slow.rawValue ? .running : .parked
        }
    }

    private let subject: Subject
    private let intake: Intake
    private let key: [UInt8]
    private var outcomes: [OutcomeReport] = []
    private var said: Set<OutcomeReport> = []
    private var deadLetters: [PartitionID: [Record]] = [:]
    /// Unfinished jobs without their bytes, `most` at most: a publisher may have filled the log with jobs of one
    /// source.
    private var unfinished: [(identity: JobIdentity, job: Pending)] = []
    private static let most = 100_000
    /// Parked jobs, by identity.
    private var parked: [JobIdentity: Pending] = [:]
    /// Records whose job has ended or waits elsewhere.
    private var superseded: Set<JobIdentity> = []
    /// Records, and parked jobs, that have an outcome.
    private var completed: Set<JobIdentity> = []

    package init(_ subject: Subject, intake: Intake) {
        (self.subject, self.intake) = (subject, intake)
        if case .source(let source) = subject { key = RecordKey.job(source).bytes } else { key = [] }
    }

    /// First bytes of the keys of the subject's rows in `parked`.
    package var keyPrefix: [UInt8] { key.isEmpty ? [] : key + Array("/".utf8) }

    /// Takes a record of `outcomes` or `dead`, a row or tombstone of `parked`, or a record of another topic that its group
    /// has not finished.
    package mutating func take(_ record: Record) {
        if record.topic == .parked, record.value == nil { return drop(record) }
        guard isOfSubject(record) else { return }
        if let identity = JobIdentity(completedBy: record) {
            superseded.insert(identity)
            if record.topic == .outcomes { completed.insert(identity) }
        }
        switch record.topic {
        case .outcomes:
            guard let report = try? OutcomeReport(record) else { return }
            var same = report
            (same.at, same.attempts, same.throttledBy) = (.epoch, 0, nil)
            if said.insert(same).inserted { outcomes.append(report) }
        case .dead: deadLetters[record.partition, default: []].append(record)
        case .parked:
            // A row that was published again does not name the record whose place it takes.
            superseded.insert(JobIdentity(of: record))
            if parked.count < Self.most { parked[JobIdentity(of: record)] = pending(record) }
        default: if unfinished.count < Self.most { unfinished.append((JobIdentity(of: record), pending(record))) }
        }
    }

    private mutating func drop(_ tombstone: Record) {
        if !parked.isEmpty { parked[JobIdentity(of: tombstone)] = nil }
    }

    /// Finished jobs, newest last.
    package var ended: [Ended] {
        var ended = outcomes.map { Ended(report: $0, lane: $0.lane, attempts: $0.allAttempts) }
        func deadOutcomes(of job: String, replays: Int) -> [Int] {
            ended.indices.filter {
                let report = ended[$0].report
                return report.job == job && report.kind == .dead && report.replays == replays
            }
        }
        for deadLetter in deadLetters.values.flatMap({ DeadLetter.standing($0).deadLetters }) {
            let places = deadOutcomes(of: deadLetter.id, replays: deadLetter.replays)
            for place in places {
                ended[place].hasDeadLetter = true
                if ended[place].attempts != nil { ended[place].attempts = deadLetter.attempts }
            }
            if places.isEmpty { ended.append(Ended(deadLetter)) }
        }
        for record in deadLetters.values.joined() where record.value == nil {
            guard let id = record.header(EventHeader.discards), let job = record.header(EventHeader.replayedAs) else {
                continue
            }
            for place in deadOutcomes(of: id, replays: record.replays) { ended[place].replayedAs = job }
        }
        // The embedded log keeps a key's newest tombstone alone.
        let newest = Dictionary(ended.map { ($0.report.job, $0.report.replays) }, uniquingKeysWith: max)
        for place in ended.indices where ended[place].report.kind == .dead {
            let (job, replays) = (ended[place].report.job, ended[place].report.replays)
            if ended[place].replayedAs == nil, let last = newest[job], last > replays { ended[place].replayedAs = job }
        }
        return ended.sorted {
            ($0.report.at, $0.report.job, $0.report.replays) < ($1.report.at, $1.report.job, $1.report.replays)
        }
    }

    /// Unfinished jobs, oldest first.
    package var pending: [Pending] {
        // A row answers its own identity, so only an outcome shows that its job has ended.
        (unfinished.filter { !superseded.contains($0.identity) }.map(\.job)
            + parked.filter { !completed.contains($0.key) }.values)
            .sorted { ($0.since, $0.job) < ($1.since, $1.job) }
    }

    private func pending(_ record: Record) -> Pending {
        let note = try? RetryNote(record)
        return Pending(
            job: note?.job ?? job(of: record), topic: record.topic,
            lane: note?.lane ?? record.topic.lane ?? .background, since: note?.firstSeen ?? record.timestamp,
            attempts: note?.attempt ?? 0, due: note?.notBefore, code: note?.cause.code, message: note?.cause.message)
    }

    private func isOfSubject(_ record: Record) -> Bool {
        guard case .job(let id) = subject else { return record.jobKey == key }
        return switch record.topic {
        case .outcomes: record.header(EventHeader.id).map { Outcome.isID($0, of: id) } ?? false
        case .dead: record.header(record.value == nil ? EventHeader.discards : EventHeader.id) == id
        default: record.header(EventHeader.id).map { $0 == id } ?? (job(of: record) == id)
        }
    }

    private func job(of record: Record) -> String {
        (try? intake.job(from: record).id) ?? intake.id(ofRefused: record)
    }
}

extension OutcomeSearch.Ended {
    fileprivate init(_ deadLetter: DeadLetter) {
        let lane = deadLetter.origin.topic.lane
        let failure = OutcomeReport.Failure(code: deadLetter.cause.code, message: deadLetter.cause.message)
        var report = OutcomeReport(
            job: deadLetter.id, source: nil, url: deadLetter.url?.description ?? "", lane: lane ?? .background, kind: .dead,
            attempts: deadLetter.attempts, at: deadLetter.at, failure: failure)
        report.replays = deadLetter.replays
        self.init(report: report, lane: lane, hasDeadLetter: true, attempts: deadLetter.attempts)
    }
}
