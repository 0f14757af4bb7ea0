package import Clocks
package import Records

/// When the progress of a partition is written into its changelog again: a row costs an append and a transaction.
///
/// Once a second while something is finished ahead of a committable offset, or jobs wait in memory, since that is done
/// again otherwise, and while the row has other suspects than it should, or
/// another number of jobs away by a quarter; once a minute where offsets moved, so that the
/// row's anchors stay within retention.
package struct ProgressLedger: Sendable {
    /// What the changelog has, as far as it is known here.
    package private(set) var written: ProgressRow?
    /// What it may have instead: the log did not say that it took it.
    private var doubtful: ProgressRow?
    private var writtenAt: Instant
    private var lookedAt: Instant
    private var isWriting = false

    private static let aheadInterval = Duration.seconds(1)
    private static let interval = Duration.minutes(1)
    /// The next owner reads the answers that no row tells of: with so many, a row is written though nothing is ahead.
    private static let answersUntold: Int64 = 10_000

    package init(_ written: ProgressRow?, at now: Instant) {
        (self.written, writtenAt, lookedAt) = (written, now, now)
    }

    /// The index has told what the changelog has. A row may be on its way since before it was found damaged.
    package mutating func restored(_ written: ProgressRow?, at now: Instant) {
        (self.written, writtenAt, lookedAt) = (written, now, now)
    }

    /// Whether `beginWrite` would ask for the progress at all.
    package func isLookDue(at now: Instant, isLast: Bool = false) -> Bool {
        !isWriting && (isLast || now - lookedAt >= Self.aheadInterval)
    }

    /// Whether to write the progress now; a write that began ends with `wrote` or `failed`.
    ///
    /// - Parameters:
    ///   - isLast: the partition goes: whatever differs is written.
    ///   - current: asked once a second, since a long one is sorted for it.
    package mutating func beginWrite(
        at now: Instant, isLast: Bool = false, _ current: () -> ProgressRow
    ) -> ProgressRow? {
        guard isLookDue(at: now, isLast: isLast) else { return nil }
        lookedAt = now
        let current = current()
        guard doubtful != nil || written?.isSame(as: current) != true else { return nil }
        guard isLast || now - writtenAt >= (isSoon(current) ? Self.aheadInterval : Self.interval) else { return nil }
        isWriting = true
        return current
    }

    private func isSoon(_ current: ProgressRow) -> Bool {
        guard let written, doubtful == nil, written.hasSameOwners(as: current) else { return true }
        // People are told how many wait, roughly, after a kill too.
        if abs(current.awayCount - written.awayCount) > written.awayCount / 4 { return true }
        return current.isAhead || written.isAhead || current.answerCount - written.answerCount >= Self.answersUntold
    }

    /// A row that is written for more than the progress, at once; it ends as every write does. False while another is on
    /// its way: a row must not overtake one.
    package mutating func beginMarker() -> Bool {
        defer { isWriting = true }
        return !isWriting
    }

    package var isIdle: Bool { !isWriting }

    package mutating func wrote(_ row: ProgressRow, at now: Instant) {
        (written, doubtful, writtenAt, isWriting) = (row, nil, now, false)
    }

    package mutating func failed(_ row: ProgressRow, at now: Instant) {
        (writtenAt, isWriting) = (now, false)
        if doubtful?.blames != true { doubtful = row }
    }

    /// Whether a job would be taken for the cause, were the owner gone now.
    package var blames: Bool { written?.blames ?? false || doubtful?.blames ?? false }
}

extension ProgressRow {
    fileprivate var isAhead: Bool { topics.values.contains { !$0.finished.isEmpty || !$0.waits.isEmpty } }

    /// A number that grows with each.
    fileprivate var answerCount: Int64 { answers?.values.reduce(0, +) ?? 0 }

    fileprivate var blames: Bool { isClean == false && suspects.contains { $0.begun == .alone } }

    /// Whenever they were written.
    package func isSame(as other: ProgressRow) -> Bool {
        var row = self
        row.at = other.at
        return row == other
    }

    fileprivate func hasSameOwners(as other: ProgressRow) -> Bool {
        isClean == other.isClean && deaths == other.deaths && suspects == other.suspects && lost == other.lost
    }
}
