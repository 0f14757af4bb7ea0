internal import CVips
internal import Images
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

extension VipsEngine {
    /// Renders every frame of an animation, with its delays and loops.
    func renderMoving(
        _ source: UnsafeRawBufferPointer, _ asked: RenderRequest
    ) throws(EngineFailure) -> [Int: Encoded] {
        let tall = try reading { () throws(RasterFailure) in
            // Pixels as they are shown: a decoder returns them only from the first frame on.
            let all = try Raster.open(source, asked.facts.format, shrink: 1, frames: -1)
            guard asked.facts.isGIFWithAlpha else { return try all.inMemory() }
            let frames = all.size.height / asked.facts.size.height
            return try all.bareShown(of: source, frames: frames, isMoving: true).inMemory()
        }
        let timing = tall.timing
        let orientation = Orientation(rawValue: asked.facts.orientation) ?? .upright
        let frame = orientation.upright(asked.facts.size)
        let count = tall.size.height / max(1, frame.height)
        guard tall.size.width == frame.width, tall.size.height == count * frame.height, count > 0 else {
            throw .unsupported(reason: "its header has frames of \(frame), the decoder gives \(tall.size)")
        }
        var request = asked
        if !request.isReuse, request.outputs.contains(where: \.isResolvedByPixels) {
            let first = try reading { () throws(RasterFailure) in try tall.frame(0, of: frame) }
            request = try resolving(request, first, shrink: 1).request
        }
        let frameRenderer = try FrameRenderer(request, RenderPlan(request), keepsProfile: false)
        var frames: [Int: [Raster]] = [:]
        for number in 0..<count {
            let own = try reading { () throws(RasterFailure) in try tall.frame(number, of: frame) }
            try frameRenderer.make(from: own) { index, raster throws(EngineFailure) in
                let held = try reading { () throws(RasterFailure) in try raster.inMemory() }
                frames[index, default: []].append(held)
            }
        }
        var results: [Int: Encoded] = [:]
        for (index, frames) in frames {
            let output = request.outputs[index]
            let isOpaque = frames.allSatisfy(\.isOpaque)
            let frames = try reading { () throws(RasterFailure) in
                var plain: [Raster] = []
                for frame in frames { plain.append(isOpaque ? try frame.withoutOpaqueAlpha() : frame) }
                return plain
            }
            let stack = try reading { () throws(RasterFailure) in try Raster.stacked(frames, timing) }
            var result = try encode(stack, output, index, mayRepeat: true)
            result.output.size = frames[0].size
            result.output.frames = count
            result.output.placeholder = frames[0].placeholder()
            results[index] = result
        }
        return results
    }
}
