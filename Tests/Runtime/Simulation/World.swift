internal import Canonical
internal import Clocks
internal import Hosts
internal import Jobs
internal import Partition
internal import Permits
internal import Planning
internal import Ports
internal import Records
internal import WorkerRuntime

/// One seed's world: brokers, group, store, origins and three machines, in virtual time.
///
/// - Concurrency: lives on one thread.
final class World: @unchecked Sendable {
    static let begin = WallTime(milliseconds: 1_700_000_000_000)
    static let attempts = 4
    /// How long the changelog keeps tombstones, and what is not to be compacted yet.
    static let tombstonesKept = Duration.minutes(1)
    static let compactionLag = Duration.seconds(45)

    let catalogue = Catalogue.shared
    let plant: Plant?
    /// Microseconds since the beginning.
    private(set) var now: Int64 = 0
    var wall: WallTime { Self.wall(at: now) }
    static func wall(at now: Int64) -> WallTime { begin + .milliseconds(now / 1_000) }
    var chance: Chance
    /// What jobs say of freshness: by a chance of its own, so that all else of a seed is as it would be without it.
    var choices: Chance
    private(set) var counts = Counts()
    private(set) var broken: Broken?
    /// Events so far, less those that are only clocks.
    private(set) var steps = 0
    /// No fault is begun any more.
    private(set) var isCalm = false
    /// Publishers end before the faults do: what waits then is worked off among faults, not after them.
    private var lastPublish = Int.max
    var publishes: Bool { !isCalm && steps < lastPublish }
    var trace: Trace
    private var queue = EventQueue()
    private var processes: [SimulatedProcess] = []
    var published = 0
    /// More fast jobs than the workers can do come for a while, now and then.
    let floods: Bool
    var floodUntil: Int64 = 0
    /// Which faults this seed has.
    let faults: [Fault]
    /// When something was last done to a partition's owner or topics, by partition, microseconds.
    var disturbedUntil = [Int64](repeating: -World.aftermath, count: Cluster.partitionCount)
    /// A breaker lets single flights through, and is open for a while after its fault, microseconds.
    static let aftermath: Int64 = 30_000_000

    private(set) lazy var cluster = Cluster(self)
    private(set) lazy var group = Group(self)
    private(set) lazy var ledger = Ledger(self)
    private(set) lazy var promises = Promises(self)
    private(set) lazy var flights = Flights(self)
    private(set) lazy var poisonJobs = PoisonJobs(self, seed: seed)
    private(set) lazy var hopeless = Hopeless(self, seed: seed)
    private(set) lazy var backlog = Backlog(self, seed: seed)
    private(set) lazy var parked = Parked(self, seed: seed)
    private(set) lazy var controls = ControlLog(self, seed: seed)
    private(set) lazy var pauses = PauseLog(self, seed: seed)
    private(set) lazy var parkedOrder = ParkedOrder(self)
    let seed: UInt64
    /// Workers hear of each other's hosts, and share their ceilings.
    let sharesOrigins: Bool
    /// Transactions leave offsets without a record.
    let hasGaps: Bool
    private(set) lazy var ownerships = Ownerships(self)
    let shelf = Shelf()
    let sayings = Sayings()
    let origins: Origins
    let machines: [Machine]
    var readFailsUntil: Int64 = 0
    var indexFailsUntil: Int64 = 0
    var rendererFailsUntil: Int64 = 0
    /// A reset of offsets waits for the group to be empty.
    var resetWaits = false
    /// Partitions whose changelog was recreated and is not restored, and whether a restore waits for the group to be empty.
    var recreated: Set<PartitionID> = []
    var restoreWaits = false

    init(seed: UInt64, plant: Plant?, print: ((String) -> Void)?) {
        var chance = Chance(seed: seed)
        (self.seed, self.plant, trace) = (seed, plant, Trace(print: print))
        floods = chance.isOne(in: 4)
        // What faults do to permits hides what lanes do.
        let some = floods && chance.isOne(in: 2) ? [] : Fault.some(by: &chance)
        origins = Origins(catalogue, &chance)
        machines = (0..<3).map { Machine($0, &chance) }
        self.chance = chance
        choices = Chance(seed: seed ^ 0x4652_4553)
        var other = Chance(seed: seed ^ 0x534c_4f54)
        sharesOrigins = other.isOne(in: 3)
        // What other faults do to a partition hides what one that is away does to it.
        faults = other.isOne(in: 10) ? [.away] : some
        hasGaps = other.isOne(in: 2)
    }

    // MARK: Time

    func after(_ time: Int64, _ action: @escaping () -> Void) {
        queue.add(at: now + max(0, time)) { [unowned self] in
            steps += 1
            action()
        }
    }

    /// The same for what is only a clock.
    func tick(after time: Int64, _ action: @escaping () -> Void) { queue.add(at: now + max(0, time), action) }

    /// The next event, and all that follows from it at once. False: there is none.
    func step() -> Bool {
        guard let (time, action) = queue.next() else { return false }
        now = time
        action()
        settle()
        return true
    }

    private func settle() {
        var ran = 1
        while ran > 0 {
            ran = 0
            for machine in machines {
                if let process = machine.process, !process.isPaused { ran += process.executor.run() }
            }
        }
        if !flights.slow.isEmpty { flights.lookAtThird() }
        lookAtLanes()
    }

    // MARK: What is seen

    func count(_ happening: Happening) { counts.add(happening) }
    func note(_ word: StaticString, _ numbers: Int64..., text: @autoclosure () -> String = "") {
        trace.note(word, numbers, at: now, text: text())
    }
    func fail(_ rule: Rule, _ what: String) {
        if broken == nil { broken = Broken(rule: rule, time: now, what: what) }
    }
    func plants(_ plant: Plant) -> Bool { self.plant == plant }

    /// Whether something that went wrong may still show in a partition.
    func isDisturbed(_ partition: PartitionID) -> Bool {
        disturbedUntil[Int(partition.number)] + Self.aftermath > now
    }

    /// A worker may not know yet, or not believe, what time it is.
    var clocksJump: Bool { counts[.clockForward] + counts[.clockBack] + counts[.clockWrong] > 0 }
    private(set) lazy var intake = Intake(rules: catalogue.rules)

    /// Nothing happened for which a record may be answered twice.
    var isHarmless: Bool { Self.harms.allSatisfy { counts[$0] == 0 } }
    private static let harms: [Happening] = [
        .killed, .paused, .zombie, .sessionExpired, .lost, .revokedLate, .appendLost, .appendUnknown, .offsetsExpired,
        .progressRefused, .leftEarly,
        .resetEarliest, .resetLatest, .recreated, .changelogRecreated, .truncated, .retained, .commitLost, .diskLost,
        .diskOlder,
    ]

    // MARK: Machines

    func start(_ machine: Machine) {
        guard machine.process == nil else { return }
        // What a clock says at the start is believed.
        machine.isClockWrong = false
        let number = processes.count + 1
        note("start", Int64(machine.number), Int64(number))
        let process = SimulatedProcess(machine, number: number, in: self)
        machine.process = process
        processes.append(process)
        process.start()
    }

    /// A worker ended by itself, as it was told.
    func ended(_ process: SimulatedProcess) {
        note("ended", Int64(process.number))
        guard process.machine.process === process else { return }
        process.machine.process = nil
        if !isOver { after(chance.within(100_000...4_000_000)) { [self] in restart(process.machine) } }
    }

    func restart(_ machine: Machine) {
        if machines.allSatisfy({ $0.process == nil }), group.isEmpty {
            if resetWaits { reset() }
            if restoreWaits { restore() }
        }
        // The offsets are set while nobody is there, and changelogs restored.
        if resetWaits || restoreWaits { return after(1_000_000) { [self] in restart(machine) } }
        if !isOver { start(machine) }
    }

    private var isOver = false

    /// Workers are told to stop, and are not started again.
    private func end() {
        isOver = true
        for machine in machines { machine.process?.drain() }
    }

    func rules(of machine: Machine) -> WorkerConfiguration {
        let rules = PartitionRules(
            reuse: ReuseRules(),
            retry: RetryPolicy(attempts: Self.attempts, base: .milliseconds(300), cap: .seconds(4)),
            maxAge: .seconds(40),
            holdLimit: .seconds(3))
        var configuration = WorkerConfiguration(
            partition: rules, permits: grantedPermits,
            canonical: catalogue.rules, readAhead: Self.readAhead * (plants(.readOn) ? 3 : 1),
            originalsLimit: faults.count.isMultiple(of: 2) ? 0 : 1 << 10,
            drain: .seconds(8), seed: chance.next(), owner: "machine \(machine.number)")
        configuration.tellsOrigins = sharesOrigins
        return configuration
    }
    static let readAhead = 12
    var permits: PermitRules {
        var rules = usualPermits
        // Of answers few are late, of stalls all.
        rules.lateAfter = .milliseconds(400)
        return rules
    }
    private var grantedPermits: PermitRules {
        var rules = permits
        if plants(.sparePermit) { rules.fetch += 1 }
        return rules
    }
    private var usualPermits: PermitRules {
        let slowWait = plants(.slowFirst) ? .zero : plants(.loseAged) ? .days(36_500) : Self.slowWait
        return floods
            ? PermitRules(fetch: 3, render: 1, slowWait: slowWait, origins: Self.originRules)
            : PermitRules(fetch: 6, render: 3, slow: 1, slowWait: slowWait, origins: Self.originRules)
    }
    /// Hosts fail for seconds here.
    private static var originRules: OriginRules {
        var rules = OriginRules(concurrency: ceiling, failures: 5, backoff: .milliseconds(400))
        (rules.pause, rules.pauseCap, rules.backoffCap, rules.quiet) = (
            .milliseconds(500), .seconds(2), .seconds(3), .seconds(20)
        )
        return rules
    }
    /// Requests at once at a host, of all workers.
    static let ceiling = 3
    /// Those of one worker's slow flights among them: a third of its slots.
    static let slowCeiling = 1
    static let slowWait = Duration.seconds(4)

    // MARK: A run

    func run(steps limit: Int) {
        lastPublish = limit / 4 * 3
        for machine in machines { after(chance.within(0...500_000)) { [self] in start(machine) } }
        publishSoon()
        burstSoon()
        poisonJobs.publishSoon()
        hopeless.publishSoon()
        backlog.publishSoon()
        parked.publishSoon()
        controls.publishSoon()
        pauses.publishSoon()
        faultSoon()
        compactSoon()
        lookSoon()
        flights.lookSoon()
        impatientSoon()
        while steps < limit, broken == nil, step() {}
        calm()
        let deadline = now + Self.patience
        // To ask costs more than a step.
        while broken == nil, !(steps.isMultiple(of: 16) && isDone), now < deadline, step() {}
        if broken == nil, !isDone { fail(.waits, whatWaits) }
        if broken == nil { checkEnd() }
        end()
        let end = now + 60_000_000
        while broken == nil, machines.contains(where: { $0.process != nil }), now < end, step() {}
        if broken == nil, machines.contains(where: { $0.process != nil }) {
            fail(.ended, "a worker that was told to stop goes on")
        }
        for machine in machines { machine.process?.kill() }
        queue = EventQueue()
        for process in processes { process.letGo() }
    }

    /// What has begun may end within this, microseconds.
    private static let patience: Int64 = 240_000_000

    /// All faults end.
    private func calm() {
        isCalm = true
        note("calm")
        for log in cluster.logs { log.awayUntil = 0 }
        (cluster.fullUntil, cluster.slowUntil, cluster.cutUntil) = (0, 0, 0)
        (shelf.fullUntil, shelf.failsUntil, shelf.slowUntil) = (0, 0, 0)
        (readFailsUntil, indexFailsUntil, rendererFailsUntil) = (0, 0, 0)
        for host in 0..<Origins.hostCount {
            (origins.failsUntil[host], origins.stallsUntil[host], origins.asksUntil[host]) = (0, 0, 0)
        }
        shelf.foreignUntil = 0
        for machine in machines { machine.isClockWrong = false }
        for machine in machines where machine.process?.isPaused == true { machine.process?.wake() }
    }

    /// Every job is answered, every offset committed, and no worker has anything to do.
    var isDone: Bool {
        !ledger.isOpen && machines.allSatisfy { $0.process != nil } && !resetWaits && recreated.isEmpty && isCommitted
            && areWorkersQuiet && isAllOwned
    }

    private var isCommitted: Bool {
        cluster.logs.allSatisfy { log in
            guard Topic.consumed.contains(log.topic), log.end > log.start else { return true }
            let last = log.entries.last?.record.offset ?? -1
            // Forgotten offsets are not committed again before a day is over.
            return log.firstUnfinished == log.end && group.committed[log.place].map { $0 > last } ?? true
        }
    }

    private var areWorkersQuiet: Bool {
        machines.allSatisfy { machine in
            guard let worker = machine.process?.worker else { return false }
            return worker.assumeIsolated { $0.isQuiet }
        }
    }

    private var whatWaits: String {
        var parts: [String] = []
        if let fate = ledger.open.first { parts.append("\(ledger.open.count) jobs, the first \(fate.id)") }
        for log in cluster.logs where Topic.consumed.contains(log.topic) {
            if log.firstUnfinished < log.end {
                parts.append("\(log.topic.rawValue)-\(log.partition)-\(log.firstUnfinished) is not finished")
            } else if let committed = group.committed[log.place], committed < log.end {
                parts.append("\(log.topic.rawValue)-\(log.partition) is committed to \(committed) of \(log.end)")
            }
        }
        if !isAllOwned { parts.append("a partition has no owner: \(group.summary)") }
        for machine in machines {
            guard let process = machine.process else {
                parts.append("machine \(machine.number) has no worker")
                continue
            }
            process.worker.assumeIsolated {
                if !$0.isQuiet { parts.append("worker \(process.number) is not quiet: \($0.status.summary)") }
            }
        }
        return parts.joined(separator: "; ")
    }
}

extension WorkerStatus {
    fileprivate var summary: String {
        "owned \(owned), restoring \(restoring), unfinished \(unfinished.values.reduce(0, +)), under way \(underWay), answers \(answers)"
    }
}
