package import Clocks
package import Failures
internal import Ledger
internal import Ports
package import Records

/// Outcomes of a partition's records that are in the log but not in its progress row.
///
/// A worker that is killed leaves outcomes that no row covers. Each outcome names its record. So the next owner reads
/// the partition's outcomes from the offsets up to which the row covers all, and repeats none of those jobs.
package struct AnswerTail: Sendable, Equatable {
    /// Topics that hold outcomes, in reading order: once a record's outcome is known, its dead letter need not be kept.
    package static let topics: [Topic] = [.outcomes] + DelayTier.allCases.map(\.topic) + [.dead]

    /// Offsets below which outcomes were read, or are this owner's own.
    package private(set) var ends: [Topic: Int64] = [:]
    /// Offsets up to which the newest progress row covers all outcomes.
    private var told: [Topic: Int64]
    /// Offsets of each topic below which records are finished in any case.
    private let floors: [Topic: Int64]
    /// Offsets below which the row lists records as finished. From there to the floors, only the group's offset shows
    /// it.
    private let starts: [Topic: Int64]
    private var answeredBelow: [Topic: OffsetSet] = [:]
    /// Records with an outcome, by topic: offset and append time.
    private var answered: [Topic: [Int64: WallTime]] = [:]
    private var letters: [Topic: [Int64: LoneLetter]] = [:]
    /// Offset of this owner's last dead letter whose outcome may not be in the log yet.
    private var newestLetter: Int64?

    package init(after told: [Topic: Int64]) { (self.told, floors, starts) = (told, [:], [:]) }

    /// - Parameter committed: the group's offset of each topic.
    package init(after row: ProgressRow?, committed: [Topic: Int64]) {
        (told, starts) = (row?.answers ?? [:], row?.topics.mapValues(\.next) ?? [:])
        floors = starts.merging(committed, uniquingKeysWith: max)
    }

    /// Range of an outcome topic with these bounds that must be read. It is empty if no row covers the topic.
    package func unread(_ topic: Topic, in bounds: Range<Int64>) -> Range<Int64> {
        guard let told = told[topic] else { return bounds.upperBound..<bounds.upperBound }
        // A topic that is shorter than before is another one.
        let start = told > bounds.upperBound ? bounds.lowerBound : max(told, bounds.lowerBound)
        return start..<bounds.upperBound
    }

    /// Offsets up to which a progress row covers all outcomes.
    ///
    /// - Parameter isWhole: the row also covers all records that were found to have outcomes. Otherwise the next owner
    ///   must read those outcomes again, as when their records are not received yet.
    package func ends(isWhole: Bool) -> [Topic: Int64] { isWhole ? told.merging(ends) { $1 } : told }

    /// Notes that the log has a row that covers all outcomes before these offsets.
    package mutating func wrote(_ ends: [Topic: Int64]) { told = ends }

    /// Notes an outcome that was read.
    package mutating func read(_ record: Record) {
        guard let answer = AnsweredRecord(answeredBy: record), answer.partition == record.partition else { return }
        guard answer.offset >= floors[answer.topic] ?? 0 else {
            // A record with only a dead letter is not finished.
            guard record.topic != .dead, answer.offset >= starts[answer.topic] ?? .max else { return }
            return answeredBelow[answer.topic, default: OffsetSet()].insert(answer.offset)
        }
        guard record.topic == .dead else {
            answered[answer.topic, default: [:]][answer.offset] = answer.timestamp
            return
        }
        guard answered[answer.topic]?[answer.offset] != answer.timestamp, let letter = try? DeadLetter(record) else {
            return
        }
        letters[answer.topic, default: [:]][answer.offset] = LoneLetter(letter, appended: answer.timestamp)
    }

    /// Notes that a topic was read up to its end, or need not be.
    package mutating func finish(_ topic: Topic, at end: Int64) { ends[topic] = end }

    /// Notes outcomes that this owner appended together and that are in the log. Dead letters count once their outcomes
    /// are there, which come in later batches.
    ///
    /// - Parameter isAll: the whole batch is in the log, and so are the rest of the batches before.
    package mutating func note(_ places: some Sequence<(topic: Topic, offset: Int64)>, isAll: Bool) {
        if isAll, let newest = newestLetter {
            move(.dead, newest)
            newestLetter = nil
        }
        for (topic, offset) in places {
            if topic == .dead {
                newestLetter = max(newestLetter ?? 0, offset)
            } else if isAll {
                move(topic, offset)
            }
        }
    }

    private mutating func move(_ topic: Topic, _ offset: Int64) {
        if let end = ends[topic], offset >= end { ends[topic] = offset + 1 }
    }

    /// Records of a topic with an outcome: offset and append time.
    package func answered(_ topic: Topic) -> [Int64: WallTime] { answered[topic] ?? [:] }

    /// Outcomes of a topic's records between its progress row and the group's offset. Nothing proves that they belong
    /// to this log, so they only decide what is reported to operators.
    package func answeredBelow(_ topic: Topic) -> OffsetSet { answeredBelow[topic] ?? OffsetSet() }

    /// Records of a topic that have a dead letter and no outcome, by offset.
    package func letters(_ topic: Topic) -> [Int64: LoneLetter] { letters[topic] ?? [:] }

    /// Whether outcomes were found for the topic that no reading has used yet.
    package func hasFound(_ topic: Topic) -> Bool {
        answered[topic] != nil || answeredBelow[topic] != nil || letters[topic] != nil
    }

    /// Drops the topic's outcomes, because reading began with them.
    package mutating func drop(_ topic: Topic) {
        (answered[topic], answeredBelow[topic], letters[topic]) = (nil, nil, nil)
    }

    /// Number of records that were found to have an outcome.
    package var count: Int { answered.values.reduce(0) { $0 + $1.count } }
}

/// A dead letter whose owner crashed before it appended the outcome. The next owner appends the outcome and does not
/// repeat the job.
package struct LoneLetter: Sendable, Equatable {
    /// Append time of the record.
    package let appended: WallTime
    package let cause: FailureNote

    /// Dead letters are for operators. Outcomes may contain less.
    package init(_ letter: DeadLetter, appended: WallTime) {
        let (code, message) = (letter.cause.code, letter.cause.message)
        let isConfidential =
            FetchFailure.Code(rawValue: code)?.isConfidential ?? RetryCause.Code(rawValue: code)?.isConfidential
            ?? false
        self.appended = appended
        cause = FailureNote(code: code, message: message, verdict: .deadLetter, isConfidential: isConfidential)
    }
}
