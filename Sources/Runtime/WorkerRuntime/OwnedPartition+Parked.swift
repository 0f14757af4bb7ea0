internal import Clocks
internal import Hosts
internal import Canonical
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Ports
internal import Records

/// Numbers of parked jobs. The index keeps them, so that none is counted by a scan.
extension OwnedPartition {
    /// Whether parked jobs may start or end: the table is complete, and it is known which of them earlier owners completed.
    var mayStartParked: Bool {
        !isLeaving && isRestored && parked.lifecycle.isRestored && knowsParkedEnds && isOpen(.parked)
            && !parked.lifecycle.isRepublishing && parked.lifecycle.folded >= republishedEnd
    }

    /// The pause that keeps a lane's jobs unread; nil: they are read, because none does, or because a control ends only after
    /// the jobs that came before it. Those that stay paused are parked.
    func pause(of topic: Topic) -> Pause? {
        guard let pause = topic.lane.flatMap({ state.pauses.holding($0) }) else { return nil }
        return state.controls.await(topic, from: state.committable(topic)) ? nil : pause
    }

    /// Parked jobs by host and lane.
    var hostJobs: [OriginHost: ByLane<Int>] {
        index.parked.parkedCounts.reduce(into: [:]) { $0[$1.key.host, default: .none][$1.key.lane] += $1.value.jobs }
    }

    func parkedCount(_ lane: Lane) -> Int {
        index.parked.parkedCounts.reduce(0) { $0 + ($1.key.lane == lane ? $1.value.jobs : 0) }
    }

    /// Hosts with the most parked jobs, for the progress row.
    var away: [ProgressRow.Away] {
        hostJobs.sorted { ($1.value.sum, $0.key.description) < ($0.value.sum, $1.key.description) }
            .prefix(ProgressRow.awayLimit).map { ProgressRow.Away($0.key.description, $0.value) }
    }

    /// Parked jobs for the progress row. An index that cannot be read gives their numbers alone.
    func parkedJobs(epoch: Int64) -> ProgressRow.Parked {
        ProgressRow.Parked(
            epoch: epoch,
            lanes: ByLane { lane in
                let jobs = parkedCount(lane)
                let oldest = jobs > 0 ? (try? index.parked.oldestSeen(lane)) ?? nil : nil
                return ProgressRow.Parked.Jobs(Int64(jobs), oldest: oldest)
            })
    }

    /// Tells the reducer which hosts and lanes have jobs that wait for a start. Jobs of a host that is not asked now are
    /// parked by its block, which has the time since which the host has failed.
    func noteParked(isAsked: (OriginHost) -> Bool) {
        var waiting: Set<HostLane> = []
        for (share, count) in index.parked.parkedCounts where count.ready > starts.count(share) && isAsked(share.host) {
            waiting.insert(HostLane(share.host, share.lane))
        }
        state.note(parked: waiting)
    }
}
