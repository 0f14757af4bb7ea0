package import Records

/// When the progress of a partition is written into its changelog again: a row costs an append and a transaction.
///
/// Once a second while something is finished ahead of a committable offset, or jobs wait in memory, since that is done
/// again otherwise; once a
/// minute where offsets moved, so that the row's anchors stay within retention. Times are monotonic milliseconds.
package struct ProgressLedger: Sendable {
    /// What the changelog has, as far as it is known here.
    package private(set) var written: [Topic: TopicProgress]
    private var writtenAt: Int64
    private var nextLook: Int64
    private var isWriting = false
    /// Answers that were in the log when a row was last begun.
    private var answersTold: Int64 = 0

    private static let aheadInterval: Int64 = 1_000
    private static let interval: Int64 = 60_000
    /// The next owner reads the answers that no row tells of: with so many, a row is written though nothing is ahead.
    private static let answersUntold: Int64 = 10_000

    package init(_ written: [Topic: TopicProgress] = [:], at now: Int64) {
        (self.written, writtenAt, nextLook) = (written, now, now + Self.aheadInterval)
    }

    /// Whether to write the progress now; a write that began ends with `wrote` or `failed`.
    ///
    /// - Parameters:
    ///   - isLast: the partition goes: whatever differs is written.
    ///   - answers: how many are in the log; any number that grows with each.
    ///   - current: asked once a second, since a long one is sorted for it.
    package mutating func beginWrite(
        at now: Int64, isLast: Bool = false, answers: Int64 = 0, _ current: () -> [Topic: TopicProgress]
    ) -> [Topic: TopicProgress]? {
        guard !isWriting, isLast || now >= nextLook else { return nil }
        nextLook = now + Self.aheadInterval
        let current = current()
        guard current != written else { return nil }
        let isAhead = [current, written].contains { $0.values.contains { !$0.finished.isEmpty || !$0.waits.isEmpty } }
        let isDue = isAhead || answers - answersTold >= Self.answersUntold
        guard isLast || now - writtenAt >= (isDue ? Self.aheadInterval : Self.interval) else { return nil }
        (isWriting, answersTold) = (true, answers)
        return current
    }

    package var isIdle: Bool { !isWriting }

    package mutating func wrote(_ progress: [Topic: TopicProgress], at now: Int64) {
        (written, writtenAt, isWriting) = (progress, now, false)
    }

    package mutating func failed(at now: Int64) { (writtenAt, isWriting) = (now, false) }
}
