internal import Images
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// The worker's side of a parent of renderers: a warm process that reads no picture and only forks, so that a fresh
/// renderer costs a millisecond.
///
/// - Ownership: the process ends with the last renderer that refers to it, or at `end`.
/// - Concurrency: called by any thread; requests run one after another.
final class RendererParent: Sendable {
    enum Failure: Error {
        /// The machine has no process, memory or file for another renderer; the parent may be asked again.
        case exhausted(reason: String)
        /// It has ended, or sent no reply, and is useless.
        case lost
    }

    let warm: WarmProcess
    /// Whether it has replied to every request. After a missing reply it gets no further request, since the reply could
    /// still arrive, and be taken for the next one.
    private let isAnswering = Mutex(true)
    private let isEnded = Mutex(false)
    private static let responseLimit = Duration.seconds(5)

    /// Starts a parent and waits until it is warm.
    init(_ configuration: RendererConfiguration) throws(RenderFailure) {
        warm = try WarmProcess(configuration.program, ["parent"] + configuration.arguments, configuration)
    }

    deinit { end() }

    /// Ends the process, and with it all renderers that it forked.
    func end() {
        isEnded.withLock { isEnded in
            if isEnded { return }
            isEnded = true
            warm.end()
            warm.process.reapOrphans(within: Self.responseLimit)
        }
    }

    /// Forks a renderer, and returns it with our end of its connection.
    func fork() throws(Failure) -> (ChildProcess, PacketSocket) {
        let (ours, theirs): (PacketSocket, PacketSocket)
        do throws(SystemFailure) { (ours, theirs) = try PacketSocket.pair() } catch {
            throw .exhausted(reason: error.description)
        }
        switch ask(.fork, with: theirs) {
        case .forked(let pid):
            do throws(SystemFailure) { return (try ChildProcess(forked: pid) { [self] in reap(pid) }, ours) } catch {
                // Without a connection, the renderer ends by itself.
                ours.hangUp()
                _ = reap(pid)
                throw .exhausted(reason: error.description)
            }
        case .failed(let code):
            throw .exhausted(reason: SystemFailure("fork", on: "renderer", code: Int32(clamping: code)).description)
        default: throw .lost
        }
    }

    /// Reaps a killed renderer. If the parent is gone, the renderer ended with the parent's process namespace.
    private func reap(_ pid: Int32) -> ChildProcess.End {
        switch ask(.reap(pid)) {
        case .exited(let status): .status(status)
        case .ended(let signal): .signal(signal)
        default: .killed
        }
    }

    private func ask(_ request: ParentRequest, with end: PacketSocket? = nil) -> ParentReply? {
        isAnswering.withLock { isAnswering in
            guard isAnswering else { return nil }
            let reply = try? answer(to: request, with: end)
            isAnswering = reply != nil
            return reply
        }
    }

    private func answer(to request: ParentRequest, with end: PacketSocket?) throws(SystemFailure) -> ParentReply? {
        if let end {
            try warm.socket.send(request.message, end: end, within: Self.responseLimit)
        } else {
            try warm.socket.send(request.message, within: Self.responseLimit)
        }
        guard warm.socket.waits(upTo: Self.responseLimit) else { return nil }
        return try warm.socket.receive(limit: 4_096).flatMap { ParentReply(message: $0.bytes) }
    }
}
