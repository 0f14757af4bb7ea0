internal import Ports
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// The worker's side of a renderers' parent: a warm process that sees no picture and only forks, so that a fresh child costs
/// a millisecond.
///
/// - Concurrency: asked by any thread; each waits until the one before it has its answer.
final class RendererParent: Sendable {
    let warm: WarmProcess
    private let turn = Mutex(())
    private static let milliseconds = 5_000

    /// Starts one and waits until it is warm.
    init(_ configuration: RendererConfiguration) throws(RenderFailure) {
        warm = try WarmProcess(configuration.program, ["parent"] + configuration.arguments, configuration)
    }

    /// A new child, and our end of its connection.
    ///
    /// - Failure: `unavailable`; the parent is of no more use.
    func fork() throws(RenderFailure) -> (ChildProcess, PacketSocket) {
        do throws(SystemFailure) {
            let (ours, theirs) = try PacketSocket.pair()
            let reply = turn.withLock { _ in
                Result { () throws(SystemFailure) in
                    try warm.socket.send(ParentRequest.fork.message, end: theirs, within: Self.milliseconds)
                    return try answer()
                }
            }
            guard case .forked(let pid) = try reply.get() else {
                throw SystemFailure("fork", on: "renderer", code: 0)
            }
            return (try ChildProcess(forked: pid) { [self] in reap(pid) }, ours)
        } catch {
            throw .unavailable(reason: "the renderers' parent makes no child (\(error))")
        }
    }

    /// Of a child that was killed; one whose parent is gone was ended with that one's process namespace.
    private func reap(_ pid: Int32) -> ChildProcess.End {
        let reply = turn.withLock { _ -> ParentReply? in
            try? warm.socket.send(ParentRequest.reap(pid).message, within: Self.milliseconds)
            return try? answer()
        }
        switch reply {
        case .exited(let status): return .status(status)
        case .ended(let signal): return .signal(signal)
        default: return .killed
        }
    }

    private func answer() throws(SystemFailure) -> ParentReply? {
        guard warm.socket.waits(upTo: Self.milliseconds) else { return nil }
        return try warm.socket.receive(limit: 4_096).flatMap { ParentReply(message: $0.bytes) }
    }
}
