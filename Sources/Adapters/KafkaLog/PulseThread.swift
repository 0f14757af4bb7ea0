internal import Glibc
internal import Posix
internal import Synchronization

/// Notes that this process runs, and that its poll thread comes round.
///
/// librdkafka's own watchdog, max.poll.interval.ms, is reset by a look at any queue (#4176), so that it says nothing of
/// the queue that tells of revocations.
///
/// - Ownership: its thread ends soon after `end`.
final class PulseThread: Sendable {
    private let lastTurn = Atomic<Int64>(SystemTime.monotonicNanoseconds)
    private let isEnded = Atomic(false)

    private static let beatMicroseconds: UInt32 = 250_000

    init(_ fence: WriteFence, stall nanoseconds: Int64) {
        OwnThread.start("kafka pulse") { [weak self] in
            while let self, !isEnded.load(ordering: .relaxed) {
                let now = SystemTime.monotonicNanoseconds
                fence.beat(at: now)
                if now - lastTurn.load(ordering: .relaxed) > nanoseconds { fence.shut() }
                usleep(Self.beatMicroseconds)
            }
        }
    }

    func noteTurn(at now: Int64) { lastTurn.store(now, ordering: .relaxed) }
    func end() { isEnded.store(true, ordering: .relaxed) }
}
