internal import Glibc
internal import Images
package import Posix
package import RenderProtocol
internal import VariantSpec

/// The renderer's side of the socket: renders requests until the worker hangs up.
///
/// It never starts the cooperative pool: it uses one thread and blocking calls.
package struct RendererService<Engine: RenderEngine> {
    private let engine: Engine
    /// Bytes of the first refused allocation since the last call; 0: none was refused.
    private let takeRefusedBytes: () -> Int
    /// Ends this process if it was refused a thread since the last call.
    private let endIfThreadless: () -> Void
    /// Sources with more pixels leave freed memory behind that is worth returning.
    private let trimPixels = 8_000_000
    /// Memory that most renders need, which stays.
    private let readyBytes: Int

    package init(
        engine: Engine, readyBytes: Int, takeRefusedBytes: @escaping () -> Int, endIfThreadless: @escaping () -> Void
    ) {
        (self.engine, self.readyBytes) = (engine, readyBytes)
        (self.takeRefusedBytes, self.endIfThreadless) = (takeRefusedBytes, endIfThreadless)
    }

    /// Serves requests; returns when the worker is gone.
    package func run(on socket: PacketSocket) throws(SystemFailure) {
        while try serve(socket) {}
    }

    /// Renders a small picture through all steps of a render.
    ///
    /// Otherwise each forked renderer would look up types and library functions first: a millisecond, and its own
    /// copies of pages.
    package func warm() throws(EngineFailure) {
        let (width, height) = (64, 48)
        let pixels = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 6) }
        let size = PixelSize(width: width, height: height)
        func output(_ size: PixelSize, _ format: ImageFormat) -> RenderOutput {
            RenderOutput(
                format: format, quality: 80, effort: 2, size: size,
                crop: Region(x: 0, y: 0, width: Double(width), height: Double(height)))
        }
        let jpeg = try pixels.withUnsafeBufferPointer { pixels throws(EngineFailure) in
            try engine.encode(UnsafeRawBufferPointer(pixels), size, as: output(size, .jpeg), at: 0)
        }
        var outputs = [output(PixelSize(width: 32, height: 24), .jpeg), output(PixelSize(width: 13, height: 9), .jpeg)]
        outputs[0].ceiling = jpeg.count
        let request = RenderRequest(
            facts: PictureFacts(format: .jpeg, size: size, orientation: 1, frames: 1, hasAlpha: false), isReuse: false,
            deadlineMilliseconds: 60_000, outputs: outputs)
        do throws(SystemFailure) {
            let (worker, own) = try PacketSocket.pair()
            let (source, result) = (try OpenFile(anonymous: "source"), try OpenFile(anonymous: "variants"))
            try source.append(jpeg)
            try worker.send(request.message, files: [source, result])
            _ = try serve(own)
            guard
                case .rendered? = try worker.receive(limit: Wire.messageLimit).flatMap({
                    RenderReply(message: $0.bytes)
                })
            else { throw SystemFailure("warm", on: "renderer", code: EINVAL) }
        } catch { throw .source(reason: error.description) }
    }

    /// Serves one message; false when the worker is gone.
    private func serve(_ socket: PacketSocket) throws(SystemFailure) -> Bool {
        guard let (message, files) = try socket.receive(limit: Wire.messageLimit) else { return false }
        try socket.send(believed(answer(message, files)).message)
        // The worker's files are closed with `files`, before the next message is awaited.
        return true
    }

    /// Replaces the reply if memory was refused: a library may then have reported a damaged source, or have worked
    /// without the data that did not fit, such as the colour profile.
    private func believed(_ reply: RenderReply) -> RenderReply {
        endIfThreadless()
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
                // Mapped, like the source: the sandbox forbids reading.
                request.watermarks[index].bytes = file.withMapping { Array($0) } ?? []
            }
            // If the worker dies, no other process ends a hanging render.
            Sandbox.alarm(seconds: request.deadlineMilliseconds / 1000 + 2)
            defer { Sandbox.alarm(seconds: 0) }
            let outputs = try render(request, from: files[0], to: files[1])
            if request.facts.size.pixels > trimPixels { Sandbox.trimHeap(keeping: readyBytes) }
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
                // Checked for each output, to know which one was refused memory.
                let refused = takeRefusedBytes()
                if refused > 0 { throw .refused(refused, outputs.count, "") }
                do throws(SystemFailure) { try output.append(content) } catch {
                    // If the output exceeds this process's limit, another attempt would fail, too.
                    throw error.code == EFBIG
                        ? .output(
                            outputs.count, reason: "with those before it, it is more than a renderer may write at once")
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
