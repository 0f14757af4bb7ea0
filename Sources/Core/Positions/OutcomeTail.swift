package import Clocks
package import Failures
internal import Ledger
internal import Ports
package import Records

/// Outcomes of a partition's records that are in the log but not in its progress row.
///
/// A worker that is killed leaves outcomes that no row covers. Each outcome names its record. So the next owner reads
/// the partition's outcomes from the offsets up to which the row covers all, and repeats none of those jobs.
package struct OutcomeTail: Sendable, Equatable {
    /// Topics that hold outcomes, in reading order: once a record's outcome is known, its dead letter need not be kept. A
    /// row of `parked` finishes a lane's record, as an outcome does.
    package static let topics: [Topic] = [.outcomes, .parked] + Topic.retries + [.dead]

    /// Offsets below which outcomes were read, or are this owner's own.
    package private(set) var ends: [Topic: Int64] = [:]
    /// Offsets up to which the newest progress row covers all outcomes.
    private var written: [Topic: Int64]
    /// Offsets of each topic below which records are finished in any case.
    private let floors: [Topic: Int64]
    /// Epoch in `parked` up to those offsets, and up to `ends`: rows of earlier epochs do not count.
    private var writtenEpoch: Int64 = 0
    private var epoch: Int64 = 0
    /// Offsets below which the row lists records as finished. From there to the floors, only the group's offset shows
    /// it.
    private let starts: [Topic: Int64]
    /// Offset of `outcomes` up to which the outcomes of earlier owners were read.
    package private(set) var outcomesRead: Int64 = 0
    private var completedBelow: [Topic: OffsetSet] = [:]
    /// Records with an outcome, by topic: offset and append time.
    private var completed: [Topic: [Int64: WallTime]] = [:]
    private var deadLetters: [Topic: [Int64: LoneDeadLetter]] = [:]
    /// Parked jobs with an outcome that no row covers: their rows must be deleted, not started. Until they are, no row may
    /// cover their outcomes either: the next owner would find nothing that keeps it from starting them.
    package private(set) var endedParked: Set<ParkedKey> = []
    /// Offset of this owner's last outcome of a parked job whose tombstone may not be in the log yet.
    private var newestParked: Int64?
    /// Offset of this owner's last dead letter whose outcome may not be in the log yet.
    private var newestDeadLetter: Int64?

    package init(after written: [Topic: Int64]) { (self.written, floors, starts) = (written, [:], [:]) }

    /// - Parameter committed: the group's offset of each topic.
    package init(after row: ProgressRow?, committed: [Topic: Int64]) {
        (written, starts) = (row?.answers ?? [:], row?.topics.mapValues(\.next) ?? [:])
        writtenEpoch = row?.parked?.epoch ?? 0
        epoch = writtenEpoch
        floors = starts.merging(committed, uniquingKeysWith: max)
    }

    /// Range of an outcome topic with these bounds that must be read. It is empty if no row covers the topic, except for
    /// `parked`, whose epoch rows must be known.
    package func unread(_ topic: Topic, in bounds: Range<Int64>) -> Range<Int64> {
        guard let written = written[topic] ?? (topic == .parked ? 0 : nil) else { return bounds.upperBound..<bounds.upperBound }
        // A topic that is shorter than before is another one.
        let start = written > bounds.upperBound ? bounds.lowerBound : max(written, bounds.lowerBound)
        return start..<bounds.upperBound
    }

    /// Offsets up to which a progress row covers all outcomes.
    ///
    /// - Parameter isWhole: the row also covers all records that were found to have outcomes. Otherwise the next owner
    ///   must read those outcomes again, as when their records are not received yet.
    package func ends(isWhole: Bool) -> [Topic: Int64] {
        guard isWhole else { return written }
        var all = written.merging(ends) { $1 }
        if !endedParked.isEmpty { all[.outcomes] = written[.outcomes] }
        return all
    }

    /// Epoch in `parked` up to the offset that a progress row covers.
    package func parkedEpoch(isWhole: Bool) -> Int64 { isWhole ? epoch : writtenEpoch }

    /// Notes that the log has a row that covers all outcomes before these offsets.
    package mutating func wrote(_ ends: [Topic: Int64], parkedEpoch: Int64) { (written, writtenEpoch) = (ends, parkedEpoch) }

    /// Notes that this owner's epoch row is in `parked`.
    package mutating func opened(_ epoch: Int64, at offset: Int64) {
        if GroupEpoch.isBefore(self.epoch, epoch) { self.epoch = epoch }
        move(.parked, offset)
    }

    /// Notes an outcome that was read.
    package mutating func read(_ record: Record) {
        if record.topic == .outcomes { readParkedEnd(record) }
        if record.topic == .parked {
            guard let written = record.epoch, !GroupEpoch.isBefore(written, epoch) else { return }
            epoch = written
        }
        guard let target = Self.target(record), target.partition == record.partition else { return }
        guard target.offset >= floors[target.topic] ?? 0 else {
            // A record with only a dead letter is not finished.
            guard record.topic != .dead, target.offset >= starts[target.topic] ?? .max else { return }
            return completedBelow[target.topic, default: OffsetSet()].insert(target.offset)
        }
        guard record.topic == .dead else {
            completed[target.topic, default: [:]][target.offset] = target.timestamp
            return
        }
        guard completed[target.topic]?[target.offset] != target.timestamp, let deadLetter = try? DeadLetter(record) else {
            return
        }
        deadLetters[target.topic, default: [:]][target.offset] = LoneDeadLetter(deadLetter, appended: target.timestamp)
    }

    /// Record that another one completes. A row of `parked` completes its job's first record, which its key names.
    private static func target(_ record: Record) -> CompletedRecord? {
        guard record.topic == .parked else { return CompletedRecord(completedBy: record) }
        guard record.value != nil, case .record(let first)? = ParkedKey(record)?.identity else { return nil }
        return first
    }

    /// Notes an outcome, for the parked job that it may complete.
    package mutating func readParkedEnd(_ outcome: Record) {
        if let ended = ParkedKey(endedBy: outcome) { endedParked.insert(ended) }
    }

    /// Notes that a topic was read up to its end, or need not be.
    package mutating func finish(_ topic: Topic, at end: Int64) {
        ends[topic] = end
        if topic == .outcomes { outcomesRead = end }
    }

    /// Notes outcomes that this owner appended together and that are in the log. Dead letters count once their outcomes
    /// are there, and outcomes of parked jobs once their tombstones are, both of which come in later batches.
    ///
    /// - Parameters:
    ///   - isAll: the whole batch is in the log, and so are the rest of the batches before.
    ///   - endsParked: whether an outcome of the batch is one of a parked job.
    package mutating func note(
        _ places: some Sequence<(topic: Topic, offset: Int64)>, isAll: Bool, endsParked: Bool = false
    ) {
        if isAll {
            if let newestDeadLetter { move(.dead, newestDeadLetter) }
            if let newestParked { move(.outcomes, newestParked) }
            (newestDeadLetter, newestParked) = (nil, nil)
        }
        for (topic, offset) in places {
            if topic == .outcomes, endsParked || newestParked != nil {
                newestParked = max(newestParked ?? 0, offset)
            } else if topic == .dead {
                newestDeadLetter = max(newestDeadLetter ?? 0, offset)
            } else if isAll {
                move(topic, offset)
            }
        }
    }

    private mutating func move(_ topic: Topic, _ offset: Int64) {
        if let end = ends[topic], offset >= end { ends[topic] = offset + 1 }
    }

    /// Records of a topic with an outcome: offset and append time.
    package func completed(_ topic: Topic) -> [Int64: WallTime] { completed[topic] ?? [:] }

    /// Outcomes of a topic's records between its progress row and the group's offset. Nothing proves that they belong
    /// to this log, so they only decide what is reported to operators.
    package func completedBelow(_ topic: Topic) -> OffsetSet { completedBelow[topic] ?? OffsetSet() }

    /// Records of a topic that have a dead letter and no outcome, by offset.
    package func deadLetters(_ topic: Topic) -> [Int64: LoneDeadLetter] { deadLetters[topic] ?? [:] }

    /// Whether outcomes were found for the topic that no reading has used yet.
    package func hasFound(_ topic: Topic) -> Bool {
        completed[topic] != nil || completedBelow[topic] != nil || deadLetters[topic] != nil
    }

    /// Drops the topic's outcomes, because reading began with them.
    package mutating func drop(_ topic: Topic) {
        (completed[topic], completedBelow[topic], deadLetters[topic]) = (nil, nil, nil)
    }

    /// Drops the ended parked jobs that have no row any more.
    package mutating func dropEndedParked(_ gone: some Sequence<ParkedKey>) { endedParked.subtract(gone) }

    /// Number of records that were found to have an outcome.
    package var count: Int { completed.values.reduce(0) { $0 + $1.count } }
}

/// A dead letter whose owner crashed before it appended the outcome. The next owner appends the outcome and does not
/// repeat the job.
package struct LoneDeadLetter: Sendable, Equatable {
    /// Append time of the record.
    package let appended: WallTime
    package let cause: FailureNote

    /// Dead letters are for operators. Outcomes may contain less.
    package init(_ deadLetter: DeadLetter, appended: WallTime) {
        let (code, message) = (deadLetter.cause.code, deadLetter.cause.message)
        let isConfidential =
            FetchFailure.Code(rawValue: code)?.isConfidential ?? RetryCause.Code(rawValue: code)?.isConfidential
            ?? false
        self.appended = appended
        cause = FailureNote(code: code, message: message, verdict: .deadLetter, isConfidential: isConfidential)
    }
}
