internal import CVips
internal import Images
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

/// Runs the steps of a plan on one picture: resizes, converts colours, turns upright, and applies effects. An animation
/// runs through it once for each frame.
struct FrameRenderer {
    private let request: RenderRequest
    private let plan: RenderPlan
    private let keepsProfile: Bool
    private let orientation: Orientation
    private var watermarks: [String: Raster] = [:]

    init(_ request: RenderRequest, _ plan: RenderPlan, keepsProfile: Bool) throws(EngineFailure) {
        (self.request, self.plan, self.keepsProfile) = (request, plan, keepsProfile)
        orientation = Orientation(rawValue: request.facts.orientation) ?? .upright
        for mark in request.watermarks {
            do throws(RasterFailure) {
                watermarks[mark.key] = try Raster.watermark(mark.bytes, mark.format)
            } catch {
                let index = request.outputs.firstIndex { $0.extras.watermark?.key == mark.key }
                throw .output(index ?? 0, reason: "its watermark \(mark.key) can't be decoded: \(error.reason)")
            }
        }
    }

    /// Calls `take` with each output's pixels, larger ones first.
    ///
    /// - Returns: whether the source is a drawing, by the colour edges of its whole decode (`ColourEdges`); nil: it was
    ///   not looked at. Outputs do not decide, because effects, borders and watermarks change their edges.
    @discardableResult
    func make(
        from source: Raster, _ take: (Int, Raster) throws(EngineFailure) -> Void
    ) throws(EngineFailure) -> Bool? {
        // Ink colours must be converted before they are mixed: mixed first, they change by a ΔE of 3 at 48 pixels. And
        // eight-bit steps cannot hold CIELAB's negative values.
        let shown = try reading { () throws(RasterFailure) in
            source.isCMYK || source.isDeviceIndependent ? try source.inSRGB() : source
        }
        let isWeighted = shown.hasAlpha && plan.steps.contains { $0.isResampled }
        let decoded = try reading { () throws(RasterFailure) in
            let base = isWeighted ? try shown.premultiplied() : shown
            return plan.keepsDecoded ? try base.inMemory() : base
        }
        var edges = isLookedAt ? decoded.uncountedEdges(hasHalfChroma: hasHalfChroma(source)) : nil
        // Pixels that are not in memory are read only once, by their only step.
        let isHeld = plan.keepsDecoded || request.outputs.contains(where: \.isResolvedByPixels)
        if isHeld { try reading { () throws(RasterFailure) in try decoded.count(&edges) } }
        var kept: [Int: Raster] = [:]
        for step in plan.steps {
            let base = if case .output(let index) = step.base { kept[index] ?? decoded } else { decoded }
            let counts = step.base == .decoded && !isHeld
            let raster = try reading { () throws(RasterFailure) in
                // Pixels next to a trimmed crop are the trimmed edges: they must not blend into the crop's outermost
                // pixels.
                let isTrimmed = request.outputs[step.index].extras.isTrimmed
                var counted = counts ? edges : nil
                let resized = isTrimmed ? try base.shownAlone(by: step) : try base.shown(by: step, counting: &counted)
                edges = counted ?? edges
                // Converted before smaller outputs are derived: a transform costs more to build than to apply.
                let shown = isWeighted ? resized : try coloured(resized)
                return step.isKept ? try shown.inMemory() : shown
            }
            kept[step.index] = raster
            var finished: Raster
            do throws(RasterFailure) {
                let plain = isWeighted ? try coloured(try raster.unpremultiplied()) : raster
                finished = try applyEffects(
                    try plain.turned(orientation).turned(request.outputs[step.index].extras.rotation),
                    request.outputs[step.index])
            } catch {
                throw step.isKept ? .output(step.index, reason: error.reason) : .source(reason: error.reason)
            }
            if counts, !step.isResampled, step.size == decoded.size {
                if step.isKept {
                    try reading { () throws(RasterFailure) in try raster.count(&edges) }
                } else if finished === raster, raster.size.pixels <= VipsEngine.heldPixels {
                    // The engine would hold it anyway.
                    finished = try reading { () throws(RasterFailure) in
                        let held = try raster.inMemory()
                        try held.count(&edges)
                        return held
                    }
                }
            }
            try take(step.index, finished)
        }
        return edges?.areOfDrawing(isShrunk: plan.shrink > 1)
    }

    /// Whether anything depends on the look: other formats count as drawings (`LossTables`), and a donor's row has it.
    private var isLookedAt: Bool { request.facts.format.isOfCameras && !request.isReuse }

    /// HEIC has it nearly always, and a JPEG at a smaller scale never.
    private func hasHalfChroma(_ source: Raster) -> Bool {
        request.facts.format == .heic || plan.shrink == 1 && source.isSubsampledJPEG
    }

    private func coloured(_ raster: Raster) throws(RasterFailure) -> Raster {
        keepsProfile && !raster.isCMYK ? raster : try raster.inSRGB()
    }

    /// Applies the spec's effects in a sensible order: overlays are not blurred.
    private func applyEffects(_ raster: Raster, _ output: RenderOutput) throws(RasterFailure) -> Raster {
        let extras = output.extras
        var raster = raster
        for effect in SpecOption.effects {
            if let amount = extras.effects[effect] { raster = try raster.applying(effect, amount) }
        }
        if extras.isPadded { raster = try raster.padded(to: output.finishedSize) }
        raster = try flattened(raster, output)
        if let mark = extras.watermark, let picture = watermarks[mark.key] {
            raster = try raster.marked(with: picture, mark)
        }
        if let corners = extras.corners { raster = try flattened(try raster.cut(corners), output) }
        return extras.isGrey ? try raster.inGrey() : raster
    }

    /// Puts the picture on its background, if it has transparency that must go.
    private func flattened(_ raster: Raster, _ output: RenderOutput) throws(RasterFailure) -> Raster {
        let background = output.extras.background
        guard raster.hasAlpha, background != nil || !output.format.holdsAlpha else { return raster }
        return try raster.flattened(on: background ?? .white)
    }

    private func reading<R>(_ body: () throws(RasterFailure) -> R) throws(EngineFailure) -> R {
        do throws(RasterFailure) { return try body() } catch { throw .source(reason: error.reason) }
    }
}
