package import Clocks
package import Failures
internal import Ledger
internal import Ports
package import Records

/// What of a partition's records is answered beyond its progress row, as the log shows it.
///
/// A worker that is killed leaves answers that no row tells of. Each answer names its record, so the next owner reads the
/// partition's answers from the places up to which the row tells of all, and does none of those jobs again.
package struct AnswerTail: Sendable, Equatable {
    /// Topics that hold answers, in the order that they are read in: letters of records that are answered need not be kept.
    package static let topics: [Topic] = [.outcomes] + DelayTier.allCases.map(\.topic) + [.dead]

    /// Answers before these offsets were read, or are this owner's.
    package private(set) var ends: [Topic: Int64] = [:]
    /// Up to where the newest progress row tells of all.
    private var told: [Topic: Int64]
    /// Records of a topic below these offsets are finished in any case.
    private let floors: [Topic: Int64]
    /// The row tells that records below these are finished; from them to the floors the group's offset alone tells it.
    private let starts: [Topic: Int64]
    private var answeredBelow: [Topic: OffsetSet] = [:]
    /// Answered records, by topic: offset, and when it was appended.
    private var answered: [Topic: [Int64: WallTime]] = [:]
    private var letters: [Topic: [Int64: LoneLetter]] = [:]
    /// Of this owner's letters whose outcomes may not be there yet, the last one's offset.
    private var newestLetter: Int64?

    package init(after told: [Topic: Int64]) { (self.told, floors, starts) = (told, [:], [:]) }

    /// - Parameter committed: the group's offset of each topic.
    package init(after row: ProgressRow?, committed: [Topic: Int64]) {
        (told, starts) = (row?.answers ?? [:], row?.topics.mapValues(\.next) ?? [:])
        floors = starts.merging(committed, uniquingKeysWith: max)
    }

    /// What is to be read of a topic of answers with these bounds: nothing where no row tells of it.
    package func unread(_ topic: Topic, in bounds: Range<Int64>) -> Range<Int64> {
        guard let told = told[topic] else { return bounds.upperBound..<bounds.upperBound }
        // A topic that is shorter than it was is another one.
        let start = told > bounds.upperBound ? bounds.lowerBound : max(told, bounds.lowerBound)
        return start..<bounds.upperBound
    }

    /// Up to where a progress row tells of all answers.
    ///
    /// - Parameter isWhole: the row tells of all that was found answered, too. Otherwise that must be read again by the next
    ///   owner, as where records that are found answered are not received yet.
    package func ends(isWhole: Bool) -> [Topic: Int64] { isWhole ? told.merging(ends) { $1 } : told }

    /// The log has a row that tells of all answers before these offsets.
    package mutating func wrote(_ ends: [Topic: Int64]) { told = ends }

    /// An answer was read.
    package mutating func read(_ record: Record) {
        guard let answer = AnsweredRecord(answeredBy: record), answer.partition == record.partition else { return }
        guard answer.offset >= floors[answer.topic] ?? 0 else {
            // What a letter alone answers is not finished.
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

    /// A topic was read, or needs not be, up to its end.
    package mutating func finish(_ topic: Topic, at end: Int64) { ends[topic] = end }

    /// Answers that this owner appended together are in the log. Letters among them are told of once their outcomes are there,
    /// which come in the batches after.
    ///
    /// - Parameter isAll: all of the batch is there, and so is what is left of those before.
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

    /// Answered records of a topic: offset, and when each was appended.
    package func answered(_ topic: Topic) -> [Int64: WallTime] { answered[topic] ?? [:] }

    /// Answers to a topic's records between its progress row and the group's offset. Their log is not proved: they decide only
    /// what people are told.
    package func answeredBelow(_ topic: Topic) -> OffsetSet { answeredBelow[topic] ?? OffsetSet() }

    /// Records of a topic that have a dead letter and no outcome, by offset.
    package func letters(_ topic: Topic) -> [Int64: LoneLetter] { letters[topic] ?? [:] }

    /// Whether anything of the topic was found that no reading has begun by.
    package func hasFound(_ topic: Topic) -> Bool {
        answered[topic] != nil || answeredBelow[topic] != nil || letters[topic] != nil
    }

    /// Reading of the topic began by what is known here.
    package mutating func drop(_ topic: Topic) {
        (answered[topic], answeredBelow[topic], letters[topic]) = (nil, nil, nil)
    }

    /// Records that were found answered.
    package var count: Int { answered.values.reduce(0) { $0 + $1.count } }
}

/// A dead letter whose outcome its owner did not live to append: the next one appends that, and does not do the job again.
package struct LoneLetter: Sendable, Equatable {
    /// When the record was appended.
    package let appended: WallTime
    package let cause: FailureNote

    /// Letters are for operators: outcomes may tell less.
    package init(_ letter: DeadLetter, appended: WallTime) {
        let (code, message) = (letter.cause.code, letter.cause.message)
        let isConfidential =
            FetchFailure.Code(rawValue: code)?.isConfidential ?? RetryCause.Code(rawValue: code)?.isConfidential
            ?? false
        self.appended = appended
        cause = FailureNote(code: code, message: message, verdict: .deadLetter, isConfidential: isConfidential)
    }
}
