internal import Canonical
internal import Clocks
internal import Failures
import Ports
internal import Records

/// The record of actions: every control that the log still holds, or whose outcome it holds.
struct ControlHistory {
    /// One control, over all partitions that it went to.
    struct Entry {
        let id: String
        /// nil if the control could not be read.
        var verb: Control.Verb?
        var named: ControlSubject?
        var by: String?
        var why: String?
        /// Time at which it was written, or appended if it does not state that.
        var at: WallTime
        /// Partitions that it went to, and the partitions without an outcome yet.
        var partitions: Set<PartitionID> = []
        var waiting: Set<PartitionID> = []
        /// Partitions with an outcome. The first one counts, because a crash or a publisher may repeat it.
        var ended: Set<PartitionID> = []
        var kinds: Set<ControlOutcome.Kind> = []
        /// Jobs that it ended or moved so far.
        var jobs = 0
        /// Reason of a refusal.
        var failure: FailureNote?
        /// End of a pause; nil for other controls.
        var until: WallTime?
        /// Whether its pause is active in a partition.
        var isActive = false

        /// State over all partitions.
        enum State: String {
            /// Some partitions have not applied it to all jobs.
            case waiting
            /// A pause that holds jobs back now.
            case active
            case applied
            /// No partition has a job that it names.
            case unknown
            case refused
            /// It was applied, and its outcomes are no longer kept, or were not read.
            case ended
        }

        var state: State {
            if !waiting.isEmpty { return .waiting }
            if isActive { return .active }
            if kinds.contains(.applied) { return .applied }
            if kinds.contains(.refused) { return .refused }
            return kinds.contains(.unknown) ? .unknown : .ended
        }

        fileprivate init(_ id: String, at: WallTime) { (self.id, self.at) = (id, at) }
    }

    private let rules: CanonicalRules
    private var entries: [String: Entry] = [:]
    /// Whether each partition said which pauses are active.
    private(set) var arePausesKnown = true
    /// Outcomes of the partition's controls, by the control's record.
    private var outcomes: [JobIdentity: ControlOutcome] = [:]

    /// Most outcomes to read: the newest ones of all partitions.
    private static let limit: Int64 = 1_000_000

    init(_ rules: CanonicalRules) { self.rules = rules }

    /// Oldest first.
    var all: [Entry] { entries.values.sorted { ($0.at, $0.id) < ($1.at, $1.id) } }

    mutating func read(_ log: any Log) async throws {
        for partition in log.partitions {
            // Before the outcomes: a control that ends meanwhile must not seem to wait.
            let place = try await log.partitionOffsets([.control], [partition]).first
            var records: [Record] = []
            try await log.each(.control, partition) { records += $0 }
            let start = try await log.bounds(.outcomes, partition).upperBound - Self.limit / Int64(log.partitionCount)
            outcomes = [:]
            try await log.each(.outcomes, partition, from: start) { found in
                for record in found where record.isOfControl {
                    guard let outcome = try? ControlOutcome(record) else { continue }
                    take(outcome, in: partition)
                    if let identity = JobIdentity(completedBy: record) { outcomes[identity] = outcome }
                }
            }
            for record in records { take(record, isFinished: record.offset < place?.committed ?? 0) }
        }
        let (pauses, isWhole) = await log.pauses()
        for pause in pauses { entries[pause.control]?.isActive = true }
        arePausesKnown = isWhole
    }

    private mutating func take(_ outcome: ControlOutcome, in partition: PartitionID) {
        var entry = entries[outcome.control] ?? Entry(outcome.control, at: outcome.requested ?? outcome.at)
        entry.verb = entry.verb ?? outcome.verb
        entry.named = entry.named ?? outcome.named
        entry.by = entry.by ?? outcome.by
        entry.why = entry.why ?? outcome.why
        entry.until = entry.until ?? outcome.until
        entry.at = min(entry.at, outcome.requested ?? outcome.at)
        entry.partitions.insert(partition)
        if entry.ended.insert(partition).inserted {
            entry.kinds.insert(outcome.kind)
            entry.jobs += outcome.jobs
            entry.failure = entry.failure ?? outcome.failure
        }
        entries[outcome.control] = entry
    }

    private mutating func take(_ record: Record, isFinished: Bool) {
        let outcome = outcomes[JobIdentity(of: record)]
        let control = try? Control(record, rules: rules)
        // A refused control may claim the id of another one.
        let id = outcome?.control ?? control?.id ?? Intake(rules: rules).id(ofRefused: record)
        var entry = entries[id] ?? Entry(id, at: record.timestamp)
        if let control {
            entry.verb = control.verb
            entry.named = ControlSubject(control.scope)
            (entry.by, entry.why, entry.until) = (control.by, control.why, control.until)
        }
        entry.at = min(entry.at, control?.at ?? record.timestamp)
        entry.partitions.insert(record.partition)
        if outcome == nil, !isFinished { entry.waiting.insert(record.partition) }
        entries[id] = entry
    }
}
