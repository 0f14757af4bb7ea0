internal import Glibc
internal import ImageModel
internal import Ports
package import Posix

/// The child's side of the socket: renders what is asked until the worker hangs up.
///
/// It never starts the cooperative pool: one thread, blocking calls.
package struct RendererService<Engine: RenderEngine> {
    private let engine: Engine
    private let socket: PacketSocket
    /// Above this many pixels a source leaves freed memory behind that is worth giving back.
    private let trimPixels = 8_000_000

    package init(engine: Engine, socket: PacketSocket) { (self.engine, self.socket) = (engine, socket) }

    /// Returns when the other end is gone.
    package func run() throws(SystemFailure) {
        try socket.send(RenderReply.ready.message)
        while let (message, files) = try socket.receive(limit: Wire.messageLimit) {
            try socket.send(answer(message, files).message)
            // What the worker gave is closed with `files`, before the next message is waited for.
        }
    }

    private func answer(_ message: [UInt8], _ files: [OpenFile]) -> RenderReply {
        do throws(EngineFailure) {
            var request = try RenderRequest(message: message)
            guard files.count == 2 + request.watermarks.count else {
                throw .protocolMismatch(
                    reason: "\(files.count) files came with the request, not \(2 + request.watermarks.count)")
            }
            for (index, file) in files.dropFirst(2).enumerated() {
                // Mapped, as the source is: the sandbox lets nothing be read.
                request.watermarks[index].bytes = file.withMapping { Array($0) } ?? []
            }
            // If the worker dies, nobody is left to end a render that hangs.
            Sandbox.alarm(seconds: request.deadlineMilliseconds / 1000 + 2)
            defer { Sandbox.alarm(seconds: 0) }
            let outputs = try render(request, from: files[0], to: files[1])
            if request.facts.size.pixels > trimPixels { Sandbox.trimHeap() }
            return .rendered(outputs)
        } catch {
            // This child lacks memory, which says nothing of the source: it ends as one that crashed, and is tried again.
            if case .source(let reason) = error, Self.lacksMemory(reason) { _exit(70) }
            return .failed(error)
        }
    }

    /// In the words of libvips and of libjpeg.
    private static func lacksMemory(_ reason: String) -> Bool {
        ["out of memory", "Insufficient memory"].contains { reason.contains($0) }
    }

    private func render(_ request: RenderRequest, from source: OpenFile, to output: OpenFile) throws(EngineFailure)
        -> [RenderedOutput]
    {
        var outputs: [RenderedOutput] = []
        let isMapped: Void? = try source.withMapping { bytes throws(EngineFailure) in
            try engine.render(bytes, request) { rendered, content throws(EngineFailure) in
                do throws(SystemFailure) { try output.append(content) } catch {
                    throw .noSpace(reason: error.description)
                }
                outputs.append(rendered)
            }
        }
        guard isMapped != nil else { throw .source(reason: "its bytes could not be mapped") }
        return outputs
    }
}
