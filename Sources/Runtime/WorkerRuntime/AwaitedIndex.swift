internal import Canonical
internal import ImageModel
internal import Ports
internal import Records

/// Stands for an index whose file the disk has no room for: takes no row, so that its partition's jobs wait.
final class AwaitedIndex: VariantIndex {
    private let failure: IndexFailure
    /// When its file was last tried, monotonic milliseconds.
    var triedAt: Int64
    var checkpoint: IndexCheckpoint? { nil }
    var progress: ProgressRow? { nil }

    init(_ failure: IndexFailure, at now: Int64) { (self.failure, triedAt) = (failure, now) }

    func isEmpty() throws(IndexFailure) -> Bool { throw failure }
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot { throw failure }
    func page(after place: Int64, limit: Int) throws(IndexFailure) -> [IndexedSource] { throw failure }
    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, anchors: ChangelogAnchors?
    ) throws(IndexFailure) { throw failure }
    func wipe() {}
    func close() {}
}
