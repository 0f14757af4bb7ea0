package import Clocks

/// Progress of an index in its changelog, written together with the rows.
package struct IndexCheckpoint: Sendable, Hashable {
    /// Offset below which every record is applied.
    package let position: Int64
    /// Newest owner's epoch so far. Records that an earlier owner wrote after it do not count.
    package let epoch: Int64
    /// Whether an owner's epoch row is among the applied records. An epoch alone does not show that: in a recreated
    /// changelog, rows of an owner that lost the partition may come before any epoch row.
    package let isOpened: Bool
    /// Time at which the checkpoint was written.
    package let at: WallTime
    /// nil if the file was last written before the field existed. Its changelog cannot be distinguished from another of
    /// the same length.
    package let fingerprints: ChangelogFingerprints?

    package init(
        position: Int64, epoch: Int64, isOpened: Bool, at: WallTime, fingerprints: ChangelogFingerprints? = nil
    ) {
        (self.position, self.epoch, self.isOpened) = (position, epoch, isOpened)
        (self.at, self.fingerprints) = (at, fingerprints)
    }

    /// Reason why an index must be rebuilt from its changelog, for messages.
    package enum Flaw: Sendable, Hashable {
        /// The index is of another changelog.
        case mismatched(String)
        /// The index is of this changelog, but cannot continue from its checkpoint.
        case outdated(String)
    }

    /// Reason why the index cannot continue from here; nil if it can, as far as the changelog's bounds show.
    ///
    /// - Parameter tombstonesKept: time for which the changelog keeps tombstones. If the index missed more than that,
    ///   dropped rows may have lost their tombstones, and would stay in the index for ever.
    package func flaw(in changelog: Range<Int64>, tombstonesKept: Duration?, at now: WallTime) -> Flaw? {
        if position < changelog.lowerBound { return .outdated("the changelog does not reach back to where it stopped") }
        if position > changelog.upperBound {
            return .mismatched(
                "its changelog reached offset \(position), but this one ends at \(changelog.upperBound)")
        }
        if let tombstonesKept, position < changelog.upperBound {
            if now - at > tombstonesKept {
                return .outdated("it stopped longer ago than the changelog keeps tombstones")
            }
            // The time was written by a clock that was ahead, so the checkpoint's age is unknown.
            if at - now > tombstonesKept {
                return .outdated("it stopped at a time that lies \((at - now).components.seconds / 86_400) days ahead of this clock")
            }
        }
        // Without fingerprints, nothing can identify the changelog later either, when all rows are applied.
        if let fingerprints, fingerprints.isEmpty {
            return .outdated("it names no row by which this changelog could be recognised")
        }
        return nil
    }
}
