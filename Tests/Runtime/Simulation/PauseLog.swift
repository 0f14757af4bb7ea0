internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Records
internal import WorkerRuntime

/// Pauses and resumes: records that publishers write, and what owners must do about them. By a chance of its own.
final class PauseLog {
    unowned(unsafe) let world: World
    private var chance: Chance
    private var published = 0
    private var recent: [Control.Scope] = []
    /// By partition: the controls that its log was given, in order.
    private var landed: [PartitionID: [Landed]] = [:]
    /// By owner and offset: controls that it has read, with the sources that it was working on then.
    private var read: [Owner: [Int64: Set<Int>]] = [:]

    private struct Landed {
        let control: Control
        let offset: Int64
        /// Microseconds.
        let time: Int64
    }

    private struct Owner: Hashable {
        let process: Int
        let key: Ownerships.Key
    }

    init(_ world: World, seed: UInt64) { (self.world, chance) = (world, Chance(seed: seed ^ 0x5041_5553)) }

    func publishSoon() {
        guard chance.isOne(in: 3) else { return }
        for _ in 0..<10 {
            world.after(chance.within(500_000...50_000_000)) { [self] in if world.publishes { publish() } }
        }
    }

    private func publish() {
        published += 1
        let isResume = !recent.isEmpty && chance.isOne(in: 3)
        let host = "h\(chance.below(Origins.hostCount)).test"
        let scope = chance.pick([
            Control.Scope.all, .filter(.init(lane: .fast)), .filter(.init(lane: .slow)), .filter(.init(host: host)),
            .filter(.init(host: "http://\(host)")),
        ])
        var control = Control(
            id: "pause-\(published)", isResume ? .resume : .pause,
            isResume && !chance.isOne(in: 3) ? chance.pick(recent) : scope,
            at: world.wall)
        if !isResume {
            control.until = world.wall + .milliseconds(chance.within(1_000...12_000))
            recent.append(scope)
        }
        world.count(isResume ? .publishedResume : .publishedPause)
        for partition in Cluster.partitions {
            let record = control.newRecord(partition: partition)
            world.after(chance.within(0...200_000)) { [world] in world.cluster.publish(record) }
        }
    }

    /// A control is in the log.
    func landed(_ record: Record) {
        guard let control = try? Control(record, rules: world.catalogue.rules), control.verb.action.isPausing else {
            return
        }
        landed[record.partition, default: []].append(Landed(control: control, offset: record.offset, time: world.now))
    }

    /// A worker reads records of `control`.
    func drained(_ records: [Record], _ partition: PartitionID, by process: SimulatedProcess) {
        guard let owner = owner(process, partition), landed[partition] != nil else { return }
        let working = process.worker.assumeIsolated { $0.sourcesUnderWay(partition) }
        let numbers = Set(working.compactMap { world.catalogue.number(of: RecordKey.job($0).bytes) })
        for record in records { read[owner, default: [:]][record.offset] = numbers }
    }

    /// Records of `control` as a worker with a planted bug reads them.
    func planted(_ records: [Record]) -> [Record] {
        guard world.plants(.pauseOn) || world.plants(.resumeAll) else { return records }
        return records.map { record in
            guard var control = try? Control(record, rules: world.catalogue.rules) else { return record }
            if world.plants(.pauseOn), let until = control.until { control.until = until + .hours(1) }
            if world.plants(.resumeAll), control.verb == .resume { control.scope = .all }
            var record = record
            record.value = control.body
            return record
        }
    }

    private func owner(_ process: SimulatedProcess, _ partition: PartitionID) -> Owner? {
        process.consumer.epoch(of: partition).map {
            Owner(process: process.number, key: Ownerships.Key(partition: partition, epoch: $0))
        }
    }

    /// A fetch or a render begins.
    ///
    /// - Parameter lane: nil of a render.
    func lookAtStart(of source: Int, _ lane: Lane?, by process: SimulatedProcess) {
        let (partition, url) = (world.catalogue.sources[source].partition, world.catalogue.sources[source].url)
        guard !isMissed, let owner = owner(process, partition), let controls = landed[partition] else { return }
        let wall = process.machine.wall(at: world.now)
        for (place, known) in controls.enumerated() {
            guard let scope = known.control.pauseScope, let until = known.control.until, wall + .seconds(1) < until,
                !controls[(place + 1)...].contains(where: { ends($0.control, scope) })
            else { continue }
            let exempt = read[owner]?[known.offset]
            // Its owner read all controls from before its time first.
            guard exempt != nil || world.ownerships.marked(owner.key).map({ known.time < $0 }) ?? false else {
                continue
            }
            if exempt?.contains(source) ?? false { continue }
            let pause = Pause(known.control.id, scope, since: known.control.at ?? wall, until: until)
            guard lane.map({ pause.holds($0) }) ?? false || pause.holds(OriginHost(of: url.fetched)) else { continue }
            world.fail(
                .paused,
                "worker \(process.number) \(lane == nil ? "renders" : "fetches") source \(source), and \(pause)")
        }
    }

    /// Whether a later control ends a pause of this scope, or takes its place.
    private func ends(_ later: Control, _ scope: Pause.Scope) -> Bool {
        later.pauseScope == scope || later.verb == .resume && later.scope == .all
    }

    /// Whether owners may lack pauses or their ends, because a topic was away or was changed, or clocks were.
    private var isMissed: Bool { world.clocksJump || Self.misses.contains { world.counts[$0] > 0 } }
    private static let misses = ControlLog.misses + [.changelogRecreated, .indexAway]

    /// Whether a partition may have nothing to do.
    func isActive(in partition: PartitionID) -> Bool {
        let now = world.wall
        return landed[partition]?.contains { $0.control.until.map { now < $0 + Self.patience } ?? false } ?? false
    }

    /// Pauses that owners keep are in the log, and are not over.
    func look() {
        if isMissed { return }
        for process in world.machines.compactMap(\.process) where !process.isPaused && !process.isDead {
            for partition in process.consumer.owned where !world.isDisturbed(partition) {
                let controls = landed[partition] ?? []
                for pause in process.worker.assumeIsolated({ $0.pauses(partition) }) {
                    look(at: pause, controls, process, partition)
                }
            }
        }
    }

    private func look(at pause: Pause, _ controls: [Landed], _ process: SimulatedProcess, _ partition: PartitionID) {
        let name = "worker \(process.number), partition \(partition): \(pause)"
        guard let place = controls.firstIndex(where: { $0.control.id == pause.control }),
            let until = controls[place].control.until
        else { return world.fail(.resumed, "\(name), which no publisher asked for") }
        if until + Self.patience < process.machine.wall(at: world.now) {
            return world.fail(.resumed, "\(name), and it was to end at \(until.milliseconds)")
        }
        let end = controls[(place + 1)...].first { ends($0.control, pause.scope) }
        if let end, end.time + Self.patience.milliseconds * 1_000 < world.now {
            world.fail(.resumed, "\(name), though \(end.control.id) ended it")
        }
    }

    /// Several ticks, and some time for a slow log.
    private static let patience = Duration.seconds(10)
}
