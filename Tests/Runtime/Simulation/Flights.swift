internal import Canonical
internal import ImageModel
internal import Ledger
internal import Partition
internal import Permits
internal import Records
internal import WorkerRuntime

/// What is fetched and rendered now: one flight of a source in one ownership.
final class Flights {
    struct Key: Hashable {
        let process: Int
        let epoch: Int64
        let source: Int
    }
    enum Stage { case fetch, render }

    unowned(unsafe) let world: World
    private var running: Set<Key> = []
    /// Requests under way, by host.
    private var asking: [Key: Asking] = [:]
    private struct Asking {
        let host: Int
        let process: SimulatedProcess
        let isSlow: Bool
        /// Microseconds.
        let since: Int64
    }
    /// Until when two workers may have one slot, by host, microseconds.
    private var excused: [String: Int64] = [:]
    /// Workers of which a slow flight may have begun since the rules were last looked at.
    var slow: [SimulatedProcess] = []

    init(_ world: World) { self.world = world }

    /// nil where the process owns the source's partition no more.
    ///
    /// - Parameters:
    ///   - lane: nil of a render, which is not told.
    ///   - host: that is asked, by a fetch.
    func begin(
        _ source: Int, _ stage: Stage, _ lane: Lane?, _ process: SimulatedProcess, at host: Int? = nil
    ) -> Key? {
        if stage == .fetch { world.count(.fetched) }
        if lane != .fast, !slow.contains(where: { $0 === process }) { slow.append(process) }
        let partition = world.catalogue.sources[source].partition
        guard let epoch = process.consumer.epoch(of: partition) else { return nil }
        let key = Key(process: process.number, epoch: epoch, source: source)
        if !running.insert(key).inserted {
            world.fail(.singleFlight, "worker \(process.number), source \(source), epoch \(epoch)")
        }
        if let host {
            asking[key] = Asking(host: host, process: process, isSlow: lane == .slow, since: world.now)
            lookAtCeiling(of: host)
        }
        return key
    }

    /// Requests under way of workers that are neither dead nor paused, and since when, microseconds.
    var fetches: [(key: Key, since: Int64)] {
        asking.filter { !$1.process.isDead && !$1.process.isPaused && world.group.isMember($1.process) }
            .map { ($0, $1.since) }.sorted { ($0.since, $0.key.source) < ($1.since, $1.key.source) }
    }

    func end(_ key: Key) {
        running.remove(key)
        asking[key] = nil
    }

    /// A worker that was stopped past its session passes a slot on before it hears that it has none. Who has it reads so within
    /// a second, and ends what is under way.
    func excuse(_ host: String) { excused[host] = world.now + 10_000_000 }
    private func isExcused(_ host: Int) -> Bool { excused["http://h\(host).test"].map { world.now < $0 } ?? false }

    /// Of the group's members: a worker that was stopped past its session finds its connections as they were.
    private func lookAtCeiling(of host: Int) {
        guard world.sharesOrigins else { return }
        let members = asking.values.filter { $0.host == host && world.group.isMember($0.process) }
        guard members.count > World.ceiling, !isExcused(host) else { return }
        world.fail(.ceiling, "host \(host): \(members.count), of workers \(members.map(\.process.number).sorted())")
    }

    /// The same of one worker's slow flights, after each moment in which one began.
    func lookAtThird() {
        guard world.sharesOrigins else { return }
        for host in 0..<Origins.hostCount {
            let members = asking.values.filter { $0.host == host && world.group.isMember($0.process) }
            for (worker, asking) in Dictionary(grouping: members, by: \.process.number)
            where asking.count(where: \.isSlow) > World.slowCeiling && slow(asking, at: host) > World.slowCeiling {
                world.fail(.third, "host \(host): \(slow(asking, at: host)), of worker \(worker)")
            }
        }
    }

    /// Of one worker's requests at a host: a fast job that joins a slow flight makes it a fast one, and only the worker
    /// knows. What it knows of no more is as it began.
    private func slow(_ asking: [Asking], at host: Int) -> Int {
        let begun = asking.count(where: \.isSlow)
        guard let process = asking.first?.process, !process.isDead else { return begun }
        let entries = process.worker.assumeIsolated { $0.scheduler }.entries.values.filter {
            $0.holds.contains(.fetch) && $0.host.description == "http://h\(host).test"
        }
        return asking.count > entries.count ? begun : min(begun, entries.count { $0.lane == .slow })
    }
}
