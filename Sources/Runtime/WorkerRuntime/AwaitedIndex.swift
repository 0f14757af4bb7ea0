internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Records

/// Placeholder for an index whose file has no space on the disk. It accepts no row, so its partition's jobs wait.
final class AwaitedIndex: VariantIndex {
    private let failure: IndexFailure
    /// Time of the last attempt to create its file.
    private var triedAt: Instant
    var checkpoint: IndexCheckpoint? { nil }
    var progress: ProgressRow? { nil }

    init(_ failure: IndexFailure, at now: Instant) { (self.failure, triedAt) = (failure, now) }

    /// Whether it is time to try again.
    func beginAttempt(at now: Instant) -> Bool {
        guard now - triedAt >= .milliseconds(500) else { return false }
        triedAt = now
        return true
    }

    func isEmpty() throws(IndexFailure) -> Bool { throw failure }
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot { throw failure }
    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, isOpened: Bool,
        anchors: ChangelogAnchors?
    ) throws(IndexFailure) { throw failure }
    func wipe() {}
    func close() {}
}
