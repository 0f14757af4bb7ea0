package import Posix
package import RenderProtocol

/// The child's side of a renderers' parent: forks and reaps what the worker asks, until the worker hangs up.
///
/// It has one thread and sees no picture, so that every child begins as the one before it did.
package struct RendererParentService {
    private let socket: PacketSocket

    package init(socket: PacketSocket) { self.socket = socket }

    /// Says what it is, `ready` if all is well. Returns in each child, with its own connection, and nil in the parent once the
    /// worker is gone.
    ///
    /// A child lets go of this service, and so of its parent's connection, before it sees a picture.
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
