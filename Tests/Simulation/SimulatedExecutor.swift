internal import Glibc

/// Runs the jobs of one simulated process in the order in which they came, when the simulator says so.
///
/// - Concurrency: lives on one thread; a job that comes from another one ends the program.
final class SimulatedExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    private var next = 0
    private let thread = pthread_self()

    var isIdle: Bool { next == jobs.count }

    func enqueue(_ job: consuming ExecutorJob) {
        checkIsolated()
        jobs.append(UnownedJob(job))
    }

    /// Runs what waits and what comes of it; returns how many jobs that were.
    func run() -> Int {
        var count = 0
        while next < jobs.count {
            let job = jobs[next]
            next += 1
            count += 1
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
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
