package import Canonical
package import Clocks
package import ImageModel
package import Records

/// Parked jobs of one partition: the applied topic `parked`, a table of the partition's index. It can be deleted and
/// restored at any time, and without the rows of sources.
///
/// A job is due at its row's `notBefore`. Once `ready` has seen it due, it starts by age. It then stays ready, so a clock
/// that is set back does not make it wait again.
///
/// - Concurrency: used by one owner, on the log's thread; each call blocks it for microseconds for each job that it
///   returns or changes.
package protocol ParkedIndex: AnyObject {
    /// Progress in `parked`; nil if no record of it was applied.
    var parkedCheckpoint: IndexCheckpoint? { get }

    /// Numbers of parked jobs. They are kept in the transaction of each change, and never counted by a scan.
    var parkedCounts: [ParkedShare: ParkedCount] { get }

    /// Highest offset among the first records of parked jobs, or a higher one; nil if no job of the lanes is parked.
    var parkedReach: Int64? { get }

    /// Applies changes, and stores the checkpoint after them, in one transaction.
    func applyParked(
        _ changes: [ParkedChange], upTo position: Int64, epoch: Int64, fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure)

    func parked(_ source: SourceKey, _ identity: JobIdentity) throws(IndexFailure) -> ParkedJob?

    /// Jobs of a source, the oldest row first.
    func parked(of source: SourceKey, limit: Int) throws(IndexFailure) -> [ParkedJob]

    /// Jobs with this id, the oldest row first. Publishers may repeat an id.
    func parked(id: String, limit: Int) throws(IndexFailure) -> [ParkedJob]

    /// All jobs in turn, the oldest row first.
    ///
    /// - Parameter place: 0, or the end of the page before. Jobs that are parked meanwhile come later.
    /// - Returns: `end` is nil if no job is left.
    func page(after place: Int64, limit: Int) throws(IndexFailure) -> (jobs: [ParkedJob], end: Int64?)

    /// Ready jobs of a host and lane, the one seen first at the front; jobs seen at the same time by offset.
    ///
    /// - Parameter start: leaves out this number of jobs at the front.
    func oldest(of share: ParkedShare, from start: Int, limit: Int) throws(IndexFailure) -> [ParkedJob]

    /// Jobs that expire or are abandoned at `now` or before (`ParkedRow.ends`), the first to end at the front.
    func ending(at now: WallTime, limit: Int) throws(IndexFailure) -> [ParkedJob]

    /// Makes up to `limit` jobs ready that are due at `now`, those due first. Returns their number.
    func ready(at now: WallTime, limit: Int) throws(IndexFailure) -> Int

    /// Earliest time at which a job that is not ready is due, or at which one ends; nil if there is none.
    /// Those of the offsets at which a row is.
    func offsets(among offsets: Set<Int64>) throws(IndexFailure) -> Set<Int64>
    func nextDue() throws(IndexFailure) -> WallTime?

    /// Earliest first-seen time of a lane's jobs; nil if there is none.
    func oldestSeen(_ lane: Lane) throws(IndexFailure) -> WallTime?

    /// Deletes all parked jobs and their checkpoint. Rows of sources stay.
    func wipeParked() throws(IndexFailure)
}

/// Host and lane by which a parked job is scheduled.
package struct ParkedShare: Sendable, Hashable {
    package let host: OriginHost
    package let lane: Lane

    package init(_ host: OriginHost, _ lane: Lane) { (self.host, self.lane) = (host, lane) }
}

/// Numbers of parked jobs of a host and lane.
package struct ParkedCount: Sendable, Hashable {
    /// All jobs, due or not.
    package var jobs: Int
    /// Jobs that may start once their host has room.
    package var ready: Int

    package init(jobs: Int, ready: Int) { (self.jobs, self.ready) = (jobs, ready) }
}

/// A parked job as the index has it.
package struct ParkedJob: Sendable, Hashable {
    package let row: ParkedRow
    /// Offset of the row's record. A later row of the same job has another.
    package let offset: Int64
    package let isReady: Bool

    package init(_ row: ParkedRow, offset: Int64, isReady: Bool) {
        (self.row, self.offset, self.isReady) = (row, offset, isReady)
    }
}

extension ParkedRow {
    package var share: ParkedShare { ParkedShare(host, worksAs) }
    /// Whether the job was ready from the beginning: it waits for its host alone.
    package var isReadyAtOnce: Bool { note.notBefore == .epoch }
}
