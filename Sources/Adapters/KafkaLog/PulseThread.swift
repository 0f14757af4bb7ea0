internal import Clocks
internal import Glibc
internal import Posix
internal import Synchronization

/// Checks that this process runs, and that its poll thread keeps turning.
///
/// librdkafka's own watchdog, max.poll.interval.ms, is reset by a poll of any queue (#4176). So it does not watch the
/// queue that reports revocations.
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
