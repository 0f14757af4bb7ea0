internal import Images
package import RenderKit
package import RenderProtocol
package import VariantSpec

/// Renders the most common jobs directly with the codecs: a colour JPEG to JPEG, WebP or PNG. It passes other renders
/// on. If only the output format is foreign, it passes the pixels on.
///
/// libjpeg decodes at a smaller scale if no output shows it. Rows are resampled as they are decoded, and profiles are
/// applied to the remaining pixels. Turning costs nothing, since it only changes where pixels are written.
///
/// - Concurrency: one for each process, on the thread that created it.
package struct DirectEngine<Rest: RenderEngine>: RenderEngine {
    private let rest: Rest
    private let colours = ProfileTransform()
    private let hasAVX2: Bool

    /// - Parameter isPortable: uses no instructions that only some processors have.
    package init(before rest: Rest, isPortable: Bool = false) {
        self.rest = rest
        hasAVX2 = !isPortable && Resampler.hasAVX2
    }

    package func render(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest,
        write: (RenderedOutput, UnsafeRawBufferPointer) throws(EngineFailure) -> Void
    ) throws(EngineFailure) {
        guard request.mayGoDirect else { return try rest.render(source, request, write: write) }
        let reader = try reading { () throws(CodecFailure) in try JPEGReader.open(source) }
        let traits = reader.traits
        guard DirectChoice.takes(request, traits) else { return try rest.render(source, request, write: write) }
        let plan = RenderPlan(request)
        let orientation = Orientation(rawValue: request.facts.orientation) ?? .upright
        let stored = orientation.upright(request.facts.size)
        guard traits.stored == stored else {
            throw .unsupported(reason: "its header has \(stored), the decoder gives \(traits.stored)")
        }
        var canvases: [Int: Canvas] = [:]
        let first = plan.steps.filter { $0.base == .decoded }.map { step in
            (
                step.index,
                Resampler(
                    step.across, step.down, of: plan.decoded, to: step.size, orientation, avx2: hasAVX2)
            )
        }
        let edges = try reading { () throws(CodecFailure) in try decode(reader, plan, into: first.map(\.1)) }
        for (index, resampler) in first {
            let canvas = resampler.canvas
            if traits.profile == .other, let profile = reader.profile { colours.convert(canvas, from: profile) }
            canvases[index] = canvas
        }
        // Frees the reader: coefficients of a progressive JPEG may take 300 MB, and encoders need room.
        _ = consume reader
        for step in plan.steps {
            if case .output(let base) = step.base, let base = canvases[base] {
                canvases[step.index] = smaller(step, of: base, orientation)
            }
        }
        let placeholders = placeholders(of: canvases, request)
        for (index, output) in request.outputs.enumerated() {
            guard let canvas = canvases[index] else { throw .output(index, reason: "it was not made") }
            let (bytes, quality) = try encoded(canvas, as: output, at: index)
            var rendered = RenderedOutput(size: canvas.size, bytes: bytes.count, hasAlpha: false)
            (rendered.quality, rendered.placeholder) = (quality, placeholders[output.crop] ?? Placeholder())
            rendered.isOfDrawing = edges.areOfDrawing(isShrunk: plan.shrink > 1)
            try bytes.withUnsafeBufferPointer { bytes throws(EngineFailure) in
                try write(rendered, UnsafeRawBufferPointer(bytes))
            }
        }
    }

    /// Decodes every row once, through a ring that holds only the rows that the resamplers need; returns their colour
    /// edges.
    private func decode(_ reader: borrowing JPEGReader, _ plan: RenderPlan, into resamplers: [Resampler])
        throws(CodecFailure) -> ColourEdges
    {
        let size = try reader.start(shrink: plan.shrink)
        let atOnce = 8
        var edges = ColourEdges(decodedAt: size, hasHalfChroma: reader.hasHalfChroma)
        let stride = (size.width * 3 + 2 * Canvas.slack) / Canvas.slack * Canvas.slack
        let count = (resamplers.map(\.window).max() ?? 0) + atOnce
        let ring = UnsafeMutablePointer<UInt8>.allocate(capacity: count * stride + Canvas.slack)
        ring.initialize(repeating: 0, count: count * stride + Canvas.slack)
        defer { ring.deallocate() }
        let rows = UnsafeMutableBufferPointer<UnsafeMutablePointer<UInt8>?>.allocate(capacity: atOnce)
        defer { rows.deallocate() }
        var done = 0
        while done < size.height {
            let wanted = min(atOnce, size.height - done)
            for i in 0..<wanted { rows[i] = ring + (done + i) % count * stride }
            var read = 0
            while read < wanted {
                read += try reader.read(UnsafeMutableBufferPointer(rebasing: rows[read..<wanted]))
            }
            done += wanted
            edges.take(rowsUpTo: done) { UnsafePointer(ring + $0 % count * stride) }
            for resampler in resamplers {
                resampler.advance(min(done, plan.decoded.height), of: plan.decoded.height) {
                    UnsafePointer(ring + $0 % count * stride)
                }
            }
        }
        // Data after the last row is not read, just as in libvips.
        return edges
    }

    /// Resamples from pixels that are already upright.
    private func smaller(_ step: RenderPlan.Step, of base: Canvas, _ orientation: Orientation) -> Canvas {
        var (across, down) = (step.across, step.down)
        if orientation.swapsSides { swap(&across, &down) }
        let turn = orientation.turn
        if turn.mirrorsAcross { across = across.mirrored(in: base.size.width) }
        if turn.mirrorsDown { down = down.mirrored(in: base.size.height) }
        let resampler = Resampler(
            across, down, of: base.size, to: orientation.upright(step.size), avx2: hasAVX2)
        resampler.take(base)
        return resampler.canvas
    }

    /// Placeholders by shown region, each from its smallest output.
    private func placeholders(of canvases: [Int: Canvas], _ request: RenderRequest) -> [Region: Placeholder] {
        var smallest: [Region: Canvas] = [:]
        for (index, canvas) in canvases {
            let crop = request.outputs[index].crop
            if smallest[crop].map({ canvas.size.pixels < $0.size.pixels }) ?? true { smallest[crop] = canvas }
        }
        return smallest.mapValues { canvas in
            Placeholder(canvas.content, width: canvas.size.width, height: canvas.size.height, channels: 3)
        }
    }

    package func encode(
        _ pixels: UnsafeRawBufferPointer, _ size: PixelSize, as output: RenderOutput, at index: Int
    ) throws(EngineFailure) -> [UInt8] {
        try rest.encode(pixels, size, as: output, at: index)
    }

    private func encoded(
        _ canvas: Canvas, as output: RenderOutput, at index: Int
    ) throws(EngineFailure) -> (bytes: [UInt8], quality: Int) {
        var output = output
        output.hasChromaDetail =
            output.format.hasQuality
            && ColourEdges(in: canvas.content, canvas.size, channels: canvas.layout.channels).needFullChroma
        let asked = output
        let found = try QualitySearch(asked).run { quality throws(EngineFailure) in
            var output = asked
            output.quality = quality
            guard DirectChoice.written.contains(output.format) else {
                return try encode(canvas.content, canvas.size, as: output, at: index)
            }
            do throws(CodecFailure) { return try canvas.encoded(as: output) } catch {
                throw .output(index, reason: error.reason)
            }
        }
        if let found { return found }
        throw .output(index, reason: "it does not fit into its bytes (upto)")
    }

    /// Runs a decoding step; its failures are the source's fault.
    private func reading<R: ~Copyable>(_ body: () throws(CodecFailure) -> R) throws(EngineFailure) -> R {
        do throws(CodecFailure) { return try body() } catch { throw .source(reason: error.reason) }
    }
}
