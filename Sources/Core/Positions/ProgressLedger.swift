package import Clocks
package import Records

/// Schedule for writing a partition's progress row into its changelog. A row costs an append and a transaction.
///
/// The row is written once a second while records are finished ahead of a committable offset. A successor would
/// otherwise repeat those. The same applies while the row has outdated quarantined jobs, or its number of parked jobs
/// is off by a quarter. It is written once a minute if offsets moved, so that the row's fingerprints stay
/// within retention.
package struct ProgressLedger: Sendable {
    /// Row in the changelog, as far as it is known here.
    package private(set) var written: ProgressRow?
    /// Row that may be in the changelog instead, because the log did not confirm it.
    private var doubtful: ProgressRow?
    private var writtenAt: Instant
    private var lookedAt: Instant
    private var isWriting = false

    private static let aheadInterval = Duration.seconds(1)
    private static let interval = Duration.minutes(1)
    /// Number of new outcomes that no row covers, which the next owner would have to read. At this number a row is
    /// written even if nothing is ahead.
    private static let outcomesUnreported: Int64 = 10_000

    package init(_ written: ProgressRow?, at now: Instant) {
        (self.written, writtenAt, lookedAt) = (written, now, now)
    }

    /// Sets the row that the index found in the changelog. A row may be in progress from before the index was found
    /// damaged.
    package mutating func restored(_ written: ProgressRow?, at now: Instant) {
        (self.written, writtenAt, lookedAt) = (written, now, now)
    }

    /// Whether `beginWrite` would request the progress at all.
    package func isLookDue(at now: Instant, isLast: Bool = false) -> Bool {
        !isWriting && (isLast || now - lookedAt >= Self.aheadInterval)
    }

    /// Returns the row to write, if one is due. A write that began ends with `wrote` or `failed`.
    ///
    /// - Parameters:
    ///   - isLast: the partition goes, so any difference is written.
    ///   - current: called once a second, because it sorts the offsets, which may be many.
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
        // Operators see roughly how many jobs wait, after a crash too.
        if abs(current.parkedCount - written.parkedCount) > written.parkedCount / 4 { return true }
        return current.isAhead || written.isAhead
            || current.outcomeCount - written.outcomeCount >= Self.outcomesUnreported
    }

    /// Begins a row that is written at once, and not for the progress alone. It ends like every write. Returns false
    /// while another row is in progress, because a row must not overtake one.
    package mutating func beginMarker() -> Bool {
        defer { isWriting = true }
        return !isWriting
    }

    package var isIdle: Bool { !isWriting }

    /// Pauses that the next owner would find; nil while that is not known.
    package var durablePauses: [Pause]? { isWriting || doubtful != nil ? nil : written?.pauses ?? [] }

    package mutating func wrote(_ row: ProgressRow, at now: Instant) {
        (written, doubtful, writtenAt, isWriting) = (row, nil, now, false)
    }

    package mutating func failed(_ row: ProgressRow, at now: Instant) {
        (writtenAt, isWriting) = (now, false)
        if doubtful?.blames != true { doubtful = row }
    }

    /// Whether a job would be taken for the cause if the owner were gone now.
    package var blames: Bool { written?.blames ?? false || doubtful?.blames ?? false }
}

extension ProgressRow {
    fileprivate var isAhead: Bool { topics.values.contains { !$0.finished.isEmpty } }

    /// A number that grows with each outcome.
    fileprivate var outcomeCount: Int64 { answers?.values.reduce(0, +) ?? 0 }

    fileprivate var blames: Bool { isClean == false && quarantined.contains { $0.begun == .alone } }

    /// Whether two rows are the same, apart from their times.
    package func isSame(as other: ProgressRow) -> Bool {
        var row = self
        row.at = other.at
        return row == other
    }

    fileprivate func hasSameOwners(as other: ProgressRow) -> Bool {
        isClean == other.isClean && crashes == other.crashes && quarantined == other.quarantined && lost == other.lost
            && pauses == other.pauses
    }
}
