internal import Images
internal import Posix
internal import RenderProtocol
internal import VariantSpec

/// The worker's side of one inspector process.
///
/// - Concurrency: used by one thread at a time.
final class InspectorChild: Sendable {
    /// How an inspector was lost over a picture.
    enum Loss: Error {
        case deadline
        case died
        case misspoke
    }

    let warm: WarmProcess
    private let limit: Duration

    /// Starts an inspector and waits until it is ready.
    init(_ configuration: RendererConfiguration) throws(RenderFailure) {
        warm = try WarmProcess(configuration.inspector, ["serve"], configuration)
        limit = configuration.inspectionLimit
    }

    /// Whether it ended while idle.
    var isGone: Bool { warm.socket.waits(upTo: .zero) }

    func inspect(
        _ file: OpenFile, _ request: InspectionRequest
    ) throws(Loss) -> [Result<InspectedPicture, RenderFailure>] {
        do throws(SystemFailure) {
            try warm.socket.send(request.message, files: [file], within: limit)
        } catch { throw error.isTimeout ? .deadline : .died }
        guard warm.socket.waits(upTo: limit) else { throw .deadline }
        guard let message = (try? warm.socket.receive(limit: Wire.messageLimit)) ?? nil else { throw .died }
        guard message.files.isEmpty, let results = InspectionReply(message: message.bytes)?.results,
            results.count == request.parts.count,
            zip(results, request.parts).allSatisfy({ $0.isAnswer(to: request, of: $1) })
        else { throw .misspoke }
        return results
    }
}

extension Result<InspectedPicture, RenderFailure> {
    /// Whether an inspector that no image took over may return this result.
    fileprivate func isAnswer(to request: InspectionRequest, of part: Range<Int>) -> Bool {
        guard case .success(let picture) = self else { return true }
        let (facts, limits) = (picture.facts, request.limits)
        return limits.formats.contains(facts.format) && facts.size.pixels <= limits.pixels
            && (picture.keep?.last?.upperBound ?? 0) <= part.count
    }
}
