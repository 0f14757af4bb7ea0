package import Records

/// What of a partition's records is answered beyond its progress row, as the log shows it.
///
/// A worker that is killed leaves answers that no row tells of. Each answer names its record, so the next owner reads the
/// partition's answers from the places up to which the row tells of all, and does none of those jobs again.
package struct AnswerTail: Sendable, Equatable {
    /// Topics that hold answers, dead letters before the outcomes that count only beside them.
    package static let topics: [Topic] = [.dead, .outcomes] + DelayTier.allCases.map(\.topic)

    /// Answers before these offsets were read, or are this owner's.
    package private(set) var ends: [Topic: Int64] = [:]
    /// Up to where an earlier owner's progress row tells of all.
    private let told: [Topic: Int64]
    /// Records of a topic below these offsets are finished in any case.
    private let floors: [Topic: Int64]
    /// Answered records, by topic: offset, and when it was appended.
    private var answered: [Topic: [Int64: Int64]] = [:]
    private var letters: Set<AnsweredRecord> = []

    package init(after told: [Topic: Int64], above floors: [Topic: Int64] = [:]) {
        (self.told, self.floors) = (told, floors)
    }

    /// What is to be read of a topic: nothing where no row tells of it.
    ///
    /// - Parameters:
    ///   - told: up to where the row tells of all answers; nil if there is none.
    ///   - bounds: what the topic holds.
    package static func unread(after told: Int64?, in bounds: Range<Int64>) -> Range<Int64> {
        guard let told else { return bounds.upperBound..<bounds.upperBound }
        // A topic that is shorter than it was is another one.
        let start = told > bounds.upperBound ? bounds.lowerBound : max(told, bounds.lowerBound)
        return start..<bounds.upperBound
    }

    /// Up to where a progress row tells of all answers.
    ///
    /// - Parameter unproved: records that are found answered are not received yet: what is said of them must be read again
    ///   by the next owner.
    package func ends(unproved: Bool) -> [Topic: Int64] { unproved ? told : told.merging(ends) { $1 } }

    /// An answer was read.
    package mutating func read(_ record: Record) {
        guard let (answer, needsLetter) = AnsweredRecord.answered(by: record), answer.partition == record.partition,
            answer.offset >= floors[answer.topic] ?? 0
        else { return }
        if record.topic == .dead {
            letters.insert(answer)
        } else if !needsLetter || letters.contains(answer) {
            answered[answer.topic, default: [:]][answer.offset] = answer.timestamp
        }
    }

    /// A topic was read, or needs not be, up to its end.
    package mutating func finish(_ topic: Topic, at end: Int64) { ends[topic] = end }

    /// An answer of this owner is in the log, and its record counts as finished.
    package mutating func note(_ topic: Topic, at offset: Int64) {
        if let end = ends[topic], offset >= end { ends[topic] = offset + 1 }
    }

    /// Answered records of a topic: offset, and when each was appended.
    package func answered(_ topic: Topic) -> [Int64: Int64] { answered[topic] ?? [:] }

    /// Reading of the topic began by what is known here.
    package mutating func drop(_ topic: Topic) { answered[topic] = nil }

    /// Records that were found answered.
    package var count: Int { answered.values.reduce(0) { $0 + $1.count } }
}
