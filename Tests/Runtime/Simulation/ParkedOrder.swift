internal import Canonical
internal import Clocks
internal import Hosts
internal import ImageModel
internal import Jobs
internal import MemoryIndex
internal import Ports
internal import Records
internal import WorkerRuntime

/// Order and promptness of the starts of parked jobs, by the tables as the simulated disks have them.
final class ParkedOrder {
    unowned(unsafe) let world: World
    /// The oldest job of a host and lane that could start and did not, by its offset, and since when, microseconds.
    private var idle: [Idle: (job: Int64, since: Int64)] = [:]

    private struct Idle: Hashable {
        let process: Int
        let partition: PartitionID
        let share: ParkedShare
    }

    init(_ world: World) { self.world = world }

    /// A worker asks for the oldest jobs of a host and lane, of which it starts some at once.
    func offer(_ share: ParkedShare, _ partition: PartitionID, _ table: ParkedRows, to process: SimulatedProcess) {
        guard let starts = process.worker.assumeIsolated({ $0.parkedStarts(partition) }) else { return }
        let waiting = table.oldest(of: share, from: 0, limit: .max).filter { !starts.isStarted($0.row.key) }
        let hasRoom = process.worker.assumeIsolated { $0.room(for: HostLane(share.host, .fast), in: partition) > 0 }
        // A fast job that could start has started by now, if none took the room of its lane.
        let isStaleRefresh = share.lane == .slow && hasRoom && starts.count(.fast) == 0
        let fast = isStaleRefresh ? fastJob(of: share.host, in: table) : nil
        world.after(0) { [self] in look(at: waiting, of: share, partition, process, fast) }
    }

    private func look(
        at waiting: [ParkedJob], of share: ParkedShare, _ partition: PartitionID, _ process: SimulatedProcess,
        _ fast: ParkedJob?
    ) {
        guard !process.isDead, let table = process.indexes[partition]?.file.parked,
            let starts = process.worker.assumeIsolated({ $0.parkedStarts(partition) })
        else { return }
        let wall = process.machine.wall(at: world.now)
        // Jobs that end start out of turn.
        guard let last = waiting.last(where: { starts.isStarted($0.row.key) && $0.row.ends.map { wall < $0 } ?? true })
        else { return }
        world.count(.parkedStarted)
        let name = "worker \(process.number), partition \(partition): \(last.row.note.job) of \(share.host)"
        let older = waiting.prefix { $0.row.key != last.row.key }
            .first { !starts.isStarted($0.row.key) && table.jobs[$0.row.key]?.offset == $0.offset }
        if let older { world.fail(.parkedOrder, "\(name) starts before \(older.row.note.job), which is older") }
        if let fast {
            world.fail(.parkedOrder, "\(name) is slow, and starts before \(fast.row.note.job), which is fast")
        }
    }

    /// A fast job of the host that is ready. A job that fails for long works as a slow one, and so may
    /// one that a control moved.
    private func fastJob(of host: OriginHost, in table: ParkedRows) -> ParkedJob? {
        table.jobs.values.filter {
            $0.row.note.lane == .fast && !$0.row.isMoved && $0.row.note.attempt == 0 && $0.isReady && $0.row.share.host == host
        }.min { $0.offset < $1.offset }
    }

    /// The oldest job that is ready starts soon if its host has room. At each look another job may wait for the next tick.
    func lookAtRoom() {
        var seen: Set<Idle> = []
        for process in world.machines.compactMap(\.process) where !process.isPaused && !process.isDead {
            for partition in process.consumer.owned where !world.isDisturbed(partition) {
                guard let table = process.indexes[partition]?.file.parked,
                    let starts = process.worker.assumeIsolated({ $0.parkedStarts(partition) })
                else { continue }
                let shares = process.worker.assumeIsolated { worker in
                    table.counts.filter { share, count in
                        starts.count(share) < count.ready && starts.count(share.lane) < World.readAhead
                            && worker.room(for: HostLane(share.host, share.lane), in: partition) > 0
                    }
                }
                for share in shares.keys {
                    let oldest = table.oldest(of: share, from: 0, limit: .max).first { !starts.isStarted($0.row.key) }
                    guard let job = oldest?.offset else { continue }
                    let key = Idle(process: process.number, partition: partition, share: share)
                    seen.insert(key)
                    let since = idle[key].flatMap { $0.job == job ? $0.since : nil } ?? world.now
                    idle[key] = (job, since)
                    if world.now - since > Self.patience {
                        world.fail(
                            .parkedRoom,
                            "worker \(process.number), partition \(partition): \(share.host) has had room for \((world.now - since) / 1_000) ms"
                        )
                    }
                }
            }
        }
        idle = idle.filter { seen.contains($0.key) }
    }
    /// Several ticks, and some time for a slow log.
    private static let patience: Int64 = 10_000_000
}
