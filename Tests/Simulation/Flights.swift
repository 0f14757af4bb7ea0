internal import Canonical
internal import ImageModel
internal import Records

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
    private var asking: [Key: (host: Int, process: SimulatedProcess)] = [:]
    /// Workers of which a slow flight began since the rules were last looked at.
    var slow: [SimulatedProcess] = []

    init(_ world: World) { self.world = world }

    /// nil where the process owns the source's partition no more.
    ///
    /// - Parameter host: that is asked, by a fetch.
    func begin(
        _ source: Int, _ stage: Stage, _ lane: Lane, _ process: SimulatedProcess, at host: Int? = nil
    ) -> Key? {
        if stage == .fetch { world.count(.fetched) }
        if lane == .slow, !slow.contains(where: { $0 === process }) { slow.append(process) }
        let partition = world.catalogue.sources[source].partition
        guard let epoch = process.consumer.epoch(of: partition) else { return nil }
        let key = Key(process: process.number, epoch: epoch, source: source)
        if !running.insert(key).inserted {
            world.fail(.singleFlight, "worker \(process.number), source \(source), epoch \(epoch)")
        }
        if let host {
            asking[key] = (host, process)
            lookAtCeiling(of: host)
        }
        return key
    }

    func end(_ key: Key) {
        running.remove(key)
        asking[key] = nil
    }

    /// Of the group's members: a worker that was stopped past its session finds its connections as they were.
    private func lookAtCeiling(of host: Int) {
        guard world.sharesOrigins else { return }
        let members = asking.values.filter { $0.host == host && world.group.isMember($0.process) }
        guard members.count > World.ceiling else { return }
        world.fail(.ceiling, "host \(host): \(members.count), of workers \(members.map(\.process.number).sorted())")
    }
}
