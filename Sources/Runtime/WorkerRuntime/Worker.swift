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
    var looks = LogLooks()
    var tierTurns = TierTurns()
    /// When it was last looked whether jobs in tiers could begin behind others.
    var searchedAt = Instant.distantPast
    var duties: Duties
    package internal(set) var scheduler: PermitScheduler
    /// Fetches under way, so that one can be cancelled without the others.
    var fetches: [FlightID: Task<Void, Never>] = [:]
    /// How often a partition was assigned; no two ownerships share the number of a flight.
    var assignments = 0
    var idle = IdleWatch()
    /// What it ended without.
    var undone: LogFailure?
    /// Fetches, renders and announcements under way.
    var underWay = 0
    /// When the last fetch or render began, or lanes' records were last taken up.
    var busyAt = Instant.distantPast
    package internal(set) var counters = Counters()
    /// Jobs that were left when it ended.
    var waiting = 0
    /// Those of them that open transactions hid.
    var hidden = 0
    /// Those of them in partitions that no worker reads, as a run until idle found them.
    var unread = 0
    package internal(set) var timings = Timings()
    private nonisolated let clock: Mutex<TrustedClock>
    /// Told to who asks whether it lives, and must not have to wait for it.
    nonisolated let hanging = Mutex<Standstill?>(nil)
    package nonisolated var standstill: Standstill? { hanging.withLock { $0 } }
    var phase = Phase.running
    /// When it was last said what all jobs wait for, by code.
    var told: [String: Instant] = [:]
    /// When it was last said that partitions go.
    var toldLeaving: Instant?
    /// When it last looked at its work, monotonic nanoseconds: who asks whether it lives must not have to wait for it.
    nonisolated let ticked: Atomic<Int64>
    private var isTurnDue = false
    /// Reused between turns.
    private var decided: [Effect] = []

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
        duties = Duties(
            hosts: HostBoard(isOn: configuration.tellsOrigins),
            standstill: StandstillWatch(limit: configuration.standstill))
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
            await pauseAfterRefusal()
        }
        return false
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

    private func tick() {
        ticked.store(ports.time.monotonic.nanoseconds, ordering: .relaxed)
        for owned in partitions.values {
            owned.lifecycle.checkInvariants()
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
        scheduler.checkInvariants()
        let restoring = partitions.values.count { !$0.isRestored }
        // In this order a pause between the two is taken for no jump of the clock.
        let wall = ports.time.wall
        duties.tick(WorkerView(now: moment, wall: wall, restoring: restoring, isRunning: phase.isRunning)).forEach(perform)
        settle()
        moveHeldUp()
        for owned in partitions.values where !owned.readable.isEmpty { turnSoon() }
        if case .draining(let deadline) = phase { endDrain(by: deadline) }
    }

    func perform(_ effect: DutyEffect) {
        switch effect {
        case .log(let level, let text, let notes): logger.log(level, "\(text)", notes)
        case .note(let failure): note(failure)
        case .tell(let standstill): hanging.withLock { $0 = standstill }
        case .shareHosts: tasks.yield { await self.shareHosts() }
        case .askStore: duties.store.heard(ports.store.absence).forEach(perform)
        case .resumeJobs:
            for owned in partitions.values where owned.isRestored { resumePendingJobs(of: owned) }
        }
    }

    /// How far this machine's clock is ahead of the brokers' at least; nil: not known.
    var clockSkew: Duration? { duties.clock.skew(at: moment) }

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
