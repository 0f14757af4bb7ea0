package import Canonical
package import Clocks
package import ImageModel
package import Ports
internal import Posix
package import Records
internal import SQLite

extension SQLiteVariantIndex: ParkedIndex {
    package var parked: any ParkedIndex { self }

    package var parkedCheckpoint: IndexCheckpoint? { file?.parked.checkpoint ?? earlyParked }

    package var parkedCounts: [ParkedShare: ParkedCount] { file?.parked.counts ?? [:] }

    package var parkedReach: Int64? { file?.parked.reach }

    package func applyParked(
        _ changes: [ParkedChange], upTo position: Int64, epoch: Int64, fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        let checkpoint = IndexCheckpoint(position: position, epoch: epoch, isOpened: true, at: SystemTime.wall, fingerprints: fingerprints)
        if !hasFile {
            guard !changes.isEmpty else { return earlyParked = checkpoint }
            try makeFile()
        }
        _ = try using { (file) throws(SQLiteFailure) in try file.parked.apply(changes, checkpoint) ? true : nil }
    }

    package func parked(_ source: SourceKey, _ identity: JobIdentity) throws(IndexFailure) -> ParkedJob? {
        guard hasFile else { return nil }
        return try using { (file) throws(SQLiteFailure) in try file.parked.job(.parked(source, identity)) }
    }

    package func parked(of source: SourceKey, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        guard hasFile else { return [] }
        return try using { (file) throws(SQLiteFailure) in try file.parked.jobs(of: source, limit: limit) }
    }

    package func parked(id: String, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        guard hasFile else { return [] }
        return try using { (file) throws(SQLiteFailure) in try file.parked.jobs(id: id, limit: limit) }
    }

    package func page(after place: Int64, limit: Int) throws(IndexFailure) -> (jobs: [ParkedJob], end: Int64?) {
        guard hasFile else { return ([], nil) }
        return try using { (file) throws(SQLiteFailure) in try file.parked.jobs(after: place, limit: limit) }
    }

    package func oldest(of share: ParkedShare, from start: Int, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        guard hasFile else { return [] }
        return try using { (file) throws(SQLiteFailure) in
            try file.parked.oldest(of: share, from: start, limit: limit)
        }
    }

    package func ready(at now: WallTime, limit: Int) throws(IndexFailure) -> Int {
        guard hasFile else { return 0 }
        return try using { (file) throws(SQLiteFailure) in try file.parked.ready(at: now, limit: limit) }
    }

    package func ending(at now: WallTime, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        guard hasFile else { return [] }
        return try using { (file) throws(SQLiteFailure) in try file.parked.ending(at: now, limit: limit) }
    }

    package func offsets(among offsets: Set<Int64>) throws(IndexFailure) -> Set<Int64> {
        guard hasFile else { return [] }
        return try using { (file) throws(SQLiteFailure) in .some(try file.parked.offsets(among: offsets)) }
    }

    package func nextDue() throws(IndexFailure) -> WallTime? {
        guard hasFile else { return nil }
        return try using { (file) throws(SQLiteFailure) in .some(try file.parked.firstDue()) }
    }

    package func oldestSeen(_ lane: Lane) throws(IndexFailure) -> WallTime? {
        guard hasFile else { return nil }
        return try using { (file) throws(SQLiteFailure) in .some(try file.parked.oldestSeen(lane)) }
    }

    package func wipeParked() throws(IndexFailure) {
        if hasFile { _ = try using { (file) throws(SQLiteFailure) -> Bool? in
            try file.parked.wipe()
            return true
        } }
        earlyParked = nil
    }
}
