package import Clocks
package import Records

/// The offset below which every record of one topic's partition is finished.
///
/// Counts only records that were received: offsets have gaps (compaction, transaction markers), and a gap is done.
/// Source of the rule: parallel-consumer #826 lost records by committing the highest *seen* offset.
package struct CommittableOffset: Sendable, Equatable {
    private var offsets: [Int64] = []
    private var finished: [Bool] = []
    /// When each was appended.
    private var times: [WallTime] = []
    /// Entries before it are finished and only wait to be cut off.
    private var head = 0
    /// Offset after the last received record.
    private var next: Int64?

    /// Finished in an earlier ownership, and not received since.
    private var known: Set<Int64> = []
    /// The same as the log's answers tell it, with when the record was appended: another log's record at the offset is not
    /// taken for it.
    private var answered: [Int64: WallTime] = [:]
    /// Where reading began; nil if that is not known.
    private let start: Int64?
    /// Which log of the topic it is of.
    package let incarnation: Int32

    package init() { (start, incarnation) = (nil, 0) }

    /// Of a topic that is read from `start`: what earlier owners finished above it is so for good.
    package init(
        from start: Int64, finished: [Int64] = [], answered: [Int64: WallTime] = [:], incarnation: Int32 = 0
    ) {
        (self.start, known, self.answered, self.incarnation) = (start, Set(finished), answered, incarnation)
    }

    /// Finished above `value`, ascending: what an owner leaves to the next.
    package var finishedOffsets: [Int64] {
        var ahead = Array(known)
        for place in head..<offsets.count where finished[place] { ahead.append(offsets[place]) }
        return ahead.sorted()
    }

    /// Whether answers were found in the log whose records were not received, and may be those of another log.
    package var hasUnprovedAnswers: Bool {
        guard !answered.isEmpty, let next = next ?? start else { return false }
        return answered.keys.contains { $0 >= next }
    }

    /// Received and not finished.
    package private(set) var unfinished = 0

    /// nil until a record was received, where it is not known where reading began.
    package var value: Int64? { head < offsets.count ? offsets[head] : next ?? start }

    /// Received since the record that holds the committable offset back, itself and finished ones included: what a successor would
    /// read again, and what is kept in memory here.
    package var span: Int { offsets.count - head }

    /// Finished behind the record that holds the committable offset back: a successor does them again where neither a progress row
    /// nor the answer itself tells it.
    package var finishedAhead: Int { span - unfinished }

    /// All that is finished, what earlier owners finished and is not received yet counted.
    package var finishedRecords: FinishedRecords? {
        guard let value else { return nil }
        let position = next ?? value
        return FinishedRecords(next: value, ahead: finishedAhead + known.count { $0 >= position })
    }

    /// The record that holds the committable offset back.
    package var oldestUnfinished: Int64? { head < offsets.count ? offsets[head] : nil }

    /// When that was appended.
    package var oldestTime: WallTime? { head < times.count ? times[head] : nil }

    /// Whether a record after the one that holds the committable offset is finished already.
    package var isHeldBack: Bool { finishedAhead > 0 }

    /// A record came; false if it came before (a log repeats after a reconnect), or was finished in an earlier ownership.
    package mutating func receive(_ offset: Int64, appended: WallTime = .epoch) -> Bool {
        if let next, offset < next { return false }
        if wasFinished(offset, appended) {
            next = offset + 1
            // With nothing unfinished before it, the committable offset is behind it already.
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
        if known.isEmpty, answered.isEmpty { return false }
        let isAnswered = answered.removeValue(forKey: offset) == appended
        return known.remove(offset) != nil || isAnswered
    }

    /// A record is finished; true if the committable offset moved.
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

    /// The log has been read up to `offset`, and holds no more records below: a gap at its end, such as a transaction's marker, is
    /// done as others are. True if the committable offset moved.
    package mutating func pass(to offset: Int64) -> Bool {
        guard head == offsets.count, let next = next ?? start, offset > next else { return false }
        self.next = offset
        known = known.filter { $0 >= offset }
        answered = answered.filter { $0.key >= offset }
        return true
    }

    /// Whether offsets ascend, the first one is not finished, and the count agrees.
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
