internal import Glibc
internal import Ports
package import Posix
package import RenderProtocol
internal import VariantSpec

/// The child's side of the socket: renders what is asked until the worker hangs up.
///
/// It never starts the cooperative pool: one thread, blocking calls.
package struct RendererService<Engine: RenderEngine> {
    private let engine: Engine
    private let socket: PacketSocket
    /// Bytes of the first allocation that was refused since this was last asked; 0: none was.
    private let takeRefusedBytes: () -> Int
    /// Above this many pixels a source leaves freed memory behind that is worth giving back.
    private let trimPixels = 8_000_000

    package init(engine: Engine, socket: PacketSocket, takeRefusedBytes: @escaping () -> Int) {
        (self.engine, self.socket, self.takeRefusedBytes) = (engine, socket, takeRefusedBytes)
    }

    /// Says what it is, if anything, and returns when the other end is gone.
    package func run(_ greeting: RenderReply? = nil) throws(SystemFailure) {
        if let greeting { try socket.send(greeting.message) }
        while let (message, files) = try socket.receive(limit: Wire.messageLimit) {
            try socket.send(believed(answer(message, files)).message)
            // What the worker gave is closed with `files`, before the next message is waited for.
        }
    }

    /// Where memory was refused nothing else counts: a library may have called the source damaged for it, or have done
    /// without what it could not hold, such as the colour profile.
    private func believed(_ reply: RenderReply) -> RenderReply {
        let bytes = takeRefusedBytes()
        guard bytes > 0 else { return reply }
        var (output, told): (Int?, String) = (nil, "")
        if case .failed(let failure) = reply { told = " (\(failure.reason))" }
        if case .failed(.output(let index, _)) = reply { output = index }
        return .failed(.refused(bytes, output, told))
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
            return .failed(error)
        }
    }

    private func render(_ request: RenderRequest, from source: OpenFile, to output: OpenFile) throws(EngineFailure)
        -> [RenderedOutput]
    {
        var outputs: [RenderedOutput] = []
        let isMapped: Void? = try source.withMapping { bytes throws(EngineFailure) in
            try engine.render(bytes, request) { rendered, content throws(EngineFailure) in
                // Asked now, to know for which of them it was refused.
                let refused = takeRefusedBytes()
                if refused > 0 { throw .refused(refused, outputs.count, "") }
                do throws(SystemFailure) { try output.append(content) } catch {
                    // Of what is too much for this process's own limit, another attempt would have as much.
                    throw error.code == EFBIG
                        ? .output(outputs.count, reason: "with those before it, it is more than a renderer may write at once")
                        : .noSpace(reason: error.description)
                }
                outputs.append(rendered)
            }
        }
        guard isMapped != nil else { throw .source(reason: "its bytes could not be mapped") }
        return outputs
    }
}

extension EngineFailure {
    fileprivate static func refused(_ bytes: Int, _ output: Int?, _ told: String) -> EngineFailure {
        .memory(output: output, reason: "\(bytes) bytes more were refused\(told)")
    }
}
