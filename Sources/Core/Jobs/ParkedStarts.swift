internal import Canonical
package import Hosts
package import ImageModel
internal import Ledger
package import Ports
package import Records

/// Parked jobs that this owner has started, and which ones start next.
///
/// A row that is started stays in the index until the job's tombstone or next row is applied. It cannot start twice
/// meanwhile. Only what this owner decided about the job ends its start: another record of its key is the same row once
/// more, as after an append of which the log did not say whether it was done.
package struct ParkedStarts: Sendable {
    private struct Start {
        let share: ParkedShare
        /// Offset of the row that runs; nil if the job was parked while it ran.
        let row: Int64?
        /// Whether the row of such a job is still to come.
        var isAwaited: Bool
        /// Offset of the newest applied record of the key.
        var folded: Int64
        /// Offset of the record that ends the start; nil while the job runs.
        var end: Int64?
    }

    private var started: [RecordKey: Start] = [:]
    /// Numbers of started jobs.
    private var counts: [ParkedShare: Int] = [:]
    /// The last host of each lane that had its turn.
    private var turns: [Lane: String] = [:]

    package init() {}

    package func checkInvariants() {
        invariant(
            counts.values.reduce(0, +) == started.count && counts.values.allSatisfy { $0 > 0 },
            "started parked jobs are counted wrongly")
    }

    /// Number of jobs that were started and whose row is still in the index.
    package var count: Int { started.count }
    package func count(_ share: ParkedShare) -> Int { counts[share] ?? 0 }
    package func count(_ lane: Lane) -> Int { counts.reduce(0) { $0 + ($1.key.lane == lane ? $1.value : 0) } }

    /// Whether the job of a key runs, or its outcome or next row is not applied yet. Its row must not be republished
    /// meanwhile: the row of its next attempt, or its tombstone, would be overtaken.
    package func isStarted(_ key: RecordKey) -> Bool { started[key] != nil }

    package var keys: [RecordKey] { Array(started.keys) }
    package mutating func forget(_ key: RecordKey) { if started[key]?.isAwaited == false { end(key) } }

    /// Notes that a row starts. False: its job was started before.
    package mutating func begin(_ job: ParkedJob) -> Bool {
        let key = job.row.key
        if started[key] != nil { return false }
        begin(key, Start(share: job.row.share, row: job.offset, isAwaited: false, folded: job.offset))
        return true
    }

    /// Notes that a job runs whose row is still to come.
    package mutating func hold(_ key: RecordKey, _ share: ParkedShare) {
        end(key)
        begin(key, Start(share: share, row: nil, isAwaited: true, folded: -1))
    }

    private mutating func begin(_ key: RecordKey, _ start: Start) {
        started[key] = start
        counts[start.share, default: 0] += 1
    }

    /// Notes that the log has a record that this owner decided on: the row that `hold` awaits, or the job's next row, or its
    /// tombstone.
    ///
    /// - Parameter place: the record of the job for which it was decided. The reader may start a row before its own writer
    ///   knows that the log has it, and this ends nothing.
    package mutating func landed(_ key: RecordKey, at offset: Int64, of place: RecordPlace) {
        guard var start = started[key] else { return }
        let isOfRow = place.topic == .parked && (start.row.map { $0 == place.offset } ?? (place.offset < 0))
        if isOfRow { start.end = max(start.end ?? 0, offset) } else { start.isAwaited = false }
        keep(key, start)
    }

    /// Notes that a record of the key was applied.
    package mutating func fold(_ key: RecordKey, at offset: Int64) {
        guard var start = started[key] else { return }
        start.folded = max(start.folded, offset)
        keep(key, start)
    }

    private mutating func keep(_ key: RecordKey, _ start: Start) {
        started[key] = start
        if let end = start.end, start.folded >= end { self.end(key) }
    }

    private mutating func end(_ key: RecordKey) {
        guard let share = started.removeValue(forKey: key)?.share else { return }
        let left = (counts[share] ?? 0) - 1
        counts[share] = left > 0 ? left : nil
    }

    /// Shares with jobs that may start now, with the number of jobs for which their hosts have room. Each lane has its own
    /// limit. Hosts of a lane get equal parts of the rest, and take turns, so that no flood of one host holds up the
    /// jobs of another.
    ///
    /// - Parameters:
    ///   - limit: number of jobs of one lane that may be started at once.
    ///   - room: number of further jobs for which a host and lane have room.
    package mutating func next(
        of parked: [ParkedShare: ParkedCount], limit: Int, room: (HostLane) -> Int
    ) -> [(share: ParkedShare, jobs: Int)] {
        var next: [(share: ParkedShare, jobs: Int)] = []
        for lane in Lane.allCases {
            var left = limit - count(lane)
            // Hosts without room take no part.
            let rooms = parked.reduce(into: [ParkedShare: Int]()) { rooms, entry in
                let (share, ready) = (entry.key, entry.value.ready - count(entry.key))
                guard share.lane == lane, ready > 0 else { return }
                let jobs = min(ready, room(HostLane(share.host, lane)))
                if jobs > 0 { rooms[share] = jobs }
            }
            let waiting = rooms.keys.sorted { $0.host.description < $1.host.description }
            let begun = waiting.firstIndex { $0.host.description > turns[lane] ?? "" } ?? 0
            let part = max(1, left / max(1, waiting.count))
            for share in waiting[begun...] + waiting[..<begun] where left > 0 {
                let jobs = min(rooms[share] ?? 0, part, left)
                next.append((share, jobs))
                turns[lane] = share.host.description
                left -= jobs
            }
        }
        return next
    }
}
