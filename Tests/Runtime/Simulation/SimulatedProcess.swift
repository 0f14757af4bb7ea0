internal import Canonical
internal import Clocks
internal import Ports
internal import Records
internal import Telemetry
internal import WorkerRuntime

/// One worker process: the product's own `Worker` on ports of the simulated world.
///
/// - Concurrency: confined to its world's thread, as all of a simulation.
final class SimulatedProcess: @unchecked Sendable {
    unowned(unsafe) let world: World
    let machine: Machine
    /// Counts the processes of a world.
    let number: Int
    let executor = SimulatedExecutor()
    /// As they were opened; one that is kept for its partition's return stays.
    var indexes: [PartitionID: SimulatedIndex] = [:]
    /// Permits of slow flights that were looked at.
    var began: Set<Began> = []
    /// The oldest of the slow flights that wait for their aged turn, and since when it was seen so, microseconds.
    var eldest: (waiting: Began, since: Int64)?
    /// By host: when it was asked to leave it alone, and until when, microseconds.
    var askedToWait = [(at: Int64, until: Int64)](repeating: (0, 0), count: Origins.hostCount)
    /// By host: the time that the last such answer names.
    var named = [Int64](repeating: 0, count: Origins.hostCount)
    private(set) var isDead = false
    private(set) var isPaused = false
    /// It was told to stop.
    private(set) var isStopping = false
    private(set) var hasEnded = false
    private(set) var consumer: SimulatedConsumer!
    private(set) var worker: Worker!
    /// What it waits for; called with true where the wait was cancelled, with false where the process died.
    private var pending: [Int: (Bool) -> Void] = [:]
    private var asked = 0
    private var sent: [() -> Void] = []

    init(_ machine: Machine, number: Int, in world: World) {
        (self.machine, self.number, self.world) = (machine, number, world)
        consumer = SimulatedConsumer(self)
        let ports = WorkerPorts(
            log: SimulatedLog(self), consumer: consumer, fetcher: SimulatedFetcher(self),
            renderer: SimulatedRenderer(self), store: SimulatedStore(self), indexes: SimulatedIndexes(self),
            time: SimulatedClock(self), tasks: executor)
        worker = Worker(ports, world.rules(of: machine), logger: Logger(level: .warning, to: world.sayings.output))
    }

    func start() {
        Task(executorPreference: executor) { [worker] in
            do { try await worker!.run() } catch { self.note(error) }
            self.end()
        }
    }

    private func note(_ error: any Error) {
        if !isDead { world.fail(.ended, "worker \(number) ended by itself: \(error)") }
    }

    private func end() {
        hasEnded = true
        if !isDead { world.ended(self) }
    }

    /// From now on nothing that it does reaches the world; its tasks unwind.
    func kill() {
        guard !isDead else { return }
        (isDead, isPaused) = (true, false)
        consumer.die()
        let waits = pending.sorted { $0.key < $1.key }
        pending = [:]
        for (_, end) in waits { end(false) }
        _ = executor.run()
        if !hasEnded { world.fail(.ended, "worker \(number) was killed, and its tasks wait for ever") }
    }

    /// The world is over: its workers know their process by their ports, and it them.
    func letGo() { (worker, consumer, indexes) = (nil, nil, [:]) }

    /// SIGTERM.
    func drain() {
        isStopping = true
        if world.plants(.ignoreStop) { return }
        worker.assumeIsolated { $0.drain() }
    }

    func pause() {
        isPaused = true
        consumer.hinder()
    }

    func wake() {
        isPaused = false
        let sent = sent
        self.sent = []
        for body in sent { body() }
        consumer.wake()
    }

    /// What was handed to the system before a pause may be sent after it.
    func afterPause(_ body: @escaping () -> Void) { sent.append(body) }

    /// Waits for what `begin` answers; `lost` if the process dies meanwhile, `cancelled` if its task is cancelled.
    func ask<Answer: Sendable>(
        or lost: Answer, cancelled: Answer? = nil, _ begin: (@escaping (Answer) -> Void) -> Void
    ) async -> Answer {
        if isDead { return lost }
        asked += 1
        let id = asked
        // A handler costs, and most waits end with their answer alone.
        guard let cancelled else { return await wait(id, or: lost, cancelled: lost, begin) }
        return await withTaskCancellationHandler {
            Task.isCancelled ? cancelled : await wait(id, or: lost, cancelled: cancelled, begin)
        } onCancel: {
            self.pending.removeValue(forKey: id)?(true)
        }
    }

    private func wait<Answer: Sendable>(
        _ id: Int, or lost: Answer, cancelled: Answer, _ begin: (@escaping (Answer) -> Void) -> Void
    ) async -> Answer {
        await withUnsafeContinuation { continuation in
            pending[id] = { isCancelled in continuation.resume(returning: isCancelled ? cancelled : lost) }
            begin { answer in
                if self.pending.removeValue(forKey: id) != nil { continuation.resume(returning: answer) }
            }
        }
    }
}

/// The clocks of a process's machine.
struct SimulatedClock: TimeSource {
    private let process: SimulatedProcess
    init(_ process: SimulatedProcess) { self.process = process }

    var wall: WallTime { process.machine.wall(at: process.world.now) }
    var monotonic: Instant { process.machine.monotonic(at: process.world.now) }

    /// A busy machine wakes late: short sleeps are much longer here, since each costs the simulator an event.
    func sleep(for duration: Duration) async {
        await process.ask(or: (), cancelled: ()) { done in
            let (seconds, attoseconds) = duration.components
            var time = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
            let world = process.world
            if time < 100_000 { time += world.chance.within(100_000...(world.isCalm ? 1_400_000 : 700_000)) }
            world.tick(after: time) { done(()) }
        }
    }
}

/// Where a worker runs: its clocks and its disk outlive the process.
final class Machine {
    let number: Int
    let disk = SimulatedDisk()
    /// The monotonic clock's first value, and how much it runs fast, in millionths.
    private let (base, drift): (Int64, Int64)
    /// How far the wall clock is off, milliseconds.
    var offset: Int64
    /// It is an hour ahead, which is put right within a minute.
    var isClockWrong = false
    var process: SimulatedProcess?

    init(_ number: Int, _ chance: inout Chance) {
        self.number = number
        base = chance.within(1_000_000...1_000_000_000)
        drift = chance.within(-200...200)
        offset = chance.within(-300...300)
    }

    func monotonic(at now: Int64) -> Instant {
        Instant(nanoseconds: (base + now + now / 1_000_000 * drift) * 1_000)
    }
    func wall(at now: Int64) -> WallTime {
        World.wall(at: now) + .milliseconds(now / 1_000_000 * drift / 1_000 + offset)
            + (isClockWrong ? .hours(1) : .zero)
    }
}
