internal import Clocks
internal import CommandLine
internal import Dispatch
internal import Glibc
internal import Posix
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// Ends a stopping process that hangs: a blocking call on one of our threads, such as a write to an unresponsive disk,
/// may never return, while the operator waits for the worker.
final class StopDeadline: Sendable {
    /// Time beyond `worker.drain`: a consumer without a responding broker takes ten seconds to leave.
    private static let grace = Duration.seconds(15)

    private let worker: Worker
    private let logger: Logger
    private let isBegun = Atomic(false)
    /// Unfinished work after the worker itself has ended.
    private let closing = Mutex<String?>(nil)

    init(of worker: Worker, logger: Logger) { (self.worker, self.logger) = (worker, logger) }

    /// Starts the deadline of a stopping worker, which may finish its jobs within `drain`.
    func begin(_ drain: Duration) {
        guard !isBegun.exchange(true, ordering: .relaxed) else { return }
        OwnThread.start("stop deadline") { [self] in
            let time = drain + Self.grace
            _ = poll(nil, 0, Int32(clamping: time.milliseconds))
            // The log may be the part that hangs.
            let said = DispatchSemaphore(value: 0)
            OwnThread.start("last words") { [self] in
                logger.critical(
                    "The worker is stopping and did not end within \(time.seconds) seconds: \(reason(time)). It is ended; what still ran is done again at the next start."
                )
                said.signal()
            }
            _ = said.wait(timeout: .now() + 1)
            _exit(ExitCode.failure.rawValue)
        }
    }

    /// Notes the unfinished work of an ended worker.
    func note(_ left: String) {
        closing.withLock { $0 = left }
        begin(.zero)
    }

    private func reason(_ time: Duration) -> String {
        if let closing = closing.withLock({ $0 }) { return closing }
        if let standstill = worker.standstill { return standstill.fact }
        let silence = worker.silence
        return silence >= time
            ? "its thread has not looked at its work for \(silence.components.seconds) s"
            : "its log, or an index, does not respond"
    }
}
