internal import Clocks
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// Whether this process may still write as an owner.
///
/// A process that was stopped (SIGSTOP, a paused machine) for longer than its session lives has lost its partitions,
/// and learns of it only at its next word with the coordinator, while the next owner already runs. So a pulse is
/// noted all the time by a thread that does nothing else: when it is older than four fifths of the session, nothing is
/// written until the consumer has given its partitions up. What an owner began to write before that is told by its
/// ownership, which is over then.
///
/// - Concurrency: from any thread.
final class WriteFence: Sendable {
    // Nanoseconds, since neither a time nor a duration is atomic.
    private let pulse = Atomic<Int64>(0)
    private let session = Atomic<Int64>(.max)
    private let shutState = Atomic(false)
    /// In which epochs this process owns which partitions.
    private let epochs = Mutex<[PartitionID: Int64]>([:])

    /// What is held must be given up before the fence opens again.
    var isShut: Bool { shutState.load(ordering: .acquiring) }

    /// False between a stall and the moment when its partitions were given up.
    var isOpen: Bool { !isShut && !isStale(at: SystemTime.monotonic) }

    /// From now on pulses are needed.
    func begin(session time: Duration, at now: Instant) {
        pulse.store(now.nanoseconds, ordering: .releasing)
        // The coordinator counts from the last heartbeat, which may be older than the last pulse.
        session.store((time / 5 * 4).nanoseconds, ordering: .releasing)
        shutState.store(false, ordering: .releasing)
    }

    func begin(_ owner: Ownership) { epochs.withLock { $0[owner.partition] = owner.epoch } }
    func isHeld(_ owner: Ownership) -> Bool { epochs.withLock { $0[owner.partition] == owner.epoch } }
    /// These ownerships are over.
    func end(_ partitions: some Sequence<PartitionID>) {
        epochs.withLock { epochs in for partition in partitions { epochs[partition] = nil } }
    }

    /// No owner in this process any more: everybody may write.
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

    /// Everything was given up.
    func reopen() { shutState.store(false, ordering: .releasing) }

    private func isStale(at now: Instant) -> Bool {
        let last = Instant(nanoseconds: pulse.load(ordering: .acquiring))
        return now - last > .nanoseconds(session.load(ordering: .acquiring))
    }
}
