internal import CPosix
package import Clocks
internal import Glibc
internal import Synchronization

/// A thread of ours that runs the jobs of its actors and, when woken, a turn of its own.
///
/// Blocking C calls run here, never on the cooperative pool. A polling adapter uses it as the executor of everything
/// that must not race with the poll.
///
/// - Ownership: the thread ends after the last reference is gone; until then every enqueued job runs.
/// - Concurrency: jobs and turns run one after another on the one thread, so an actor on it may be assumed isolated in
///   a turn.
package final class PollThread: SerialExecutor, Sendable {
    /// Work for a wake-up, a ready descriptor or a passed deadline. Returns the latest time of the next call; nil: only
    /// when woken.
    package typealias Turn = @Sendable () -> Instant?

    private let state: State

    package init(_ name: String) {
        state = State(name)
        state.begin(for: self)
    }

    deinit { state.end() }

    /// Sets the turn and the descriptors that trigger it. `onTurn` must not hold the thread's last reference.
    package func poll(_ descriptors: [Int32] = [], _ onTurn: @escaping Turn) {
        state.box.withLock { ($0.descriptors, $0.turn, $0.turnIsDue) = (descriptors, onTurn, true) }
        state.ring()
    }

    /// Stops turns: none starts after this returns, but one may still be running on another thread.
    package func stopPolling() {
        state.box.withLock { ($0.descriptors, $0.turn) = ([], nil) }
        state.ring()
    }

    /// Requests a turn soon; many calls may cause one.
    package func wake() {
        let sleeps = state.box.withLock { box in
            box.turnIsDue = true
            return box.takeSleep()
        }
        if sleeps { state.ring() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let sleeps = state.box.withLock { box in
            box.jobs.append(job)
            return box.takeSleep()
        }
        if sleeps { state.ring() }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func checkIsolated() {
        precondition(isCurrent, "a call that belongs on a poll thread came from another thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { state.thread.withLock { $0 } == pthread_self() }

    /// Runs jobs; the strong reference lasts as long as this call.
    fileprivate func run(_ jobs: [UnownedJob]) {
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}

/// State shared by the thread and its handle: the thread must not keep the handle alive.
private final class State: Sendable {
    struct Box {
        var jobs: [UnownedJob] = []
        var descriptors: [Int32] = []
        var turn: PollThread.Turn?
        var turnIsDue = false
        var isAsleep = false
        var isEnded = false

        /// Whether the thread must be woken; once is enough.
        mutating func takeSleep() -> Bool {
            defer { isAsleep = false }
            return isAsleep
        }
    }

    let box = Mutex(Box())
    /// The thread itself, once it runs.
    let thread = Mutex<pthread_t?>(nil)
    private let bell = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    private let name: String
    nonisolated(unsafe) private weak var handle: PollThread?

    init(_ name: String) { self.name = name }

    deinit { Glibc.close(bell) }

    func begin(for handle: PollThread) {
        precondition(bell >= 0, "no descriptor is left for a thread's bell: raise the limit of open files")
        self.handle = handle
        OwnThread.start(name) { [self] in loop() }
    }

    func end() {
        box.withLock { ($0.isEnded, $0.turn) = (true, nil) }
        ring()
    }

    func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, 8)
    }

    private func loop() {
        thread.withLock { $0 = pthread_self() }
        var spare: [UnownedJob] = []
        var deadline: Instant?
        while true {
            let (turn, isTurnDue, isEnded) = box.withLock { box in
                swap(&box.jobs, &spare)
                defer { box.turnIsDue = false }
                return (box.turn, box.turnIsDue, box.isEnded)
            }
            if !spare.isEmpty { handle?.run(spare) }
            spare.removeAll(keepingCapacity: true)
            if isEnded { return }
            if isTurnDue { deadline = turn?() }
            sleep(until: deadline)
        }
    }

    /// Sleeps until a wake-up, a ready descriptor or the deadline; if work is due, it only checks the descriptors.
    private func sleep(until deadline: Instant?) {
        let (watched, isDue) = box.withLock { box in
            let isDue = !box.jobs.isEmpty || box.turnIsDue || box.isEnded
            box.isAsleep = !isDue
            return (box.descriptors, isDue)
        }
        let left = deadline.map { max(.zero, $0 - SystemTime.monotonic) }
        if isDue && watched.isEmpty && left != .zero { return }
        var polled = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
        for fd in watched { polled.append(pollfd(fd: fd, events: Int16(POLLIN), revents: 0)) }
        let wait = isDue ? 0 : left.map { Int32(min($0 + .nanoseconds(999_999), .hours(1)).milliseconds) } ?? -1
        _ = Glibc.poll(&polled, nfds_t(polled.count), wait)
        if polled[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(bell, &count, 8)
        }
        let isTurn =
            polled.dropFirst().contains { $0.revents != 0 } || deadline.map { SystemTime.monotonic >= $0 } ?? false
        box.withLock { box in
            box.isAsleep = false
            if isTurn { box.turnIsDue = true }
        }
    }
}
