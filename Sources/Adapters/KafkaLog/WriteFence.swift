internal import Clocks
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// Whether this process may still write as an owner.
///
/// A process that was stopped (SIGSTOP, a paused machine) for longer than its session has lost its partitions. It
/// learns of that only with its next response from the coordinator, while the next owner already runs. So a thread with
/// no other work notes a pulse all the time. If the pulse is older than four fifths of the session, nothing is written
/// until the consumer has released its partitions. Writes that began earlier carry their ownership, which has ended by
/// then.
///
/// - Concurrency: from any thread.
final class WriteFence: Sendable {
    // Nanoseconds, since neither a time nor a duration is atomic.
    private let pulse = Atomic<Int64>(0)
    private let session = Atomic<Int64>(.max)
    private let shutState = Atomic(false)
    /// Epoch of each partition that this process owns.
    private let epochs = Mutex<[PartitionID: Int64]>([:])

    /// Whether owned partitions must be released before the fence opens again.
    var isShut: Bool { shutState.load(ordering: .acquiring) }

    /// False between a stall and the release of the partitions.
    var isOpen: Bool { !isShut && !isStale(at: SystemTime.monotonic) }

    /// Requires pulses from now on.
    func begin(session time: Duration, at now: Instant) {
        pulse.store(now.nanoseconds, ordering: .releasing)
        // The coordinator counts from the last heartbeat, which may be older than the last pulse.
        session.store((time / 5 * 4).nanoseconds, ordering: .releasing)
        shutState.store(false, ordering: .releasing)
    }

    func begin(_ owner: Ownership) { epochs.withLock { $0[owner.partition] = owner.epoch } }
    func isHeld(_ owner: Ownership) -> Bool { epochs.withLock { $0[owner.partition] == owner.epoch } }
    /// Ends the ownership of these partitions.
    func end(_ partitions: some Sequence<PartitionID>) {
        epochs.withLock { epochs in for partition in partitions { epochs[partition] = nil } }
    }

    /// Ends all ownership in this process: every caller may write.
    func end() {
        epochs.withLock { $0 = [:] }
        session.store(.max, ordering: .releasing)
        shutState.store(false, ordering: .releasing)
    }

    /// Notes a pulse; shuts the fence if the last one is too old.
    func beat(at now: Instant) {
        if isStale(at: now) { shut() }
        pulse.store(now.nanoseconds, ordering: .releasing)
    }

    func shut() { shutState.store(true, ordering: .releasing) }

    /// Opens the fence after everything was released.
    func reopen() { shutState.store(false, ordering: .releasing) }

    private func isStale(at now: Instant) -> Bool {
        let last = Instant(nanoseconds: pulse.load(ordering: .acquiring))
        return now - last > .nanoseconds(session.load(ordering: .acquiring))
    }
}
