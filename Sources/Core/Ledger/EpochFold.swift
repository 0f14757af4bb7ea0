internal import Ports

/// Which rows of a changelog count: all but those that an owner wrote behind a later owner's first word.
///
/// Compaction can take that first word away, once the same key has a newer one: an epoch row is a row as others are. So an
/// owner republishes the valid row of each key that was written too late, and the epoch row last (`PartitionLifecycle`);
/// and `variants` compacts nothing that is younger than an hour (`min.compaction.lag.ms`), so that whoever owns the
/// partition has that hour to fold, behind the epoch row that is still there, what came before it.
///
/// A row says nothing of an epoch above the reader's own: a later owner's mark is in the log first, and one row with a wrong
/// number would end an ownership for good.
package struct EpochFold: Sendable {
    /// The latest so far.
    package private(set) var epoch: Int64
    /// Where it was told: an index that was told it before does not know where.
    package private(set) var epochOffset: Int64
    private let own: Int64
    /// Rows before it were written by earlier owners.
    private let end: Int64
    /// Whether epochs are computed from the offsets of this topic, as for `variants`. If so, an epoch above its
    /// offset shows that it is of another log. In `parked`, the group's generation decides.
    private let isReckonedHere: Bool

    /// - Parameters:
    ///   - position: of an index, whose newest epoch so far this is.
    ///   - own: the reader's.
    ///   - end: where the changelog ended when the reader came.
    package init(
        after epoch: Int64, upTo position: Int64, own: Int64, since end: Int64, isReckonedHere: Bool = true
    ) {
        self.isReckonedHere = isReckonedHere
        // Told before that, at an offset that the index does not know.
        (self.epoch, epochOffset, self.own, self.end) = (epoch, max(0, position - 1), own, end)
    }

    /// Whether a row does not count, because nobody has opened its epoch. In `parked`, a row from before the reader came
    /// counts nevertheless: compaction may have removed its epoch row, and the job has no other record.
    package func isUnopened(written: Int64?, opened: Int64?, at offset: Int64) -> Bool {
        isUnknown(written: written, opened: opened, at: offset) && (isReckonedHere || offset >= end)
    }

    private func isUnknown(written: Int64?, opened: Int64?, at offset: Int64) -> Bool {
        guard let written, opened == nil else { return false }
        return isBefore(epoch, at: epochOffset, written, at: offset)
            && isAfterOwn(written, at: offset)
    }

    private func isAfterOwn(_ epoch: Int64, at offset: Int64) -> Bool {
        isBefore(own, at: max(offset, end), epoch, at: offset)
    }

    private func isBefore(_ a: Int64, at aOffset: Int64, _ b: Int64, at bOffset: Int64) -> Bool {
        isReckonedHere ? GroupEpoch.isBefore(a, at: aOffset, b, at: bOffset) : GroupEpoch.isBefore(a, b)
    }

    /// Whether the next row counts.
    ///
    /// - Parameters:
    ///   - written: the epoch of the owner who wrote it; nil of what no owner wrote.
    ///   - opened: the epoch that it opens, if it is an epoch row.
    ///   - offset: where it stands.
    package mutating func counts(written: Int64?, opened: Int64? = nil, at offset: Int64) -> Bool {
        // A bid above it could not be written.
        if !isReckonedHere, max(written ?? 0, opened ?? 0) > GroupEpoch.mostInParked { return false }
        if let written, isBefore(written, at: offset, epoch, at: epochOffset) { return false }
        if isUnopened(written: written, opened: opened, at: offset) { return false }
        if isUnknown(written: written, opened: opened, at: offset) { return true }
        for case let found? in [written, opened]
        where isBefore(epoch, at: epochOffset, found, at: offset) {
            (epoch, epochOffset) = (found, offset)
        }
        return true
    }

    /// Whether an owner has written in a later epoch than the reader's.
    package var isOutbid: Bool { isAfterOwn(epoch, at: epochOffset) }

    /// Whether that is the partition's next owner: one that wrote before the reader came was of an earlier log of this name.
    package var isOver: Bool { isOutbid && epochOffset >= end }
}
