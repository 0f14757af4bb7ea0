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
        fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) { throw failure }
    func wipe() {}
    func close() {}
    var parked: any ParkedIndex { self }
}

extension AwaitedIndex: ParkedIndex {
    var parkedCheckpoint: IndexCheckpoint? { nil }
    var parkedCounts: [ParkedShare: ParkedCount] { [:] }
    var parkedReach: Int64? { nil }

    func applyParked(
        _ changes: [ParkedChange], upTo position: Int64, epoch: Int64, fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) { throw failure }
    func parked(_ source: SourceKey, _ identity: JobIdentity) throws(IndexFailure) -> ParkedJob? { throw failure }
    func parked(of source: SourceKey, limit: Int) throws(IndexFailure) -> [ParkedJob] { throw failure }
    func parked(id: String, limit: Int) throws(IndexFailure) -> [ParkedJob] { throw failure }
    func page(after place: Int64, limit: Int) throws(IndexFailure) -> (jobs: [ParkedJob], end: Int64?) { throw failure }
    func oldest(of share: ParkedShare, from start: Int, limit: Int) throws(IndexFailure) -> [ParkedJob] { throw failure }
    func ready(at now: WallTime, limit: Int) throws(IndexFailure) -> Int { throw failure }
    func ending(at now: WallTime, limit: Int) throws(IndexFailure) -> [ParkedJob] { throw failure }
    func offsets(among offsets: Set<Int64>) throws(IndexFailure) -> Set<Int64> { throw failure }
    func nextDue() throws(IndexFailure) -> WallTime? { throw failure }
    func oldestSeen(_ lane: Lane) throws(IndexFailure) -> WallTime? { throw failure }
    func wipeParked() {}
}
