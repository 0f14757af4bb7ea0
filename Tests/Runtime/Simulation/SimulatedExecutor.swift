internal import Glibc

/// Runs the jobs of one simulated process in the order in which they came, when the simulator says so.
///
/// A task that goes from one executor to another enqueues itself again, and how often it does depends on what the optimiser
/// inlines. So it runs on at once, as it does where the way is left out: a seed is the same in every build.
///
/// - Concurrency: lives on one thread; a job that comes from another one ends the program.
final class SimulatedExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    private var next = 0
    /// The task that runs now, and its next job.
    private var current: UnsafeRawPointer?
    private var onward: UnownedJob?
    private let thread = pthread_self()

    var isIdle: Bool { next == jobs.count }

    func enqueue(_ job: consuming ExecutorJob) {
        checkIsolated()
        let job = UnownedJob(job)
        if job.task == current { onward = job } else { jobs.append(job) }
    }

    /// Runs what waits and what comes of it; returns how many jobs that were.
    func run() -> Int {
        guard !isIdle else { return 0 }
        var count = 0
        while next < jobs.count {
            onward = jobs[next]
            next += 1
            count += 1
            while let job = onward {
                (onward, current) = (nil, job.task)
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            current = nil
        }
        jobs.removeAll(keepingCapacity: true)
        next = 0
        return count
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
    func checkIsolated() { precondition(pthread_self() == thread, "a job of a simulation came from another thread") }
    func isIsolatingCurrentContext() -> Bool? { pthread_self() == thread }
}

extension UnownedJob {
    /// By which jobs of one task are known: it is its own job, each time.
    fileprivate var task: UnsafeRawPointer { unsafeBitCast(self, to: UnsafeRawPointer.self) }
}
