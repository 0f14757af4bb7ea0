package import Clocks
package import Records

/// The offset below which every record of one topic-partition is finished.
///
/// It counts only records that were received. Offsets have gaps (compaction, transaction markers), and a gap is done.
/// Source of the rule: parallel-consumer #826 lost records by committing the highest *seen* offset.
package struct CommittableOffset: Sendable, Equatable {
    private var offsets: [Int64] = []
    private var finished: [Bool] = []
    /// Append time of each record.
    private var times: [WallTime] = []
    /// Index of the first entry that is not finished. The entries before it wait for removal.
    private var head = 0
    /// Offset after the last received record.
    private var next: Int64?

    /// Offsets finished in an earlier ownership and not received since.
    private var known: Set<Int64> = []
    /// Offsets that outcomes in the log show as finished, with the record's append time. So another log's record at the
    /// same offset is not taken for it.
    private var completed: [Int64: WallTime] = [:]
    /// Offset where reading began; nil if that is not known.
    private let start: Int64?
    /// Number of the topic's log that the offset belongs to.
    package let incarnation: Int32

    package init() { (start, incarnation) = (nil, 0) }

    /// Creates the state of a topic that is read from `start`. Records above it that earlier owners finished stay
    /// finished.
    package init(
        from start: Int64, finished: [Int64] = [], completed: [Int64: WallTime] = [:], incarnation: Int32 = 0
    ) {
        (self.start, known, self.completed, self.incarnation) = (start, Set(finished), completed, incarnation)
    }

    /// Offsets finished above `value`, ascending, for the next owner.
    package var finishedOffsets: [Int64] {
        var ahead = Array(known)
        for place in head..<offsets.count where finished[place] { ahead.append(offsets[place]) }
        return ahead.sorted()
    }

    /// Whether outcomes were found in the log whose records were not received, and which may belong to another log.
    package var hasUnprovedOutcomes: Bool {
        guard !completed.isEmpty, let next = next ?? start else { return false }
        return completed.keys.contains { $0 >= next }
    }

    /// Number of received records that are not finished.
    package private(set) var unfinished = 0

    /// The committable offset. nil until a record was received, if the start of reading is not known.
    package var value: Int64? { head < offsets.count ? offsets[head] : next ?? start }

    /// Records received since the one that holds the committable offset back, including itself and finished ones. A
    /// successor would read these again, and they are kept in memory here.
    package var span: Int { offsets.count - head }

    /// Records finished behind the one that holds the committable offset back. A successor repeats them unless a
    /// progress row or the outcome itself shows them as finished.
    package var finishedAhead: Int { span - unfinished }

    /// All finished records, including those that earlier owners finished and that are not received yet.
    package var finishedRecords: FinishedRecords? {
        guard let value else { return nil }
        let position = next ?? value
        return FinishedRecords(next: value, ahead: finishedAhead + known.count { $0 >= position })
    }

    /// The record that holds the committable offset back.
    package var oldestUnfinished: Int64? { head < offsets.count ? offsets[head] : nil }

    /// Append time of that record.
    package var oldestTime: WallTime? { head < times.count ? times[head] : nil }

    /// Whether a record after the one that holds the committable offset back is already finished.
    package var isHeldBack: Bool { finishedAhead > 0 }

    /// Receives a record. Returns false if it came before (a log repeats records after a reconnect), or was finished in
    /// an earlier ownership.
    package mutating func receive(_ offset: Int64, appended: WallTime = .epoch) -> Bool {
        if let next, offset < next { return false }
        if wasFinished(offset, appended) {
            next = offset + 1
            // With nothing unfinished before it, the committable offset has already passed it.
            if unfinished > 0 {
                offsets.append(offset)
                finished.append(true)
                times.append(appended)
            }
            return false
        }
        offsets.append(offset)
        finished.append(false)
        times.append(appended)
        next = offset + 1
        unfinished += 1
        return true
    }

    private mutating func wasFinished(_ offset: Int64, _ appended: WallTime) -> Bool {
        if known.isEmpty, completed.isEmpty { return false }
        let isAnswered = completed.removeValue(forKey: offset) == appended
        return known.remove(offset) != nil || isAnswered
    }

    /// Finishes a record. Returns whether the committable offset moved.
    package mutating func finish(_ offset: Int64) -> Bool {
        guard let place = index(of: offset), !finished[place] else { return false }
        finished[place] = true
        unfinished -= 1
        guard place == head else { return false }
        while head < offsets.count, finished[head] { head += 1 }
        if head > 512, head * 2 > offsets.count {
            offsets.removeFirst(head)
            finished.removeFirst(head)
            times.removeFirst(head)
            head = 0
        }
        return true
    }

    /// Notes that the log has been read up to `offset` and holds no more records below. A gap at its end, such as a
    /// transaction's marker, is done like other gaps. Returns whether the committable offset moved.
    package mutating func pass(to offset: Int64) -> Bool {
        guard head == offsets.count, let next = next ?? start, offset > next else { return false }
        self.next = offset
        known = known.filter { $0 >= offset }
        completed = completed.filter { $0.key >= offset }
        return true
    }

    /// Whether offsets ascend, the first one is not finished, and the count is right.
    var isConsistent: Bool {
        let received = head..<offsets.count
        return finished.count == offsets.count && times.count == offsets.count
            && zip(received, received.dropFirst()).allSatisfy { offsets[$0] < offsets[$1] }
            && (received.first.map { !finished[$0] } ?? true)
            && (received.last.map { offsets[$0] < next ?? 0 } ?? true)
            && unfinished == received.count { !finished[$0] }
    }

    private func index(of offset: Int64) -> Int? {
        var low = head
        var high = offsets.count
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low < offsets.count && offsets[low] == offset ? low : nil
    }
}
