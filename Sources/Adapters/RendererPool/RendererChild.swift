internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol
internal import Synchronization
internal import VariantSpec

/// The worker's side of one renderer process.
///
/// - Concurrency: used by one thread at a time.
final class RendererChild: Sendable, Equatable {
    /// How a process was lost during a render.
    enum Loss: Error {
        case deadline
        case died
        /// It sent a reply that no sound renderer sends, and is not trusted any further.
        case misspoke(String)
        /// It reports that it was refused memory, and for which variant if it knows.
        case memory(VariantSpec?, String)
        case uninspected(RenderFailure)
    }

    let process: ChildProcess
    /// Process id of the parent that forked it.
    let parent: Int32
    private let seen = Mutex<(renders: Int, origin: String?)>((0, nil))
    /// Memory that belongs to this process alone.
    let privateMemory: PrivateMemory
    /// Why it runs without a filter for system calls; nil: it has one.
    let unfiltered: String?
    private let socket: PacketSocket
    private let log: LogPipe
    private let inspectors: InspectorPool

    /// Forks a process from `parent`.
    init(of parent: RendererParent, _ inspectors: InspectorPool) throws(RendererParent.Failure) {
        self.inspectors = inspectors
        (process, socket) = try parent.fork()
        (log, unfiltered, self.parent) = (parent.warm.log, parent.warm.unfiltered, parent.warm.process.pid)
        privateMemory = PrivateMemory(of: process)
    }

    var renders: Int { seen.withLock { $0.renders } }
    /// The origin whose pictures it has read.
    var origin: String? { seen.withLock { $0.origin } }

    static func == (one: RendererChild, other: RendererChild) -> Bool { one === other }

    /// Whether it ended while idle.
    var isGone: Bool { socket.waits(upTo: .zero) }

    func render(_ render: PendingRender) throws(Loss) -> RenderQueue.Answer {
        seen.withLock { $0 = ($0.renders + 1, render.origin) }
        let output: OpenFile
        do throws(SystemFailure) { output = try OpenFile(anonymous: "variants") } catch {
            return .failure(.noSpace(reason: error.description))
        }
        let files = [render.picture.file, output] + render.watermarks
        let limit = Duration.milliseconds(render.request.deadlineMilliseconds)
        do throws(SystemFailure) {
            try process.wakeHere { () throws(SystemFailure) in
                try socket.send(render.request.message, files: files, within: limit)
            }
        } catch { throw error.isTimeout ? .deadline : .died }
        guard socket.waits(upTo: limit) else { throw .deadline }
        guard let message = (try? socket.receive(limit: Wire.messageLimit)) ?? nil else { throw .died }
        guard let reply = RenderReply(message: message.bytes), message.files.isEmpty else {
            throw .misspoke("it replied out of protocol")
        }
        // It may continue, and nothing else counts the size of a file in memory.
        if case .failed = reply, !output.discard() { throw .misspoke("it keeps its output file open for writing") }
        switch reply {
        case .ready, .readyUnfiltered: throw .misspoke("it replied out of turn")
        case .rendered(let outputs): return .success(try variants(outputs, in: output, of: render))
        case .failed(.source(let reason)):
            return .failure(RenderFailure(undecoded: render.picture.facts, reason: reason))
        case .failed(.unsupported(let reason)):
            return .failure(.unsupportedFeature(render.picture.facts.format, reason: reason))
        case .failed(.noSpace(let reason)):
            // This failure would halt the whole worker, so it counts only if the worker finds no room, too.
            guard (try? OpenFile(anonymous: "room"))?.hasRoom(for: Self.probedBytes) != true else {
                throw .misspoke("it found no room, and there is: \(reason)")
            }
            return .failure(.noSpace(reason: reason))
        case .failed(.memory(let index, let reason)):
            throw .memory(index.flatMap { render.specs.indices.contains($0) ? render.specs[$0] : nil }, reason)
        // It has greeted in this version of the protocol, so the reply is a lie.
        case .failed(.protocolMismatch(let reason)):
            throw .misspoke("it reported that it did not understand the request: \(reason)")
        case .failed(.output(let index, let reason)):
            guard render.specs.indices.contains(index) else {
                throw .misspoke("it failed an output that was not asked")
            }
            return .failure(.output(render.specs[index], reason: reason))
        }
    }

    /// Room that the disk must have, in addition to a renderer's output, to refute its report of a full disk.
    private static let probedBytes = 8 << 20

    /// Ends it at once, since an idle process has nothing to save; returns how it ended, if it had ended before.
    func end() -> ChildProcess.End {
        process.kill()
        return process.reap()
    }

    /// Lines that it wrote to its standard error.
    func takeLines() -> [String] { log.takeLines().map { ChildText.line($0) } }

    /// The outputs as slices of one sealed file, each described by its own header.
    private func variants(
        _ outputs: [RenderedOutput], in file: OpenFile, of render: PendingRender
    ) throws(Loss) -> [RenderedVariant] {
        guard file.seal() else { throw .misspoke("it keeps its output file open for writing") }
        let isMeasured = (try? file.remeasure()) != nil
        // Their sum cannot overflow: the protocol bounds each size and their number.
        let total = outputs.reduce(0) { $0 + $1.bytes }
        guard isMeasured, outputs.count == render.request.outputs.count, total == file.length,
            zip(outputs, render.request.outputs).allSatisfy({ $0.isAnswer(to: $1) }),
            outputs.allSatisfy({ $0.bytes > 0 && $0.bytes <= file.length })
        else { throw .misspoke("its output does not match the request") }
        var offset = 0
        let parts = outputs.map { output in
            defer { offset += output.bytes }
            return offset..<offset + output.bytes
        }
        try check(outputs, in: file, parts, of: render)
        return zip(render.specs, zip(outputs, parts)).map { spec, made in
            RenderedVariant(
                spec: spec, rendition: made.0.rendition(of: spec),
                content: FileSlice(file, offset: made.1.lowerBound, length: made.1.count))
        }
    }

    /// Compares the encoded file with the renderer's description, by an inspector.
    private func check(
        _ outputs: [RenderedOutput], in file: OpenFile, _ parts: [Range<Int>], of render: PendingRender
    ) throws(Loss) {
        let results: [Result<InspectedPicture, RenderFailure>]
        do throws(RenderFailure) {
            results = try inspectors.inspect(
                file, InspectionRequest(limits: .ofOutputs, parts: parts, isOutput: true))
        } catch { throw .uninspected(error) }
        for ((result, output), request) in zip(zip(results, outputs), render.request.outputs) {
            switch result {
            case .failure(let failure): throw .misspoke("one of its images is invalid: \(failure)")
            case .success(let picture):
                // Encoders store equal frames once.
                let facts = picture.facts
                guard facts.format == request.format, facts.size == output.size, facts.frames <= output.frames,
                    output.frames <= max(1, render.picture.facts.frames), facts.orientation == 1
                else {
                    throw .misspoke(
                        "one of its images is a \(facts.format.rawValue) of \(facts.size), not the "
                            + "\(request.format.rawValue) of \(output.size) that it reported")
                }
            }
        }
    }
}

extension RenderLimits {
    /// Limits for inspecting outputs: the worker requested them, so they may have any format that renderers write.
    fileprivate static let ofOutputs = RenderLimits(
        formats: Set(ImageFormat.written), pixels: 1 << 32, frames: 1 << 20, memory: .max)
}

extension RenderedOutput {
    /// Whether the output fits the request: it has the requested size, or lies within it if pixels decide the size. Its
    /// bytes are bounded, too.
    fileprivate func isAnswer(to request: RenderOutput) -> Bool {
        guard bytes <= mostBytes(request) else { return false }
        guard request.isResolvedByPixels, let spec = request.spec, let crop else {
            return !request.isResolvedByPixels && size == request.finishedSize
        }
        let whole = PixelSize(width: Int(crop.width.rounded()), height: Int(crop.height.rounded()))
        return spec.extras.isTrimmed && !spec.extras.isPadded
            ? spec.isFullSize || size.pixels <= max(whole.pixels, request.size.times(4))
            : size == request.finishedSize
    }

    /// Upper bound of an output's bytes: eight bytes a pixel, and a colour profile. A PNG has four bytes a pixel, and
    /// other formats at their best quality have fewer.
    private func mostBytes(_ request: RenderOutput) -> Int {
        64 << 10 + (request.extras.keepsProfile ? RenderLimits.usualProfileBytes : 0) + size.times(8 * frames)
    }

    fileprivate func rendition(of spec: VariantSpec) -> Rendition {
        Rendition(
            size: size, hasAlpha: hasAlpha, frames: frames, quality: quality ?? spec.quality, crop: crop,
            placeholder: placeholder.thumbHash, colour: placeholder.colour, isOfDrawing: isOfDrawing)
    }
}
