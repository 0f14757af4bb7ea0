internal import CVips
internal import Images
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

/// The steps of a plan, carried out on one picture: resized, in its colours, upright, with all that was asked laid over
/// it. What moves goes through once for each frame.
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
    func make(
        from source: Raster, _ take: (Int, Raster) throws(EngineFailure) -> Void
    ) throws(EngineFailure) {
        // Inks are no light: mixed before they are converted they change colour, by a ΔE of 3 at 48 pixels. And steps of eight
        // bits do not hold what CIELAB has below nought.
        let shown = try reading { () throws(RasterFailure) in
            source.isCMYK || source.isDeviceIndependent ? try source.inSRGB() : source
        }
        let isWeighted = shown.hasAlpha && plan.steps.contains { $0.isResampled }
        let decoded = try reading { () throws(RasterFailure) in
            let base = isWeighted ? try shown.premultiplied() : shown
            return plan.keepsDecoded ? try base.inMemory() : base
        }
        var kept: [Int: Raster] = [:]
        for step in plan.steps {
            let base = if case .output(let index) = step.base { kept[index] ?? decoded } else { decoded }
            let raster = try reading { () throws(RasterFailure) in
                // Beside a trimmed crop lies what was trimmed off: it must not show in the crop's outermost pixels.
                let isTrimmed = request.outputs[step.index].extras.isTrimmed
                let resized = isTrimmed ? try base.shownAlone(by: step) : try base.shown(by: step)
                // Converted before smaller ones are made of it: a transform costs more to build than to apply.
                let shown = isWeighted ? resized : try coloured(resized)
                return step.isKept ? try shown.inMemory() : shown
            }
            kept[step.index] = raster
            let finished: Raster
            do throws(RasterFailure) {
                let plain = isWeighted ? try coloured(try raster.unpremultiplied()) : raster
                finished = try applyEffects(
                    try plain.turned(orientation).turned(request.outputs[step.index].extras.rotation),
                    request.outputs[step.index])
            } catch {
                throw step.isKept ? .output(step.index, reason: error.reason) : .source(reason: error.reason)
            }
            try take(step.index, finished)
        }
    }

    private func coloured(_ raster: Raster) throws(RasterFailure) -> Raster {
        keepsProfile && !raster.isCMYK ? raster : try raster.inSRGB()
    }

    /// With the spec's effects, in the order in which they make sense: what is laid over is not blurred.
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

    /// On what shows through it, if anything does.
    private func flattened(_ raster: Raster, _ output: RenderOutput) throws(RasterFailure) -> Raster {
        let background = output.extras.background
        guard raster.hasAlpha, background != nil || !output.format.holdsAlpha else { return raster }
        return try raster.flattened(on: background ?? .white)
    }

    private func reading<R>(_ body: () throws(RasterFailure) -> R) throws(EngineFailure) -> R {
        do throws(RasterFailure) { return try body() } catch { throw .source(reason: error.reason) }
    }
}
