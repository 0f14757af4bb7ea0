package import Clocks
package import Failures
internal import Ledger
package import Records

/// Progress of each topic of one partition, and the records for which an earlier owner left an outcome.
package struct Positions: Sendable {
    /// nil for a topic that has not begun.
    private var offsets = ByTopic<CommittableOffset?>(repeating: nil)
    /// Records with a dead letter of an earlier owner, until their outcomes are durable.
    private var deadLetters: [RecordPlace: LoneDeadLetter] = [:]

    package init() {}

    package func checkInvariants() {
        invariant(!offsets.contains { !($0?.isConsistent ?? true) }, "a committable offset is inconsistent")
    }

    /// Starts reading a topic at a position: when the partition comes, and again if its log turns out to be another
    /// one. Jobs accepted from the old log are finished and get their outcomes, but their offsets mean nothing any
    /// more.
    package mutating func begin(
        _ topic: Topic, at position: Int64, finished: [Int64] = [], completed: [Int64: WallTime] = [:],
        deadLetters: [Int64: LoneDeadLetter] = [:]
    ) {
        let incarnation = offsets[topic].map { $0.incarnation &+ 1 } ?? 0
        self.deadLetters = self.deadLetters.filter { $0.key.topic != topic }
        for (offset, deadLetter) in deadLetters where offset >= position {
            self.deadLetters[RecordPlace(topic, offset, incarnation: incarnation)] = deadLetter
        }
        offsets[topic] = CommittableOffset(
            from: position, finished: finished, completed: completed, incarnation: incarnation)
    }

    /// Number of logs that the topic has had before under this owner.
    package func incarnation(_ topic: Topic) -> Int32 { offsets[topic]?.incarnation ?? 0 }

    /// Result of receiving a record.
    package enum Receipt: Sendable, Equatable {
        case new
        /// The record was finished in an earlier ownership. `committable`: an offset that may be committed with it.
        case finished(committable: Int64?)
    }

    package mutating func receive(_ record: Record) -> Receipt {
        let topic = record.topic
        // A parked job has a row and no position.
        if topic == .parked { return .new }
        // The record was read before its log was replaced. Its job is done like any other, and no offset waits for it.
        guard record.incarnation == incarnation(topic) else { return .new }
        if offsets[topic] == nil { begin(topic, at: record.offset) }
        if offsets[topic]?.receive(record.offset, appended: record.timestamp) == true { return .new }
        deadLetters[RecordPlace(record)] = nil
        return .finished(committable: unfinished(topic) == 0 ? committable(topic) : nil)
    }

    /// Reason in the dead letter that an earlier owner left for the record, without an outcome.
    package func cause(of record: Record) -> FailureNote? {
        guard let deadLetter = deadLetters[RecordPlace(record)], deadLetter.appended == record.timestamp else {
            return nil
        }
        return deadLetter.cause
    }

    /// Finishes these records. Returns the topics whose committable offset moved, with the offset.
    package mutating func finish(_ places: [RecordPlace]) -> [(topic: Topic, committable: Int64)] {
        var moved = ByTopic(repeating: false)
        for place in places where place.incarnation == incarnation(place.topic) {
            if offsets[place.topic]?.finish(place.offset) == true { moved[place.topic] = true }
        }
        return Topic.consumed.compactMap { topic in
            guard moved[topic], let value = committable(topic) else { return nil }
            // Records that are missing from the log went with their dead letters.
            if !deadLetters.isEmpty {
                deadLetters = deadLetters.filter { $0.key.topic != topic || $0.key.offset >= value }
            }
            return (topic, value)
        }
    }

    /// Notes that no record of a topic is unfinished, and that the log has no more records below an offset. Returns the
    /// offset if it is committable now.
    package mutating func pass(_ topic: Topic, to offset: Int64) -> Int64? {
        offsets[topic]?.pass(to: offset) == true ? offset : nil
    }

    /// The record that holds the committable offset back, with the number of records from it to the last that was read.
    /// nil if there is none.
    package func oldest(_ topic: Topic) -> (place: RecordPlace, span: Int, isHeldBack: Bool)? {
        guard let known = offsets[topic], let offset = known.oldestUnfinished else { return nil }
        return (RecordPlace(topic, offset, incarnation: known.incarnation), known.span, known.isHeldBack)
    }

    /// Finished records of a topic, without those that only the log shows as finished. nil if reading has not begun.
    package func finished(_ topic: Topic) -> (next: Int64, ahead: [Int64])? {
        guard let known = offsets[topic], let next = known.value else { return nil }
        return (next, known.finishedOffsets)
    }

    /// Whether a progress row would omit outcomes that were found in the log.
    package var hasUnprovedOutcomes: Bool {
        !deadLetters.isEmpty || offsets.contains { $0?.hasUnprovedOutcomes ?? false }
    }
    /// Accepted records that are not finished. Reading continues while there is space.
    package var unfinished: Int { Topic.consumed.reduce(0) { $0 + unfinished($1) } }
    package func unfinished(_ topic: Topic) -> Int { offsets[topic]?.unfinished ?? 0 }
    /// Records from the oldest unfinished one to the last accepted.
    package func span(_ topic: Topic) -> Int { offsets[topic]?.span ?? 0 }
    /// Finished records behind an unfinished one. A successor processes them again.
    package func finishedAhead(_ topic: Topic) -> Int { offsets[topic]?.finishedAhead ?? 0 }
    package func finishedRecords(_ topic: Topic) -> FinishedRecords? { offsets[topic]?.finishedRecords }
    /// Offset below which every record is finished. nil until a record was accepted.
    package func committable(_ topic: Topic) -> Int64? { offsets[topic]?.value }
    /// Append time of the oldest unfinished record. nil if all accepted records are finished.
    package func oldestTime(_ topic: Topic) -> WallTime? { offsets[topic]?.oldestTime }
}
