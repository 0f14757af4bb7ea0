internal import Clocks
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
    private let lastTurn = Atomic<Int64>(SystemTime.monotonic.nanoseconds)
    private let isEnded = Atomic(false)

    private static let beatInterval = Duration.milliseconds(250)

    init(_ fence: WriteFence, stall: Duration) {
        OwnThread.start("kafka pulse") { [weak self] in
            while let self, !isEnded.load(ordering: .relaxed) {
                let now = SystemTime.monotonic
                fence.beat(at: now)
                if now - Instant(nanoseconds: lastTurn.load(ordering: .relaxed)) > stall { fence.shut() }
                usleep(Self.beatInterval.microseconds)
            }
        }
    }

    func noteTurn(at now: Instant) { lastTurn.store(now.nanoseconds, ordering: .relaxed) }
    func end() { isEnded.store(true, ordering: .relaxed) }
}
