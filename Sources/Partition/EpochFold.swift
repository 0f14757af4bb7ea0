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
    private let own: Int64

    /// - Parameter own: the reader's.
    package init(after epoch: Int64, own: Int64) { (self.epoch, self.own) = (epoch, own) }

    /// Whether a row is of an epoch that nobody has opened.
    package func isUnopened(written: Int64?, opened: Int64?) -> Bool {
        if let written, opened == nil { written > max(epoch, own) } else { false }
    }

    /// Whether the next row counts.
    ///
    /// - Parameters:
    ///   - written: the epoch of the owner who wrote it; nil of what no owner wrote.
    ///   - opened: the epoch that it opens, if it is an epoch row.
    package mutating func counts(written: Int64?, opened: Int64? = nil) -> Bool {
        if let written, written < epoch { return false }
        if isUnopened(written: written, opened: opened) { return false }
        epoch = max(epoch, written ?? 0, opened ?? 0)
        return true
    }
}
