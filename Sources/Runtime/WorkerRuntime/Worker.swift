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

/// The worker: takes jobs from its partitions and brings each through fetch, render, store and announce.
///
/// `PartitionState`, `PermitScheduler` and the other values of `Partition` decide; `JobSteps` performs. The worker
/// itself decides when a drain is over.
///
/// - Concurrency: runs on the log consumer's thread, so that reading a partition and releasing it cannot race. Work
///   that awaits (fetch, render, store, append) runs in child tasks of `run()`.
package actor Worker {
    nonisolated let ports: WorkerPorts
    nonisolated let configuration: WorkerConfiguration
    nonisolated let logger: Logger
    nonisolated let intake: Intake
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var partitions: [PartitionID: OwnedPartition] = [:]
    /// Indexes of partitions that went, in case they come back.
    var keptIndexes: [PartitionID: any VariantIndex] = [:]
    var keptProgress: [PartitionID: KeptProgress] = [:]
    var looks = LogLooks()
    var duties: Duties
    package internal(set) var scheduler: PermitScheduler
    /// Fetches in progress, so that one can be cancelled without the others.
    var fetches: [FlightID: Task<Void, Never>] = [:]
    /// Number of assignments of partitions. No two ownerships share the number of a flight.
    var assignments = 0
    var idle = IdleWatch()
    /// Reason why a run until idle ended without some of the log's records.
    var undone: LogFailure?
    /// Fetches, renders and announcements in progress.
    var underWay = 0
    /// Time when the last fetch or render started, or records of lanes were last accepted.
    var busyAt = Instant.distantPast
    package internal(set) var counters = Counters()
    /// Jobs that were left when the worker ended.
    var waiting = 0
    /// Number of them that open transactions hid.
    var hidden = 0
    /// Number of them in partitions that no worker reads, as a run until idle found them.
    var unread = 0
    package internal(set) var timings = Timings()
    private nonisolated let clock: Mutex<TrustedClock>
    /// Reported to health checks, which must not have to wait for the worker.
    nonisolated let hanging = Mutex<Standstill?>(nil)
    package nonisolated var standstill: Standstill? { hanging.withLock { $0 } }
    var phase = Phase.running
    /// Time when each code was last logged that all jobs wait for.
    var loggedAt: [String: Instant] = [:]
    /// Time when it was last logged that partitions go.
    var leavingLoggedAt: Instant?
    /// Monotonic nanoseconds of the last tick. Health checks must not have to wait for the worker.
    nonisolated let ticked: Atomic<Int64>
    private var isTurnDue = false
    /// Buffer reused between turns.
    private var decided: [Effect] = []

    nonisolated let tasks = WorkQueue()

    enum Phase {
        case running
        /// Nothing new starts. Running work may finish until this time.
        case draining(until: Instant)
        case ended((any StageFailure)?)

        var isRunning: Bool { if case .running = self { true } else { false } }
        var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    package init(_ ports: WorkerPorts, _ configuration: WorkerConfiguration, logger: Logger) {
        (self.ports, self.configuration, self.logger) = (ports, configuration, logger)
        intake = Intake(rules: configuration.canonical)
        duties = Duties(
            hosts: HostBoard(isOn: configuration.tellsOrigins),
            standstill: StandstillWatch(limit: configuration.standstill))
        let monotonic = ports.time.monotonic
        ticked = Atomic(monotonic.nanoseconds)
        clock = Mutex(TrustedClock(wall: ports.time.wall, monotonic: monotonic.wholeMilliseconds))
        executor = ports.consumer.executor
        scheduler = PermitScheduler(configuration.permits)
    }

    /// Works until `drain()` stops it, until nothing is left if so configured, or until the log or an index fails
    /// (`LogFailure`, `IndexFailure`).
    ///
    /// - Parameter begun: called once this worker can read the log.
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

    /// Starts to own partitions. It waits while the disk is full: nothing is lost meanwhile, and a worker that ended
    /// would be restarted at once. False if it was told to stop before there was space.
    private func startWithRoom() async throws -> Bool {
        var isStarted = false
        try await untilOver { () throws(LogFailure) in
            guard phase.isRunning else { return true }
            do throws(LogFailure) { try await ports.consumer.start(self) } catch {
                guard case .full = error else { throw error }
                note(error)
                return false
            }
            isStarted = true
            return true
        }
        return isStarted
    }

    func end(_ failure: any StageFailure) {
        guard !phase.isEnded else { return }
        phase = .ended(failure)
        tasks.finish()
    }

    /// Whether so many flights are being stored that nothing new starts. No permit counts their images, which take
    /// memory and files, so a disk slower than the renderers must hold new work back. Announced flights count for their
    /// partition alone.
    var isStoreFull: Bool {
        // So many are seldom in progress at all, and the scheduler is asked at every step.
        underWay >= Self.storingLimit
            && underWay - scheduler.running(.fetch) - scheduler.running(.render) - scheduler.announcements
                >= Self.storingLimit
    }
    private static let storingLimit = 128

    /// Time by the clock that decisions use.
    nonisolated var now: WallTime { moment.wall }
    nonisolated var moment: Moment {
        // In this order, a pause between the two looks like a clock that is ahead, which is soon refuted.
        let monotonic = monotonic
        let wall = ports.time.wall
        return clock.withLock { $0.moment(wall: wall, monotonic: monotonic) }
    }
    /// Time for rules, which count whole milliseconds.
    nonisolated var monotonic: Instant { ports.time.monotonic.wholeMilliseconds }

    /// Requests a turn. Several requests get one turn.
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

    /// Advances time for retries, ageing lanes, a drain's deadline and idleness.
    private func tickWhileRunning() async {
        while !Task.isCancelled {
            await ports.time.sleep(for: .milliseconds(50))
            guard !phase.isEnded else { return }
            tick()
            if configuration.untilIdle, phase.isRunning { await drainIfIdle() }
        }
    }

    private func tick() {
        ticked.store(ports.time.monotonic.nanoseconds, ordering: .relaxed)
        for owned in partitions.values {
            owned.lifecycle.checkInvariants()
            owned.parked.lifecycle.checkInvariants()
            owned.starts.checkInvariants()
            for duty in PartitionDuty.allCases where owned.isDue(duty, at: monotonic) { perform(duty, of: owned) }
        }
        scheduler.checkInvariants()
        let restoring = partitions.values.count { !$0.isRestored }
        // In this order, a pause between the two does not look like a jump of the clock.
        let wall = ports.time.wall
        duties.tick(WorkerView(now: moment, wall: wall, restoring: restoring, isRunning: phase.isRunning)).forEach(perform)
        settle()
        for owned in partitions.values where !owned.readable.isEmpty { turnSoon() }
        if case .draining(let deadline) = phase { endDrain(by: deadline) }
    }

    func perform(_ effect: DutyEffect) {
        switch effect {
        case .log(let level, let text, let notes): logger.log(level, "\(text)", notes)
        case .note(let failure, let notes): note(failure, notes)
        case .tell(let standstill): hanging.withLock { $0 = standstill }
        case .shareHosts: tasks.yield { await self.shareHosts() }
        case .askStore: duties.store.heard(ports.store.absence).forEach(perform)
        case .resumeJobs:
            for owned in partitions.values where owned.isRestored { resumePendingJobs(of: owned) }
        }
    }

    /// Minimum lead of this machine's clock over the brokers'; nil: not known.
    var clockSkew: Duration? { duties.clock.skew(at: moment) }

    /// Grants permits, sends outcomes to the log, and requests a turn if there is more to read.
    func settle() {
        if !phase.isEnded, !isStoreFull { grant() }
        send()
        finishLeaving()
    }

    /// Passes an event to the partition's reducer, and performs its effects.
    func feed(_ event: PartitionEvent, to owned: OwnedPartition) { feed(event, to: owned, at: moment) }

    /// Passes one of several events that came together, so that clocks are read once for all.
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
