package import Canonical
package import Clocks
package import ImageModel
package import Ports
package import Records

/// Parked jobs in memory, as an index holds them. The simulator keeps this value on its simulated disks.
package struct ParkedRows: Sendable {
    package private(set) var jobs: [RecordKey: ParkedJob] = [:]
    package var checkpoint: IndexCheckpoint?

    package init() {}

    package var counts: [ParkedShare: ParkedCount] {
        jobs.values.reduce(into: [:]) { counts, job in
            counts[job.row.share, default: ParkedCount(jobs: 0, ready: 0)].jobs += 1
            if job.isReady { counts[job.row.share]?.ready += 1 }
        }
    }

    package var reach: Int64? {
        jobs.values.lazy.compactMap { if case .record(let first) = $0.row.identity { first.offset } else { nil } }.max()
    }

    package mutating func apply(_ change: ParkedChange) {
        switch change {
        case .park(let row, let offset):
            jobs[row.key] = ParkedJob(row, offset: offset, isReady: row.isReadyAtOnce)
        case .drop: jobs[change.key] = nil
        }
    }

    package mutating func ready(at now: WallTime, limit: Int) -> Int {
        let due = jobs.values.filter { !$0.isReady && $0.row.note.notBefore <= now }
            .sorted { ($0.row.note.notBefore, $0.offset) < ($1.row.note.notBefore, $1.offset) }.prefix(limit)
        for job in due { jobs[job.row.key] = ParkedJob(job.row, offset: job.offset, isReady: true) }
        return due.count
    }

    package func offsets(among offsets: Set<Int64>) -> Set<Int64> {
        offsets.intersection(jobs.values.lazy.map(\.offset))
    }

    package var nextDue: WallTime? {
        let due = jobs.values.lazy.filter { !$0.isReady }.map(\.row.note.notBefore).min()
        return [due, jobs.values.lazy.compactMap(\.row.ends).min()].compactMap(\.self).min()
    }

    package func ending(at now: WallTime, limit: Int) -> [ParkedJob] {
        let ending = jobs.values.compactMap { job in job.row.ends.flatMap { $0 <= now ? (ends: $0, job: job) : nil } }
        return ending.sorted { ($0.ends, $0.job.offset) < ($1.ends, $1.job.offset) }.prefix(limit).map(\.job)
    }

    package func oldestSeen(_ lane: Lane) -> WallTime? {
        jobs.values.lazy.filter { $0.row.worksAs == lane }.map(\.row.note.firstSeen).min()
    }

    package func oldest(of share: ParkedShare, from start: Int, limit: Int) -> [ParkedJob] {
        let ready = jobs.values.filter { $0.isReady && $0.row.share == share }
            .sorted { ($0.row.note.firstSeen, $0.offset) < ($1.row.note.firstSeen, $1.offset) }
        return Array(ready.dropFirst(start).prefix(limit))
    }

    package func page(after place: Int64, limit: Int) -> (jobs: [ParkedJob], end: Int64?) {
        let page = jobs.values.filter { $0.offset >= place }.sorted { $0.offset < $1.offset }.prefix(limit)
        return (Array(page), page.count < limit ? nil : page.last.map { $0.offset + 1 })
    }

    package func jobs(limit: Int, where isMeant: (ParkedRow) -> Bool) -> [ParkedJob] {
        Array(jobs.values.filter { isMeant($0.row) }.sorted { $0.offset < $1.offset }.prefix(limit))
    }
}

/// The index port of parked jobs over rows in memory.
package final class InMemoryParkedIndex: ParkedIndex {
    private var rows = ParkedRows()

    package init() {}

    package var parkedCheckpoint: IndexCheckpoint? { rows.checkpoint }
    package var parkedCounts: [ParkedShare: ParkedCount] { rows.counts }
    package var parkedReach: Int64? { rows.reach }

    package func applyParked(
        _ changes: [ParkedChange], upTo position: Int64, epoch: Int64, fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        for change in changes { rows.apply(change) }
        rows.checkpoint = IndexCheckpoint(position: position, epoch: epoch, isOpened: true, at: .epoch, fingerprints: fingerprints)
    }

    package func parked(_ source: SourceKey, _ identity: JobIdentity) throws(IndexFailure) -> ParkedJob? {
        rows.jobs[.parked(source, identity)]
    }

    package func parked(of source: SourceKey, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        rows.jobs(limit: limit) { $0.source == source }
    }

    package func parked(id: String, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        rows.jobs(limit: limit) { $0.note.job == id }
    }

    package func page(after place: Int64, limit: Int) throws(IndexFailure) -> (jobs: [ParkedJob], end: Int64?) {
        rows.page(after: place, limit: limit)
    }

    package func oldest(of share: ParkedShare, from start: Int, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        rows.oldest(of: share, from: start, limit: limit)
    }

    package func ready(at now: WallTime, limit: Int) throws(IndexFailure) -> Int { rows.ready(at: now, limit: limit) }
    package func ending(at now: WallTime, limit: Int) throws(IndexFailure) -> [ParkedJob] {
        rows.ending(at: now, limit: limit)
    }
    package func offsets(among offsets: Set<Int64>) throws(IndexFailure) -> Set<Int64> { rows.offsets(among: offsets) }
    package func nextDue() throws(IndexFailure) -> WallTime? { rows.nextDue }
    package func oldestSeen(_ lane: Lane) throws(IndexFailure) -> WallTime? { rows.oldestSeen(lane) }
    package func wipeParked() throws(IndexFailure) { rows = ParkedRows() }
}
