package import Clocks
package import Records

/// Position where an owner starts to read a topic, and the records that it need not process again.
///
/// The group's offset is for Kafka's own tools; the progress row knows more. The higher of the two counts, with one
/// exception. An offset below the one that was known to be durable was set by an operator, and is used. If the log is
/// not the one of the progress, it is read from its beginning (`LogBreak`). If no fingerprint shows that the log is the
/// one of the progress, the progress decides no position. The progress of another cluster would skip jobs of this one.
package struct StartingPoint: Sendable, Equatable {
    package let position: Int64
    /// Offsets finished above `position`, ascending.
    package let finished: [Int64]
    /// Records from `position` to the end with an outcome in the log: offset and append time.
    package let completed: [Int64: WallTime]
    /// Anchor that is known to belong to this log.
    package let fingerprint: RecordFingerprint?
    package let finding: Finding

    /// Result that an operator should know.
    package enum Finding: Sendable, Equatable {
        case none
        case anotherLog(LogBreak)
        /// The group's offset was set back, from the one that the progress row recorded as committed.
        case reset(from: Int64)
        /// This number of records below the group's offset have no outcome. The offset was set forward, or an owner
        /// that crashed finished them without one (republished mis-keyed jobs, markers of transactions).
        case skip(Int64)
        /// Retention removed this number of offsets that were not finished.
        case expired(Int64)
        /// The group has lost its offset, which the progress row recorded as committed.
        case forgotten(from: Int64)
    }

    /// Whether its jobs are done even if they have outcomes: the log is another one, or an operator set the offset
    /// back.
    package var isNew: Bool {
        switch finding {
        case .anotherLog, .reset: true
        default: false
        }
    }

    /// - Parameters:
    ///   - progress: progress that earlier owners left; nil if none did.
    ///   - committed: the group's offset; nil if there is none.
    ///   - bounds: the first offset that is left, and the next one to be written.
    ///   - fingerprinted: append time of the record at the fingerprint's offset; nil if there is none.
    ///   - answered: records with an outcome in the log.
    ///   - completedBelow: the same, between the progress and the group's offset.
    ///   - proof: evidence that the log is another one, if there already is any.
    package init(
        after progress: TopicProgress?, committed: Int64?, bounds: Range<Int64>, fingerprinted: WallTime?,
        completed: [Int64: WallTime] = [:], completedBelow: OffsetSet = OffsetSet(), proof: LogBreak? = nil
    ) {
        let trusted = committed == nil && progress?.fingerprint == nil ? nil : progress
        let known = trusted ?? TopicProgress(next: committed ?? bounds.lowerBound)
        if let why = proof ?? known.breakIn(bounds, fingerprinted: fingerprinted)
            ?? committed.flatMap({
                $0 > bounds.upperBound ? .shorter(end: bounds.upperBound, read: $0) : nil
            })
        {
            self.init(bounds.lowerBound, [], [:], nil, .anotherLog(why))
            return
        }
        var position = max(committed ?? known.next, known.next)
        var (finished, completed) = (known.finished, completed)
        var finding = Finding.none
        let hasFingerprint = known.fingerprint.map { $0.offset >= bounds.lowerBound } ?? false
        // None of the records that were read is left, and all of them were finished and committed.
        let isAllCommitted = !hasFingerprint && known.committed == known.next
        if committed == nil, let durable = known.committed, hasFingerprint { finding = .forgotten(from: durable) }
        if let committed, let durable = known.committed, committed < durable {
            (position, finished, completed) = (committed, [], [:])
            finding = .reset(from: durable)
        } else if hasFingerprint || isAllCommitted, position > known.next {
            let start = max(known.next, bounds.lowerBound)
            let told = finished.count { $0 >= start && $0 < position && !completedBelow.contains($0) }
            let others = position - start - Int64(told + completedBelow.count(from: start))
            if others > 0 { finding = .skip(others) }
        }
        if position < bounds.lowerBound {
            let done = Set(finished).union(completed.keys).count { $0 >= position && $0 < bounds.lowerBound }
            let lost = bounds.lowerBound - position - Int64(done)
            if lost > 0 { finding = .expired(lost) }
            position = bounds.lowerBound
        }
        // Retention removed the fingerprint, or there was none.
        if !hasFingerprint {
            (position, finished) = (max(committed ?? bounds.lowerBound, bounds.lowerBound), [])
        }
        self.init(
            position, finished.filter { $0 >= position },
            completed.filter { $0.key >= position && $0.key < bounds.upperBound },
            known.fingerprint, finding)
    }

    private init(
        _ position: Int64, _ finished: [Int64], _ completed: [Int64: WallTime], _ fingerprint: RecordFingerprint?,
        _ finding: Finding
    ) {
        (self.position, self.finished, self.completed) = (position, finished, completed)
        (self.fingerprint, self.finding) = (fingerprint, finding)
    }
}

extension TopicProgress {
    /// Evidence that a log with these bounds is not the one of this progress; nil if there is none.
    ///
    /// A fingerprint that retention has removed shows nothing. The log's end is also compared with the finished
    /// offsets.
    package func breakIn(_ bounds: Range<Int64>, fingerprinted: WallTime?) -> LogBreak? {
        let read = max(next, finished.last.map { $0 + 1 } ?? 0, fingerprint.map { $0.offset + 1 } ?? 0)
        if bounds.upperBound < read { return .shorter(end: bounds.upperBound, read: read) }
        guard let fingerprint, fingerprint.offset >= bounds.lowerBound, fingerprinted != fingerprint.timestamp else {
            return nil
        }
        return .otherRecord(at: fingerprint.offset)
    }
}
