package import Canonical
package import ImageModel
package import Records

/// Variants and sources of one partition: the fold of its changelog, disposable and restored.
///
/// - Concurrency: used by one owner, on the log's thread; calls block it for microseconds.
package protocol VariantIndex: AnyObject {
    /// How far it has folded the changelog. nil in an empty index.
    var checkpoint: IndexCheckpoint? { get }

    /// The newest progress row that was applied. nil if there was none.
    var progress: ProgressRow? { get }

    /// Whether it holds no row of any source.
    func isEmpty() throws(IndexFailure) -> Bool

    /// All that is stored for a source, in one range read.
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot

    /// The same of many sources, still packed: to read what was found needs no owner, so that any core may.
    func packedSnapshots(of sources: some Sequence<SourceKey>) throws(IndexFailure) -> PackedSnapshots

    /// What is stored of sources that stand behind a place, in the order of their places; none: there are no more.
    func page(after place: Int64, limit: Int) throws(IndexFailure) -> [IndexedSource]

    /// Applies changes, the newest progress row among them if there is one, the position after them, the newest owner's
    /// epoch among them and the changelog's anchors in one transaction.
    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, anchors: ChangelogAnchors?
    ) throws(IndexFailure)

    /// Forgets everything: the changelog no longer holds what the position promises.
    func wipe() throws(IndexFailure)

    func close()
}

/// Reads what an index held of some sources, less those whose rows are damaged.
package typealias PackedSnapshots = @Sendable () -> [SourceKey: SourceSnapshot]

/// What an index holds of one source, and where.
package struct IndexedSource: Sendable {
    /// From 1; the same as long as its rows are only changed.
    package let place: Int64
    package let snapshot: SourceSnapshot

    package init(place: Int64, snapshot: SourceSnapshot) { (self.place, self.snapshot) = (place, snapshot) }
}

extension VariantIndex {
    /// The changelog offset that the next applied record follows: everything below it is in.
    package var position: Int64? { checkpoint?.position }

    package func packedSnapshots(of sources: some Sequence<SourceKey>) throws(IndexFailure) -> PackedSnapshots {
        var snapshots: [SourceKey: SourceSnapshot] = [:]
        for source in sources { snapshots[source] = try snapshot(of: source) }
        return { [snapshots] in snapshots }
    }

    package func apply(_ changes: [IndexChange], upTo position: Int64) throws(IndexFailure) {
        try apply(
            changes, progress: nil, upTo: position, epoch: checkpoint?.epoch ?? 0,
            anchors: checkpoint?.anchors)
    }
}

/// Opens the index of a partition; a damaged file is set aside, and an empty index returned with the reason.
package protocol VariantIndexes: Sendable {
    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?)
}
