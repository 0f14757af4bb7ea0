package import Canonical
package import ImageModel
package import Records

/// Variants and sources of one partition: the applied changelog. It can be deleted and restored at any time.
///
/// - Concurrency: used by one owner, on the log's thread; each call blocks it for microseconds.
package protocol VariantIndex: AnyObject {
    /// Progress in the changelog; nil in an empty index.
    var checkpoint: IndexCheckpoint? { get }

    /// Parked jobs, with a checkpoint of their own. The object lives as long as this one.
    var parked: any ParkedIndex { get }

    /// Newest progress row that was applied; nil if there was none.
    var progress: ProgressRow? { get }

    /// Whether the index holds no row of any source.
    func isEmpty() throws(IndexFailure) -> Bool

    /// All rows of a source, in one range read.
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot

    /// All rows of many sources, still packed. Unpacking needs no owner, so that any core can do it.
    func packedSnapshots(of sources: some Sequence<SourceKey>) throws(IndexFailure) -> PackedSnapshots

    /// Applies changes, and stores the state after them, in one transaction. The state is the position, the newest
    /// progress row (if the changes have one), the newest owner's epoch, whether the changelog is opened, and its
    /// fingerprints.
    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, isOpened: Bool,
        fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure)

    /// Deletes all rows, because the changelog no longer contains the records that the checkpoint relies on.
    func wipe() throws(IndexFailure)

    /// Keeps the rows elsewhere, for `mezzotint topics restore`, and closes the index. Opened again, it is empty.
    func moveAway() throws(IndexFailure)

    func close()
}

/// Unpacks the rows of some sources, without sources whose rows are damaged.
package typealias PackedSnapshots = @Sendable () -> [SourceKey: SourceSnapshot]

extension VariantIndex {
    /// Offset after the applied records: every record below it is applied.
    package var position: Int64? { checkpoint?.position }

    package func packedSnapshots(of sources: some Sequence<SourceKey>) throws(IndexFailure) -> PackedSnapshots {
        var snapshots: [SourceKey: SourceSnapshot] = [:]
        for source in sources { snapshots[source] = try snapshot(of: source) }
        return { [snapshots] in snapshots }
    }

    package func moveAway() throws(IndexFailure) { try wipe() }

    package func apply(_ changes: [IndexChange], upTo position: Int64) throws(IndexFailure) {
        try apply(
            changes, progress: nil, upTo: position, epoch: checkpoint?.epoch ?? 0,
            isOpened: checkpoint?.isOpened ?? false, fingerprints: checkpoint?.fingerprints)
    }
}

/// Opens the index of a partition. A damaged file is moved away, and an empty index is returned with the reason.
package protocol VariantIndexes: Sendable {
    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?)
}
