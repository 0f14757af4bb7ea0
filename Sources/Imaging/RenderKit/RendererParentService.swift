package import Posix
package import RenderProtocol

/// The parent's side of its socket: forks and reaps renderers on request, until the worker hangs up.
///
/// It has one thread and reads no picture, so that every renderer starts in the same state.
package struct RendererParentService {
    private let socket: PacketSocket

    package init(socket: PacketSocket) { self.socket = socket }

    /// Sends a greeting, `ready` if all is well. Returns in each forked renderer with its own connection, and returns
    /// nil in the parent once the worker is gone.
    ///
    /// A renderer drops this service, and so its parent's connection, before it reads a picture.
    package func run(_ greeting: RenderReply) throws(SystemFailure) -> PacketSocket? {
        try socket.send(greeting.message)
        while let (message, end) = try socket.receiveEnd(limit: 4_096) {
            let reply: ParentReply
            switch (ParentRequest(message: message), end) {
            case (.fork, let end?):
                switch Result(catching: ForkServer.fork) {
                case .success(0): return end
                case .success(let pid): reply = .forked(pid)
                case .failure(let failure): reply = .failed(Int(failure.code))
                }
            case (.reap(let pid), nil): reply = Self.reaped(pid)
            default: reply = .failed(0)
            }
            try socket.send(reply.message)
        }
        return nil
    }

    private static func reaped(_ pid: Int32) -> ParentReply {
        switch ChildProcess.reap(pid) {
        case .signal(let signal): .ended(signal: signal)
        case .status(let status): .exited(status: max(0, status))
        }
    }
}
