internal import ImageModel
internal import Ports
internal import Posix
internal import RenderProtocol
internal import VariantSpec

/// The worker's side of one child process.
final class RendererChild {
    /// How a child was lost during a render.
    enum Loss: Error {
        case deadline
        case died
        /// It answered what no renderer answers: it is not trusted any further.
        case misspoke(String)
        /// It was refused memory, and tells; what for, where it knows.
        case memory(VariantSpec?, String)
    }

    let process: ChildProcess
    private(set) var renders = 0
    /// Resident bytes once warm.
    let firstMemory: Int
    /// Why it has no filter for system calls, where it goes on without.
    let unfiltered: String?
    private let socket: PacketSocket

    /// Starts one and waits until it is warm.
    init(_ configuration: RendererConfiguration) throws(RenderFailure) {
        do throws(SystemFailure) {
            let (ours, theirs) = try PacketSocket.pair()
            socket = ours
            process = try ChildProcess(
                program: configuration.program,
                arguments: [
                    "serve", "--data-limit", "\(configuration.dataBytes)", "--engine", configuration.engine.rawValue,
                    "--cpu-limit", "\(configuration.cpuSeconds)",
                    "--formats", configuration.limits.formats.map(\.rawValue).sorted().joined(separator: ","),
                ], socket: theirs)
        } catch {
            throw .unavailable(reason: "\(error). \(Self.advice)")
        }
        let isSpoken = socket.waits(upTo: configuration.startMilliseconds)
        let first = isSpoken ? (try? socket.receive(limit: Wire.messageLimit)) ?? nil : nil
        firstMemory = process.memory?.now ?? 0
        let told: String
        switch first.flatMap({ RenderReply(message: $0.bytes) }) {
        case .ready:
            unfiltered = nil
            return
        case .readyUnfiltered(let reason) where configuration.isSandboxOptional:
            unfiltered = reason
            return
        case .readyUnfiltered(let reason):
            told =
                "there is no filter for system calls here (\(reason)). Allow seccomp for this container, or set "
                + "render.sandbox to optional"
        default:
            told = first != nil ? "it speaks another version. \(Self.advice)" : ""
        }
        if first != nil || !isSpoken { process.kill() }
        let end = process.reap()
        let ending = isSpoken ? "it ended with \(end)" : "it did not get ready"
        throw .unavailable(
            reason: "\(configuration.program) was started, but \(told.isEmpty ? "\(ending). \(Self.advice)" : told)")
    }

    private static let advice = "Build mezzotint-renderer, or set render.program"

    /// Whether it died while nobody asked it for anything.
    var isGone: Bool { socket.waits(upTo: 0) }

    func render(_ render: PendingRender) throws(Loss) -> RenderQueue.Answer {
        renders += 1
        let output: OpenFile
        do throws(SystemFailure) { output = try OpenFile(anonymous: "variants") } catch {
            return .failure(.noSpace(reason: error.description))
        }
        let files = [render.picture.file, output] + render.watermarks
        guard (try? socket.send(render.request.message, files: files)) != nil else { throw .died }
        guard socket.waits(upTo: render.request.deadlineMilliseconds) else { throw .deadline }
        guard let message = (try? socket.receive(limit: Wire.messageLimit)) ?? nil else { throw .died }
        guard let reply = RenderReply(message: message.bytes), message.files.isEmpty else {
            throw .misspoke("it answered out of protocol")
        }
        switch reply {
        case .ready, .readyUnfiltered: throw .misspoke("it answered out of turn")
        case .rendered(let outputs): return .success(try variants(outputs, in: output, of: render))
        case .failed(.source(let reason)):
            let facts = render.picture.facts
            return .failure(
                facts.isTruncated ? .truncated(facts.format, reason: reason) : .malformed(facts.format, reason: reason))
        case .failed(.noSpace(let reason)): return .failure(.noSpace(reason: reason))
        case .failed(.memory(let index, let reason)):
            throw .memory(index.flatMap { render.specs.indices.contains($0) ? render.specs[$0] : nil }, reason)
        case .failed(.protocolMismatch(let reason)): return .failure(.unavailable(reason: reason))
        case .failed(.output(let index, let reason)):
            guard render.specs.indices.contains(index) else {
                throw .misspoke("it failed an output that was not asked")
            }
            return .failure(.output(render.specs[index], reason: reason))
        }
    }

    /// Ends it at once, since an idle child has nothing to save; how it ended, if it had done so before.
    func end() -> ChildProcess.End {
        process.kill()
        return process.reap()
    }

    /// The outputs as slices of one file that nobody can change any more.
    private func variants(
        _ outputs: [RenderedOutput], in file: OpenFile, of render: PendingRender
    ) throws(Loss) -> [RenderedVariant] {
        guard file.seal() else { throw .misspoke("it keeps its pictures open to change them") }
        let isMeasured = (try? file.remeasure()) != nil
        // No sum of them overflows: the wire bounds each, and a message their number.
        let total = outputs.reduce(0) { $0 + $1.bytes }
        guard isMeasured, outputs.count == render.request.outputs.count, total == file.length,
            zip(outputs, render.request.outputs).allSatisfy({ $0.isAnswer(to: $1) }),
            outputs.allSatisfy({ $0.bytes > 0 && $0.bytes <= file.length })
        else { throw .misspoke("its pictures are not those that were asked") }
        var offset = 0
        return zip(render.specs, outputs).map { spec, output in
            defer { offset += output.bytes }
            return RenderedVariant(
                spec: spec, rendition: output.rendition(of: spec),
                content: FileSlice(file, offset: offset, length: output.bytes))
        }
    }
}

extension RenderedOutput {
    /// The size asked for; where pixels decided it, one within it.
    fileprivate func isAnswer(to request: RenderOutput) -> Bool {
        guard request.isResolvedByPixels, let spec = request.spec, let crop else {
            return !request.isResolvedByPixels && size == request.size
        }
        let whole = PixelSize(width: Int(crop.width.rounded()), height: Int(crop.height.rounded()))
        return spec.extras.isTrimmed
            ? spec.isFullSize || size.pixels <= max(whole.pixels, request.size.times(4))
            : size == request.size
    }

    fileprivate func rendition(of spec: VariantSpec) -> Rendition {
        Rendition(
            size: size, hasAlpha: hasAlpha, frames: frames, quality: quality ?? spec.quality, crop: crop,
            placeholder: placeholder.thumbHash, colour: placeholder.colour)
    }
}
