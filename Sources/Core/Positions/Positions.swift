package import Clocks
package import Failures
internal import Ledger
package import Records

/// How far each topic of one partition is done, and which records an earlier owner has left answered.
package struct Positions: Sendable {
    /// nil of a topic that was not begun.
    private var offsets = ByTopic<CommittableOffset?>(repeating: nil)
    /// Records with a dead letter of an earlier owner's, until their outcomes are durable.
    private var letters: [RecordPlace: LoneLetter] = [:]

    package init() {}

    package func checkInvariants() {
        invariant(!offsets.contains { !($0?.isConsistent ?? true) }, "a committable offset differs from what is finished")
    }

    /// A topic is read from a position on: when the partition comes, and again where its log turns out to be another one.
    /// Jobs that were taken up from the old log are finished and answered; their offsets mean nothing any more.
    package mutating func begin(
        _ topic: Topic, at position: Int64, finished: [Int64] = [], answered: [Int64: WallTime] = [:],
        letters: [Int64: LoneLetter] = [:]
    ) {
        let incarnation = offsets[topic].map { $0.incarnation &+ 1 } ?? 0
        self.letters = self.letters.filter { $0.key.topic != topic }
        for (offset, letter) in letters where offset >= position {
            self.letters[RecordPlace(topic, offset, incarnation: incarnation)] = letter
        }
        offsets[topic] = CommittableOffset(
            from: position, finished: finished, answered: answered, incarnation: incarnation)
    }

    /// Counts the logs that the topic has had under this owner.
    package func incarnation(_ topic: Topic) -> Int32 { offsets[topic]?.incarnation ?? 0 }

    /// What becomes of a record that was read.
    package enum Receipt: Sendable, Equatable {
        case new
        /// Finished in an earlier ownership. With it all below the offset may be.
        case finished(committable: Int64?)
    }

    package mutating func receive(_ record: Record) -> Receipt {
        let topic = record.topic
        // Read before its log was replaced: its job is done like any other, and no offset waits for it.
        guard record.incarnation == incarnation(topic) else { return .new }
        if offsets[topic] == nil { begin(topic, at: record.offset) }
        if offsets[topic]?.receive(record.offset, appended: record.timestamp) == true { return .new }
        letters[RecordPlace(record)] = nil
        return .finished(committable: unfinished(topic) == 0 ? committable(topic) : nil)
    }

    /// The dead letter that an earlier owner left for the record, without an outcome.
    package func cause(of record: Record) -> FailureNote? {
        guard let letter = letters[RecordPlace(record)], letter.appended == record.timestamp else { return nil }
        return letter.cause
    }

    /// These records are answered. Returns the topics whose committable offset moved, with that.
    package mutating func finish(_ places: [RecordPlace]) -> [(topic: Topic, committable: Int64)] {
        var moved = ByTopic(repeating: false)
        for place in places where place.incarnation == incarnation(place.topic) {
            if offsets[place.topic]?.finish(place.offset) == true { moved[place.topic] = true }
        }
        return Topic.consumed.compactMap { topic in
            guard moved[topic], let value = committable(topic) else { return nil }
            // Those that were left out of the log went with their letters.
            if !letters.isEmpty { letters = letters.filter { $0.key.topic != topic || $0.key.offset >= value } }
            return (topic, value)
        }
    }

    /// Nothing of a topic is unfinished, and the log has no more records below an offset: returns that, if it is committable now.
    package mutating func pass(_ topic: Topic, to offset: Int64) -> Int64? {
        offsets[topic]?.pass(to: offset) == true ? offset : nil
    }

    /// The record that holds the committable offset back, and the records from it to the last that was read; nil if there is
    /// none.
    package func oldest(_ topic: Topic) -> (place: RecordPlace, span: Int, isHeldBack: Bool)? {
        guard let known = offsets[topic], let offset = known.oldestUnfinished else { return nil }
        return (RecordPlace(topic, offset, incarnation: known.incarnation), known.span, known.isHeldBack)
    }

    /// What is finished of a topic, less what only the log knows; nil if it was not begun.
    package func finished(_ topic: Topic) -> (next: Int64, ahead: [Int64])? {
        guard let known = offsets[topic], let next = known.value else { return nil }
        return (next, known.finishedOffsets)
    }

    /// Whether a progress row would not tell of answers that were found in the log.
    package var hasUnprovedAnswers: Bool {
        !letters.isEmpty || offsets.contains { $0?.hasUnprovedAnswers ?? false }
    }
    /// Records taken up and not finished: reading goes on while there is room.
    package var unfinished: Int { Topic.consumed.reduce(0) { $0 + unfinished($1) } }
    package func unfinished(_ topic: Topic) -> Int { offsets[topic]?.unfinished ?? 0 }
    /// Records from the oldest unfinished one to the last that was taken up.
    package func span(_ topic: Topic) -> Int { offsets[topic]?.span ?? 0 }
    /// Finished records that a successor does again: one before them is not finished.
    package func finishedAhead(_ topic: Topic) -> Int { offsets[topic]?.finishedAhead ?? 0 }
    package func finishedRecords(_ topic: Topic) -> FinishedRecords? { offsets[topic]?.finishedRecords }
    /// Every record before it is finished; nil until one was taken up.
    package func committable(_ topic: Topic) -> Int64? { offsets[topic]?.value }
    /// When the oldest unfinished record was appended; nil if all that was taken up is finished.
    package func oldestTime(_ topic: Topic) -> WallTime? { offsets[topic]?.oldestTime }
}
