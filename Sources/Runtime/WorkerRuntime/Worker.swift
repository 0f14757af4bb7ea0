internal import Clocks
internal import Failures
internal import Jobs
internal import Ledger
internal import Partition
package import Permits
internal import Ports
internal import Positions
internal import Posix
internal import Records
internal import Synchronization
package import Telemetry

/// The worker: takes jobs from the partitions it owns and brings each through fetch, render, store and announce.
///
/// `PartitionState`, `PermitScheduler` and the other values of `Partition` decide; `JobSteps` performs. When a drain is over is
/// decided here.
///
/// - Concurrency: runs on the log consumer's thread, so that reading a partition and giving it up cannot race. What
///   awaits (fetch, render, store, append) runs in child tasks of `run()`.
package actor Worker {
    nonisolated let ports: WorkerPorts
    nonisolated let configuration: WorkerConfiguration
    nonisolated let logger: Logger
    nonisolated let intake: Intake
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var partitions: [PartitionID: OwnedPartition] = [:]
    /// Of partitions that went, should they come back.
    var keptIndexes: [PartitionID: any VariantIndex] = [:]
    var keptProgress: [PartitionID: KeptProgress] = [:]
    /// Looks at the log that are asked for and not begun: they go together.
    var looks: [LogLook] = []
    var tierTurns = TierTurns()
    /// When it was last looked whether jobs in tiers could begin behind others.
    var searchedAt = Instant.distantPast
    var isLooking = false
    var restore = RestoreProgress()
    package internal(set) var scheduler: PermitScheduler
    /// Fetches under way, so that one can be cancelled without the others.
    var fetches: [FlightID: Task<Void, Never>] = [:]
    /// How often a partition was assigned; no two ownerships share the number of a flight.
    var assignments = 0
    /// Since when nothing was to be done, and no partition came or went.
    var quietSince: Instant?
    /// The first record that an open transaction hides, and since when nothing else is left.
    private var hiddenSince: (place: LogPoint, at: Instant)?
    /// What it ended without.
    private var undone: LogFailure?
    /// Fetches, renders and announcements under way.
    var underWay = 0
    /// When the last fetch or render began, or lanes' records were last taken up.
    var busyAt = Instant.distantPast
    package internal(set) var counters = Counters()
    var board = OriginBoard()
    /// Jobs that were left when it ended.
    var waiting = 0
    /// Those of them that open transactions hid.
    var hidden = 0
    /// Those of them in partitions that no worker reads, as a run until idle found them.
    var unread = 0
    package internal(set) var timings = Timings()
    var watch = StandstillWatch()
    private nonisolated let clock: Mutex<TrustedClock>
    /// Whether it was said that the wall's clock is not believed.
    private var isClockDoubted = false
    /// The brokers' clock, where there are any.
    var logClock = LogClock()
    /// Whether it was logged that this machine's clock differs from the brokers'.
    private var isSkewTold = false
    /// Told to who asks whether it lives, and must not have to wait for it.
    private nonisolated let hanging = Mutex<Standstill?>(nil)
    package nonisolated var standstill: Standstill? { hanging.withLock { $0 } }
    var phase = Phase.running
    /// When it was last said what all jobs wait for, by code.
    var told: [String: Instant] = [:]
    /// Why the store is not the one that rows are bound to: jobs wait, and are looked up once it is there again.
    var storeAbsence: StoreFailure?
    /// When the store was last asked.
    var askedStoreAt = Instant.distantPast
    /// When it was last said that partitions go.
    var toldLeaving: Instant?
    /// When it last looked at its work, monotonic nanoseconds: who asks whether it lives must not have to wait for it.
    nonisolated let ticked: Atomic<Int64>
    private var isTurnDue = false
    /// Reused between turns.
    private var decided: [PartitionWork] = []

    nonisolated let tasks = WorkQueue()

    enum Phase {
        case running
        /// Nothing new is begun; what runs may finish until this time.
        case draining(until: Instant)
        case ended((any StageFailure)?)

        var isRunning: Bool { if case .running = self { true } else { false } }
        var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    package init(_ ports: WorkerPorts, _ configuration: WorkerConfiguration, logger: Logger) {
        (self.ports, self.configuration, self.logger) = (ports, configuration, logger)
        intake = Intake(rules: configuration.canonical)
        let monotonic = ports.time.monotonic
        ticked = Atomic(monotonic.nanoseconds)
        clock = Mutex(TrustedClock(wall: ports.time.wall, monotonic: monotonic.wholeMilliseconds))
        executor = ports.consumer.executor
        scheduler = PermitScheduler(configuration.permits)
    }

    /// Works until told to stop by `drain()`, until nothing is left if so configured, or until the log or an index
    /// fails (`LogFailure`, `IndexFailure`).
    ///
    /// - Parameter begun: called once the log is this worker's to read.
    package func run(begun: @Sendable () -> Void = {}) async throws {
        guard try await startWithRoom() else { return }
        begun()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tickWhileRunning() }
            while let piece = await tasks.next() { group.addTask(operation: piece) }
            group.cancelAll()
        }
        await countWaiting()
        await ports.consumer.stop()
        closeIndexes()
        if case .ended(let failure?) = phase { throw failure }
    }

    /// Begins to own partitions. A full disk is waited for: nothing is lost meanwhile, and to end would be to be started
    /// again at once. False if it was told to stop before there was room.
    private func startWithRoom() async throws -> Bool {
        while phase.isRunning {
            do throws(LogFailure) {
                try await ports.consumer.start(self)
                return true
            } catch {
                guard case .full = error else { throw error }
                note(error)
            }
            await ports.time.sleep(for: .milliseconds(500))
        }
        return false
    }

    /// Told to stop: finish what runs within the configured time, commit, leave the clean flag.
    package func drain() {
        guard phase.isRunning else { return }
        phase = .draining(until: ports.time.monotonic + configuration.drain)
        scheduler.drain()
        let rest = underWay == 0 ? "" : ": it finishes \(underWay) \(underWay == 1 ? "source" : "sources") first"
        logger.info("The worker is stopping\(rest).", ["underWay": .int(Int64(underWay))])
    }

    func end(_ failure: any StageFailure) {
        guard !phase.isEnded else { return }
        phase = .ended(failure)
        tasks.finish()
    }

    /// Flights that are being stored: their pictures take memory and files that no permit counts, so a disk slower than the
    /// renderers holds back what is begun. Those that are announced count for their partition alone.
    var isStoreFull: Bool {
        // Seldom are so many under way at all, and the scheduler is asked at every step.
        underWay >= Self.storingLimit
            && underWay - scheduler.running(.fetch) - scheduler.running(.render) - scheduler.announcements
                >= Self.storingLimit
    }
    private static let storingLimit = 128

    /// By the clock that decisions go by.
    nonisolated var now: WallTime { moment.wall }
    nonisolated var moment: Moment {
        // In this order a pause between the two is taken for a clock ahead, and soon seen to be none.
        let monotonic = monotonic
        let wall = ports.time.wall
        return clock.withLock { $0.moment(wall: wall, monotonic: monotonic) }
    }
    /// For rules, which count whole milliseconds.
    nonisolated var monotonic: Instant { ports.time.monotonic.wholeMilliseconds }

    /// Asks for a turn; asked many times, there is one.
    func turnSoon() {
        guard !isTurnDue else { return }
        isTurnDue = true
        tasks.yield { await self.turn() }
    }

    private func turn() {
        isTurnDue = false
        guard !phase.isEnded else { return }
        for owned in partitions.values where !owned.readable.isEmpty { read(owned) }
        settle()
    }

    /// Time passes for retries, ageing lanes, a drain's deadline and idleness.
    private func tickWhileRunning() async {
        while !Task.isCancelled {
            await ports.time.sleep(for: .milliseconds(50))
            guard !phase.isEnded else { return }
            tick()
            if configuration.untilIdle, phase.isRunning { await drainIfIdle() }
        }
    }

    /// The log is asked last: it may hold what this worker has not heard of yet.
    private func drainIfIdle() async {
        let now = ports.time.monotonic
        let patience = configuration.patience
        guard isQuiet(for: patience) else {
            quietSince = nil
            return
        }
        let since = quietSince ?? now
        quietSince = since
        guard now - since >= ports.consumer.quietTime else { return }
        let rest = await rest()
        guard isQuiet(for: patience), quietSince == since else {
            quietSince = nil
            return
        }
        switch rest {
        case .nothing: drain()
        case .records: quietSince = nil
        case .unread(let topics):
            undone = .unread(topics)
            drain()
        case .hidden(let place, let count):
            quietSince = nil
            if hiddenSince?.place != place { hiddenSince = (place, now) }
            guard let hiddenSince, now - hiddenSince.at >= Self.hiddenPatience else { return }
            undone = .hidden(
                topic: place.topic, partition: place.partition, offset: place.offset ?? 0, count: count,
                tools: ports.log.toolTopic(place.topic))
            drain()
        }
    }

    /// As long as Kafka lets a producer that is gone keep its transaction open, by default.
    private static let hiddenPatience = Duration.seconds(60)

    private func tick() {
        ticked.store(ports.time.monotonic.nanoseconds, ordering: .relaxed)
        for owned in partitions.values {
            awaitIndex(of: owned)
            feed(.tick, to: owned)
            owned.snapshots.tick(monotonic)
            republish(owned)
            // An index that could not be asked for what the fence needs is asked again, though nothing comes to be folded.
            noteRestored(owned)
            look(at: owned)
            if !owned.isLeaving { writeProgress(of: owned) }
            tickNaming(owned)
            if phase.isRunning { passGaps(owned) }
        }
        tellRestore()
        tickOrigins()
        awaitStore()
        lookForStandstill()
        doubtClock()
        compareClocks()
        settle()
        moveHeldUp()
        for owned in partitions.values where !owned.readable.isEmpty { turnSoon() }
        guard case .draining(let deadline) = phase else { return }
        let isLate = ports.time.monotonic > deadline
        // The log may not have taken the row that takes it back: the next owner would take the job for the cause.
        let blaming = partitions.values.filter { $0.ledger.blames }
        for owned in blaming { name(owned) }
        let isQuiet = underWay == 0 && scheduler.isIdle && isAnswered && isCommitted && isProgressWritten
        guard isLate || (isQuiet && blaming.isEmpty) else { return }
        if isLate {
            logger.warning(
                "The drain deadline passed; what still runs is done again at the next start.",
                ["underWay": .int(Int64(underWay))])
            // Told should it never end.
            hanging.withLock { $0 = watch.standstill(after: .zero) }
        }
        phase = .ended(undone)
        // It takes the fence's place, by which ignored rows are known: not before the valid ones are published again.
        let last = partitions.values.filter { !$0.isLeaving }.map { owned in
            let isClean = !isLate && owned.isRestored && owned.lifecycle.isClean
            let rows = [lastProgressRow(of: owned), isClean ? epochRow(of: owned, isClean: true) : nil]
            return (owner: owned.ownership, rows: rows.compactMap { $0 })
        }
        // The next worker reads them before it asks any host.
        let hosts = configuration.tellsOrigins && board.next != nil ? lastRowsToTell().map { $0.newRecord() } : []
        tasks.yield { [ports] in
            // What is refused here costs the next owner work, and nothing else. Together, since each commit costs a sync of
            // the disk, or a round trip.
            await withDiscardingTaskGroup { group in
                for last in last where !last.rows.isEmpty {
                    group.addTask { _ = await ports.log.append(last.rows, as: last.owner) }
                }
            }
            if !hosts.isEmpty { _ = await ports.log.append(hosts) }
            self.tasks.finish()
        }
    }

    private func doubtClock() {
        let ahead = ports.time.wall - now
        defer { isClockDoubted = ahead > .zero }
        guard ahead > .zero, !isClockDoubted else { return }
        logger.warning(
            "The clock of this machine jumped forward. For one minute, jobs and sources expire by the old time; then the new one counts, if it stays.",
            ["seconds": .int(ahead.components.seconds)])
    }

    /// How far this machine's clock is ahead of the brokers' at least; nil: not known.
    var clockSkew: Duration? {
        let moment = moment
        return logClock.skew(wall: moment.wall, monotonic: moment.monotonic)
    }

    private func compareClocks() {
        guard let skew = clockSkew, (skew.magnitude >= LogClock.tolerance) != isSkewTold else { return }
        isSkewTold.toggle()
        guard isSkewTold else { return logger.notice("The clock of this machine agrees with the brokers' again.") }
        logger.warning(
            "The clock of this machine is \(LogClock.text(skew)): jobs and sources expire that much too \(skew > .zero ? "early" : "late"). Set the clock (NTP).",
            ["seconds": .int(skew.components.seconds)])
    }

    private func lookForStandstill() {
        watch.tick(at: monotonic)
        let found = watch.standstill(after: configuration.standstill)
        if let found, standstill == nil { logger.critical("\(found)") }
        hanging.withLock { $0 = found }
    }

    /// Grants permits, hands answers to the log, and asks for a turn if there is more to read.
    func settle() {
        if !phase.isEnded, !isStoreFull { grant() }
        send()
        finishLeaving()
    }

    /// The partition's reducer decides; what it leaves to do is begun.
    func feed(_ event: PartitionEvent, to owned: OwnedPartition) { feed(event, to: owned, at: moment) }

    /// Of events that came together: clocks are read once for all.
    func feed(_ event: PartitionEvent, to owned: OwnedPartition, at moment: Moment) {
        var decided = decided
        self.decided = []
        owned.state.run(event, at: moment, permits: &scheduler, into: &decided) {
            lookUp($0, in: owned, at: moment)
        }
        decided.reverse()
        while let work = decided.popLast() { perform(work, of: owned, at: moment.wall) }
        self.decided = decided
    }
}

extension Instant {
    fileprivate var wholeMilliseconds: Instant { Instant(milliseconds: nanoseconds / 1_000_000) }
}
