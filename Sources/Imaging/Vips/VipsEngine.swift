internal import CVips
internal import Images
internal import RenderKit
package import RenderProtocol
package import VariantSpec

/// Renders with libvips: every format, profile, orientation and effect.
///
/// - Concurrency: one for each process, on the thread that created it.
package struct VipsEngine: RenderEngine {
    /// Checks a JPEG again that was decoded with warnings.
    private let checkJPEG: (UnsafeRawBufferPointer) throws(EngineFailure) -> Void

    /// Starts libvips with the loaders of only these formats, and runs every codec once, so that no job waits for a
    /// library to load.
    ///
    /// - Parameters:
    ///   - compiles: whether libvips may compile loops by liborc; only blur, sharpening, watermarks and `smart` have
    ///     any.
    ///   - checkJPEG: receives each JPEG that was decoded with warnings, and throws if it must not be used.
    package init(
        formats: Set<ImageFormat> = [.jpeg, .png, .webp, .gif, .avif, .heic], compiles: Bool = true,
        checkJPEG: @escaping (UnsafeRawBufferPointer) throws(EngineFailure) -> Void = { _ throws(EngineFailure) in }
    ) throws(EngineFailure) {
        self.checkJPEG = checkJPEG
        try VipsLibrary.start(formats)
        if !compiles { vips_vector_set_enabled(0) }
        try warm(formats)
    }

    /// Version of libvips.
    package static var version: String { String(cString: vips_version_string()) }

    package func render(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest,
        write: (RenderedOutput, UnsafeRawBufferPointer) throws(EngineFailure) -> Void
    ) throws(EngineFailure) {
        let repaired: [UInt8]? =
            switch request.facts.format {
            case .avif, .heic: HEIFRepair.repaired(source)
            case .svg: SVGRepair.repaired(source, request.facts.size)
            default: nil
            }
        if let repaired {
            return try repaired.withUnsafeBufferPointer { bytes throws(EngineFailure) in
                try renderAll(UnsafeRawBufferPointer(bytes), request, write: write)
            }
        }
        try renderAll(source, request, write: write)
    }

    private func renderAll(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest,
        write: (RenderedOutput, UnsafeRawBufferPointer) throws(EngineFailure) -> Void
    ) throws(EngineFailure) {
        VipsLibrary.forgetErrors()
        var made: [Int: Encoded] = [:]
        // Pixels in the source's own colours and all frames have decodes of their own, because few requests need them.
        for kind in OutputKind.allCases {
            let all = request.outputs.indices.filter { OutputKind(request.outputs[$0]) == kind }
            // Animated outputs one at a time: each holds all of its frames, and the limit of their pixels is for one.
            for places in kind == .moving ? all.map({ [$0] }) : Self.decodes(of: all, request) where !places.isEmpty {
                var part = request
                part.outputs = places.map { request.outputs[$0] }
                let results: [Int: Encoded]
                do throws(EngineFailure) {
                    results = kind == .moving ? try renderMoving(source, part) : try renderStill(source, part)
                } catch {
                    if case .output(let index, let reason) = error { throw .output(places[index], reason: reason) }
                    throw error
                }
                for (index, result) in results { made[places[index]] = result }
            }
        }
        if request.facts.format == .jpeg, VipsLibrary.hasWarned { try checkJPEG(source) }
        let looks = made.values.compactMap(\.output.isOfDrawing)
        for index in request.outputs.indices {
            guard var result = made[index] else { throw .output(index, reason: "it was not made") }
            result.output.isOfDrawing = looks.isEmpty ? nil : looks.contains(true)
            try result.bytes.withUnsafeBufferPointer { bytes throws(EngineFailure) in
                try write(result.output, UnsafeRawBufferPointer(bytes))
            }
        }
    }

    private static func decodes(of places: [Int], _ request: RenderRequest) -> [[Int]] {
        var part = request
        part.outputs = places.map { request.outputs[$0] }
        return part.decodes.map { $0.map { places[$0] } }
    }

    package func encode(
        _ pixels: UnsafeRawBufferPointer, _ size: PixelSize, as output: RenderOutput, at index: Int
    ) throws(EngineFailure) -> [UInt8] {
        do throws(RasterFailure) {
            return try Raster.borrowing(pixels, size).encoded(as: output)
        } catch { throw .output(index, reason: error.reason) }
    }

    private func renderStill(
        _ source: UnsafeRawBufferPointer, _ asked: RenderRequest
    ) throws(EngineFailure) -> [Int: Encoded] {
        var (request, plan) = (asked, RenderPlan(asked))
        let keepsProfile = request.outputs[0].extras.keepsProfile
        var found = plan.decoded
        func decode() throws(RasterFailure) -> Raster {
            var raster = try Raster.open(source, request.facts.format, shrink: plan.shrink)
            if raster.isCMYK, plan.shrink > 1 {
                // libjpeg would reduce the inks before they can be converted.
                plan = RenderPlan(request, shrink: 1)
                raster = try Raster.open(source, request.facts.format, shrink: 1)
            }
            if request.facts.isGIFWithAlpha { raster = try raster.bareShown(of: source, frames: 1, isMoving: false) }
            if request.facts.format == .svg { raster = try raster.drawn(from: source, at: plan.decoded) }
            found = raster.size
            guard found == plan.decoded else { return raster }
            if [.avif, .heic].contains(request.facts.format) { raster = try raster.corrected(by: HEIFPixels(source)) }
            if let colours = request.facts.colours { raster = try raster.naming(colours, keepsProfile: keepsProfile) }
            return try raster.narrowed(keepsProfile: keepsProfile)
        }
        var decoded = try reading(decode)
        // Header and decoder differ: one reading is wrong, and it may be ours.
        guard found == plan.decoded else {
            throw .unsupported(reason: "its header has \(plan.decoded), the decoder gives \(found)")
        }
        // Transparency is compared like the size: a picture that loses its transparency is wrong.
        if [.avif, .heic].contains(request.facts.format), request.facts.hasAlpha, !decoded.hasAlpha {
            throw .unsupported(reason: "libheif does not decode its transparency")
        }
        // Outputs that are not held are not checked for opacity. Encoding their alpha costs more than another decode.
        if decoded.hasAlpha, request.outputs.contains(where: { $0.size.pixels > Self.heldPixels }) {
            decoded = try reading { () throws(RasterFailure) in
                try decode().isOpaqueThroughout() ? try decoded.coloursAlone() : decoded
            }
        }
        if !request.isReuse, request.outputs.contains(where: \.isResolvedByPixels) {
            (request, decoded) = try resolving(request, decoded, shrink: plan.shrink)
            plan = RenderPlan(request, shrink: plan.shrink)
        }
        let batch = try FrameRenderer(request, plan, keepsProfile: keepsProfile)
        var results: [Int: Encoded] = [:]
        var placeholders: [PlaceholderKey: Placeholder] = [:]
        let isOfDrawing = try batch.make(from: decoded) { index, raster throws(EngineFailure) in
            let output = request.outputs[index]
            let isHeld = raster.size.pixels <= Self.heldPixels || output.extras.byteBudget != nil
            let held = try reading { () throws(RasterFailure) in
                isHeld ? try raster.inMemory().withoutOpaqueAlpha() : raster
            }
            // Steps go from large to small: the last of several with the same content is the cheapest to sample.
            if isHeld {
                placeholders[PlaceholderKey(output, of: request.facts)] =
                    keepsProfile ? held.placeholderInOwnColours() : held.placeholder()
            }
            results[index] = try encode(held, output, index, mayRepeat: isHeld)
        }
        for index in results.keys {
            results[index]?.output.isOfDrawing = isOfDrawing
            results[index]?.output.placeholder =
                placeholders[PlaceholderKey(request.outputs[index], of: request.facts)] ?? Placeholder()
        }
        return results
    }

    /// Above this many pixels a picture streams from the decoder into the encoder, without a check of its pixels.
    static let heldPixels = 16_000_000

    /// Encodes at the requested quality, or the best that its byte budget allows.
    func encode(
        _ raster: Raster, _ output: RenderOutput, _ index: Int, mayRepeat: Bool
    ) throws(EngineFailure) -> Encoded {
        do throws(RasterFailure) {
            let bare = try raster.withoutMetadata(keepsProfile: output.extras.keepsProfile)
            var asked = output
            if mayRepeat, output.format.hasQuality {
                asked.hasChromaDetail = raster.colourEdges?.needFullChroma ?? false
            }
            let found = try QualitySearch(asked, mayRepeat: mayRepeat).run {
                [asked] quality throws(RasterFailure) in
                var output = asked
                output.quality = quality
                return try bare.encoded(as: output)
            }
            guard let found else {
                let budget = output.extras.byteBudget ?? 0
                throw RasterFailure(reason: "it does not fit into \(budget) bytes (upto\(budget))")
            }
            var result = RenderedOutput(size: raster.size, bytes: found.bytes.count, hasAlpha: raster.hasAlpha)
            result.quality = found.quality
            result.crop = output.isResolvedByPixels ? output.crop : nil
            return Encoded(output: result, bytes: found.bytes)
        } catch {
            // If pixels stream from the decoder, its errors appear here.
            throw mayRepeat ? .output(index, reason: error.reason) : .source(reason: error.reason)
        }
    }

    /// Runs a decoding step; its failures are the source's fault.
    func reading<R>(_ body: () throws(RasterFailure) -> R) throws(EngineFailure) -> R {
        do throws(RasterFailure) { return try body() } catch { throw .source(reason: error.reason) }
    }
}

extension PictureFacts {
    /// A bare canvas counts as alpha.
    var isGIFWithAlpha: Bool { format == .gif && hasAlpha }
}

/// An output and its bytes.
struct Encoded {
    var output: RenderedOutput
    let bytes: [UInt8]
}

/// Outputs that can share one decode.
private enum OutputKind: CaseIterable {
    case still, inOwnColours, moving

    init(_ output: RenderOutput) {
        self = output.isAnimated ? .moving : output.extras.keepsProfile ? .inOwnColours : .still
    }
}

/// Outputs that differ only in size.
private struct PlaceholderKey: Hashable {
    let crop: Region
    let extras: SpecExtras
    /// Whether transparent pixels lie on a background, because the format has no alpha.
    let isFlat: Bool

    init(_ output: RenderOutput, of source: PictureFacts) {
        (crop, extras) = (output.crop, output.extras.isBurnedIn ? output.extras : .none)
        isFlat = source.hasAlpha && !output.format.holdsAlpha
    }
}
