package import Clocks
package import ImageModel
internal import Ledger
internal import Partition
internal import Permits
internal import Records

/// State of a lane's jobs in this worker at one moment.
package struct LaneStatus: Sendable, Hashable {
    /// Append time of the oldest unfinished job; nil if there is none.
    package let oldest: WallTime?
    /// Jobs of the lane's own topic that were accepted and are not finished.
    package let unfinished: Int
    /// Parked jobs.
    package let parked: Int
    /// Sources that wait for a permit.
    package let fetches: Int
    package let renders: Int
    /// Sources that are being fetched, rendered or stored.
    package let inProgress: Int

    package init(oldest: WallTime?, unfinished: Int, parked: Int, fetches: Int, renders: Int, inProgress: Int) {
        (self.oldest, self.unfinished, self.parked) = (oldest, unfinished, parked)
        (self.fetches, self.renders, self.inProgress) = (fetches, renders, inProgress)
    }
}

extension Worker {
    package func laneStatus(_ lane: Lane) -> LaneStatus {
        let topic = Topic.jobs(lane)
        let owned = partitions.values
        return LaneStatus(
            oldest: owned.compactMap { $0.state.oldestTime(topic) }.min(),
            unfinished: owned.reduce(0) { $0 + $1.state.unfinished(topic) },
            parked: owned.reduce(0) { $0 + $1.parkedCount(lane) }, fetches: scheduler.waiting(.fetch, on: lane),
            renders: scheduler.waiting(.render, on: lane), inProgress: scheduler.inProgress(on: lane))
    }
}
