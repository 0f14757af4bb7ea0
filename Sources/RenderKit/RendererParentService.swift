package import Posix
package import RenderProtocol

/// The child's side of a renderers' parent: forks and reaps what the worker asks, until the worker hangs up.
///
/// It has one thread and sees no picture, so that every child begins as the one before it did.
package struct RendererParentService {
    private let socket: PacketSocket

    package init(socket: PacketSocket) { self.socket = socket }

    /// Says what it is, `ready` if all is well; `serve` is what a child does, with a connection of its own.
    package func run(_ greeting: RenderReply, serve: (PacketSocket) -> Never) throws(SystemFailure) {
        try socket.send(greeting.message)
        while let (message, end) = try socket.receiveEnd(limit: 4_096) {
            let reply: ParentReply
            switch ParentRequest(message: message) {
            case .reap(let pid): reply = reaped(pid)
            case .fork: reply = end.map { fork($0, serve) } ?? .failed(0)
            case nil: reply = .failed(0)
            }
            try socket.send(reply.message)
        }
    }

    private func reaped(_ pid: Int32) -> ParentReply {
        switch ChildProcess.reap(pid) {
        case .signal(let signal): .ended(signal: signal)
        case .status(let status): .exited(status: max(0, status))
        }
    }

    private func fork(_ end: PacketSocket, _ serve: (PacketSocket) -> Never) -> ParentReply {
        do throws(SystemFailure) {
            let pid = try ForkServer.fork {
                socket.closeInChild()
                serve(end)
            }
            return .forked(pid)
        } catch { return .failed(Int(error.code)) }
    }
}
