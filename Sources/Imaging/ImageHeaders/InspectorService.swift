internal import Images
package import Posix
package import RenderProtocol

/// The inspector's side of the socket: inspects pictures until the worker hangs up.
package struct InspectorService {
    private let socket: PacketSocket
    /// CPU limit, in case the worker dies and cannot end this process.
    private static let seconds = 30

    package init(socket: PacketSocket) { self.socket = socket }

    /// Sends a greeting, `ready` if all is well; returns when the worker is gone.
    package func run(_ greeting: RenderReply) throws(SystemFailure) {
        try socket.send(greeting.message)
        while let (message, files) = try socket.receive(limit: Wire.messageLimit) {
            Sandbox.alarm(seconds: Self.seconds)
            // An unreadable request gets no result; the worker then ends this process.
            let results = InspectionRequest(message: message).flatMap { request in
                files.first.map { file in request.parts.map { Self.inspect(file, $0, request) } }
            }
            try socket.send(InspectionReply(results ?? []).message)
            Sandbox.alarm(seconds: 0)
        }
    }

    /// Reads a header as requests will, so that Swift's first-time work is done.
    package static func warm() throws(SystemFailure) {
        let file = try OpenFile(anonymous: "warm")
        try file.append(Array("warm".utf8))
        let request = InspectionRequest(limits: RenderLimits(), parts: [0..<4])
        guard let told = InspectionRequest(message: request.message) else { return }
        _ = InspectionReply(message: InspectionReply([inspect(file, 0..<4, told)]).message)
    }

    private static func inspect(
        _ file: OpenFile, _ part: Range<Int>, _ request: InspectionRequest
    ) -> Result<InspectedPicture, RenderFailure> {
        Result { () throws(RenderFailure) in
            try PictureInspector(limits: request.limits).inspect(file, part: part, isOutput: request.isOutput)
        }
    }
}
