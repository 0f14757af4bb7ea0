internal import Canonical
internal import Clocks
internal import ImageModel
internal import MemoryIndex
internal import Ports
internal import Records

/// The table of parked jobs. It is in the same file as the rows of sources: it is written, lost and damaged with them.
extension SimulatedIndex: ParkedIndex {
    var parked: any ParkedIndex { self }
    var parkedCheckpoint: IndexCheckpoint? { file.parked.checkpoint }
    var parkedCounts: [ParkedShare: ParkedCount] {
        guard process.world.plants(.forgetReady) else { return file.parked.counts }
        return file.parked.counts.mapValues { ParkedCount(jobs: $0.jobs, ready: 0) }
    }
    var parkedReach: Int64? { file.parked.reach }

    func applyParked(
        _ changes: [ParkedChange], upTo position: Int64, epoch: Int64, fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        if process.isDead { return }
        try check()
        for change in changes { file.parked.apply(process.world.plants(.slowParked) ? change.asSlow : change) }
        file.parked.checkpoint = IndexCheckpoint(
            position: position, epoch: max(epoch, 0), isOpened: true, at: process.machine.wall(at: process.world.now), fingerprints: fingerprints)
        process.machine.disk.write(file, of: partition)
    }

    func parked(_ source: SourceKey, _ identity: JobIdentity) throws(IndexFailure) -> ParkedJob? {
        try check()
        return file.parked.jobs[.parked(source, identity)]
    }

    func parked(of source: SourceKey, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        try check()
        if process.world.plants(.hideParked) { return [] }
        return file.parked.jobs(limit: limit) { $0.source == source }
    }

    func parked(id: String, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        try check()
        if process.world.plants(.hideParked) { return [] }
        return file.parked.jobs(limit: limit) { $0.note.job == id }
    }

    func page(after place: Int64, limit: Int) throws(IndexFailure) -> (jobs: [ParkedJob], end: Int64?) {
        try check()
        return file.parked.page(after: place, limit: limit)
    }

    func oldest(of share: ParkedShare, from start: Int, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        try check()
        process.world.parkedOrder.offer(share, partition, file.parked, to: process)
        let isReversed = process.world.plants(.newestFirst)
        let jobs =
            isReversed
            ? Array(file.parked.oldest(of: share, from: start, limit: .max).reversed().prefix(limit))
            : file.parked.oldest(of: share, from: start, limit: limit)
        guard process.world.plants(.forgetAttempts) else { return jobs }
        return jobs.map { job in
            var row = job.row
            row.note.attempt = 0
            return ParkedJob(row, offset: job.offset, isReady: job.isReady)
        }
    }

    func ready(at now: WallTime, limit: Int) throws(IndexFailure) -> Int {
        if process.isDead { return 0 }
        try check()
        let count = file.parked.ready(at: now, limit: limit)
        if count > 0 { process.machine.disk.write(file, of: partition) }
        return count
    }

    func ending(at now: WallTime, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        try check()
        return file.parked.ending(at: now, limit: limit)
    }

    func offsets(among offsets: Set<Int64>) throws(IndexFailure) -> Set<Int64> {
        try check()
        return file.parked.offsets(among: offsets)
    }

    func nextDue() throws(IndexFailure) -> WallTime? { file.parked.nextDue }
    func oldestSeen(_ lane: Lane) throws(IndexFailure) -> WallTime? { file.parked.oldestSeen(lane) }

    func wipeParked() throws(IndexFailure) {
        if process.isDead { return }
        file.parked = ParkedRows()
        process.machine.disk.write(file, of: partition)
    }
}

extension ParkedChange {
    /// The same with a job that works in the slow lane.
    fileprivate var asSlow: ParkedChange {
        guard case .park(var row, let offset) = self else { return self }
        row.worksAs = .slow
        return .park(row, offset: offset)
    }
}
