internal import Posix
internal import Synchronization

/// Whether this process may still write as an owner.
///
/// A process that was stopped (SIGSTOP, a paused machine) for longer than its session lives has lost its partitions,
/// and learns of it only at its next word with the coordinator, while the next owner already runs. So a pulse is
/// noted all the time by a thread that does nothing else: when it is older than the session, nothing is written until
/// the consumer has given its partitions up.
///
/// - Concurrency: from any thread.
final class WriteFence: Sendable {
    private let pulse = Atomic<Int64>(0)
    private let session = Atomic<Int64>(.max)
    private let isShut = Atomic(false)

    /// False between a stall and the moment when its partitions were given up.
    var isOpen: Bool { !isShut.load(ordering: .acquiring) && !isStale(at: SystemTime.monotonicNanoseconds) }

    /// From now on pulses are needed.
    func begin(session nanoseconds: Int64, at now: Int64) {
        pulse.store(now, ordering: .releasing)
        session.store(nanoseconds, ordering: .releasing)
        isShut.store(false, ordering: .releasing)
    }

    /// No owner in this process any more: everybody may write.
    func end() {
        session.store(.max, ordering: .releasing)
        isShut.store(false, ordering: .releasing)
    }

    /// Notes a pulse; shuts the fence if the last one is too old.
    func beat(at now: Int64) {
        if isStale(at: now) { shut() }
        pulse.store(now, ordering: .releasing)
    }

    func shut() { isShut.store(true, ordering: .releasing) }

    /// Everything was given up. Returns whether that was needed.
    func reopen() -> Bool { isShut.exchange(false, ordering: .acquiringAndReleasing) }

    private func isStale(at now: Int64) -> Bool {
        now - pulse.load(ordering: .acquiring) > session.load(ordering: .acquiring)
    }
}
