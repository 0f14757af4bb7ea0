internal import CVips
internal import ImageModel
internal import Ports
package import Rendering

/// Renders with libvips: every format, profile and orientation that is read at all.
///
/// - Concurrency: one for a process, on the thread that made it.
package struct VipsEngine: RenderEngine {
    /// Starts libvips and runs every codec once, so that no job waits for a library to load.
    package init() throws(EngineFailure) {
        try VipsLibrary.start()
        try warm()
    }

    /// libvips's own.
    package static var version: String { String(cString: vips_version_string()) }

    package func render(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest,
        write: (RenderedOutput, UnsafeRawBufferPointer) throws(EngineFailure) -> Void
    ) throws(EngineFailure) {
        VipsLibrary.forgetErrors()
        let plan = RenderPlan(request)
        let orientation = Orientation(rawValue: request.facts.orientation) ?? .upright
        var decoded = try VipsEngine.reading { () throws(RasterFailure) in
            try open(source, request, plan)
        }
        let isWeighted = decoded.hasAlpha && plan.steps.contains { $0.isResampled }
        decoded = try VipsEngine.reading { () throws(RasterFailure) in
            let base = isWeighted ? try decoded.premultiplied() : decoded
            return plan.keepsDecoded ? try base.inMemory() : base
        }
        var kept: [Int: Raster] = [:]
        var results: [Int: (RenderedOutput, [UInt8])] = [:]
        for step in plan.steps {
            let base = if case .output(let index) = step.base { kept[index] ?? decoded } else { decoded }
            var raster = try VipsEngine.reading { () throws(RasterFailure) in
                let resized = try base.made(by: step)
                // Converted before smaller ones are made of it: a transform costs more to build than to apply.
                let shown = isWeighted ? resized : try resized.inSRGB()
                return step.isKept ? try shown.inMemory() : shown
            }
            kept[step.index] = raster
            let output = request.outputs[step.index]
            do throws(RasterFailure) {
                if isWeighted { raster = try raster.unpremultiplied().inSRGB() }
                raster = try raster.turned(orientation)
                if output.format == .jpeg, raster.hasAlpha { raster = try raster.flattened() }
                let bytes = try raster.withoutMetadata().encoded(as: output)
                results[step.index] = (
                    RenderedOutput(size: raster.size, bytes: bytes.count, hasAlpha: raster.hasAlpha), bytes
                )
            } catch {
                // Where pixels stream from the decoder, its complaints come out here.
                throw step.isKept ? .output(step.index, reason: error.reason) : .source(reason: error.reason)
            }
        }
        for index in request.outputs.indices {
            guard let (output, bytes) = results[index] else { throw .output(index, reason: "it was not made") }
            try bytes.withUnsafeBufferPointer { bytes throws(EngineFailure) in
                try write(output, UnsafeRawBufferPointer(bytes))
            }
        }
    }

    private func open(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest, _ plan: RenderPlan
    ) throws(RasterFailure) -> Raster {
        let raster = try Raster.open(source, request.facts.format, shrink: plan.shrink)
        guard raster.size == plan.decoded else {
            throw RasterFailure(reason: "its header promises \(plan.decoded), its pixels are \(raster.size)")
        }
        return try raster.narrowed()
    }

    /// What fails while pixels are read is the source's fault.
    private static func reading<R>(_ body: () throws(RasterFailure) -> R) throws(EngineFailure) -> R {
        do throws(RasterFailure) { return try body() } catch { throw .source(reason: error.reason) }
    }
}

extension Raster {
    /// Chroma at half resolution below this quality, where nobody sees it.
    private static let fullChromaQuality = 90

    func encoded(as output: RenderOutput) throws(RasterFailure) -> [UInt8] {
        let (quality, effort) = (Int32(output.quality), Int32(output.effort))
        switch output.format {
        case .jpeg:
            let isFull: Int32 = output.quality >= Self.fullChromaQuality ? 1 : 0
            return try encoded { image, out, bytes in mz_vips_jpegsave(image, quality, isFull, out, bytes) }
        case .png: return try encoded { image, out, bytes in mz_vips_pngsave(image, effort, out, bytes) }
        case .webp:
            return WebPContainer.bare(
                try encoded { image, out, bytes in mz_vips_webpsave(image, quality, effort, out, bytes) })
        default: throw RasterFailure(reason: "\(output.format.rawValue) is not written")
        }
    }
}
