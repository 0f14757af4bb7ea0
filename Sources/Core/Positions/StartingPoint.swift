package import Clocks
package import Records

/// Where an owner begins to read a topic, and what it need not do again.
///
/// The group's offset is for Kafka's own tools; the progress row knows more. The higher of the two counts, with one
/// exception: an offset below the one that was known to be durable was set by an operator, and wins. A log that is not
/// the one of the progress is read from its beginning (`LogBreak`). Where no anchor shows that the log is
/// the one of the progress, that counts for no position: another cluster's would pass over jobs of this one.
package struct StartingPoint: Sendable, Equatable {
    package let position: Int64
    /// Finished above `position`, ascending.
    package let finished: [Int64]
    /// Found answered in the log, from `position` to its end: offset, and when the record was appended.
    package let answered: [Int64: WallTime]
    /// Of jobs that were put off in memory, from `position` on.
    package let waits: [TopicProgress.Wait]
    /// Known to be of this log.
    package let anchor: LogAnchor?
    package let finding: Finding

    /// What an operator should hear.
    package enum Finding: Sendable, Equatable {
        case none
        case anotherLog(LogBreak)
        /// The group's offset was set back, from the one that the progress row recorded as committed.
        case reset(from: Int64)
        /// So many records below the group's offset have no answer: that was set forward, or an owner that died finished
        /// them without one (jobs that were appended again under their own key, what transactions leave).
        case skip(Int64)
        /// Retention removed so many offsets that were not finished.
        case expired(Int64)
        /// The group has an offset no more, from the one that the progress row recorded as committed.
        case forgotten(from: Int64)
    }

    /// Whether its jobs are done whatever was found answered: in another log, or since a person says so.
    package var isNew: Bool {
        switch finding {
        case .anotherLog, .reset: true
        default: false
        }
    }

    /// - Parameters:
    ///   - progress: what earlier owners left; nil if none did.
    ///   - committed: the group's offset; nil if there is none.
    ///   - bounds: the first offset still there, and the next one.
    ///   - anchored: when the record at the anchor's offset was appended; nil if there is none.
    ///   - answered: found answered in the log.
    ///   - answeredBelow: the same, between the progress and the group's offset.
    ///   - proof: why the log is another one, where that is known already.
    package init(
        after progress: TopicProgress?, committed: Int64?, bounds: Range<Int64>, anchored: WallTime?,
        answered: [Int64: WallTime] = [:], answeredBelow: OffsetSet = OffsetSet(), proof: LogBreak? = nil
    ) {
        let trusted = committed == nil && progress?.anchor == nil ? nil : progress
        let known = trusted ?? TopicProgress(next: committed ?? bounds.lowerBound)
        if let why = proof ?? known.breakIn(bounds, anchored: anchored)
            ?? committed.flatMap({
                $0 > bounds.upperBound ? .shorter(end: bounds.upperBound, read: $0) : nil
            })
        {
            self.init(bounds.lowerBound, [], [:], [], nil, .anotherLog(why))
            return
        }
        var position = max(committed ?? known.next, known.next)
        var (finished, answered, waits) = (known.finished, answered, known.waits)
        var finding = Finding.none
        let isAnchored = known.anchor.map { $0.offset >= bounds.lowerBound } ?? false
        // Nothing is left of what was read, and all of that was finished and committed.
        let isAllCommitted = !isAnchored && known.committed == known.next
        if committed == nil, let durable = known.committed, isAnchored { finding = .forgotten(from: durable) }
        if let committed, let durable = known.committed, committed < durable {
            (position, finished, answered, waits) = (committed, [], [:], [])
            finding = .reset(from: durable)
        } else if isAnchored || isAllCommitted, position > known.next {
            let start = max(known.next, bounds.lowerBound)
            let told = finished.count { $0 >= start && $0 < position && !answeredBelow.contains($0) }
            let others = position - start - Int64(told + answeredBelow.count(from: start))
            if others > 0 { finding = .skip(others) }
        }
        if position < bounds.lowerBound {
            let done = Set(finished).union(answered.keys).count { $0 >= position && $0 < bounds.lowerBound }
            let lost = bounds.lowerBound - position - Int64(done)
            if lost > 0 { finding = .expired(lost) }
            position = bounds.lowerBound
        }
        // Retention removed the anchor, or there was none.
        if !isAnchored {
            (position, finished, waits) = (max(committed ?? bounds.lowerBound, bounds.lowerBound), [], [])
        }
        self.init(
            position, finished.filter { $0 >= position },
            answered.filter { $0.key >= position && $0.key < bounds.upperBound },
            waits.filter { $0.offset >= position && answered[$0.offset] == nil }, known.anchor, finding)
    }

    private init(
        _ position: Int64, _ finished: [Int64], _ answered: [Int64: WallTime], _ waits: [TopicProgress.Wait],
        _ anchor: LogAnchor?, _ finding: Finding
    ) {
        (self.position, self.finished, self.answered, self.waits) = (position, finished, answered, waits)
        (self.anchor, self.finding) = (anchor, finding)
    }
}

extension TopicProgress {
    /// Why a log with these bounds is not the one that this is the progress in; nil if nothing speaks against it.
    ///
    /// An anchor that retention has removed tells nothing. The log's end is compared with what was finished, too.
    package func breakIn(_ bounds: Range<Int64>, anchored: WallTime?) -> LogBreak? {
        let read = max(next, finished.last.map { $0 + 1 } ?? 0, anchor.map { $0.offset + 1 } ?? 0)
        if bounds.upperBound < read { return .shorter(end: bounds.upperBound, read: read) }
        guard let anchor, anchor.offset >= bounds.lowerBound, anchored != anchor.timestamp else { return nil }
        return .otherRecord(at: anchor.offset)
    }
}
