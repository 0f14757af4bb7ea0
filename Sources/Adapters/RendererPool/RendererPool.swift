internal import Clocks
internal import Dispatch
internal import ImageModel
package import Images
package import Ports
package import Posix
internal import RenderProtocol
internal import Synchronization
internal import VariantSpec

/// Renderer processes, one render each at a time, on as many slots as renders run at once.
///
/// - Concurrency: each slot has a thread of ours, which blocks on its process's socket; renders run in the order of
///   arrival.
/// - Failure: a process that crashes or exceeds the deadline costs its render, and no other.
package final class RendererPool: Renderer {
    package let configuration: RendererConfiguration
    private let inspectors: InspectorPool
    /// Threads that wait for an inspector.
    private let inspection: BlockingPool
    private let queue = RenderQueue()
    private let families: [RendererFamily]

    /// Starts the processes; `ready()` reports whether that succeeded.
    ///
    /// - Parameter log: receives the lines that processes write to their standard error.
    package init(_ configuration: RendererConfiguration, log: @escaping @Sendable (String) -> Void = { _ in }) {
        self.configuration = configuration
        inspectors = InspectorPool(configuration, log: log)
        inspection = BlockingPool("inspection", threads: configuration.inspectors)
        let limit = RendererFamily.slotLimit
        let sizes = stride(from: 0, to: configuration.count, by: limit).map { min(limit, configuration.count - $0) }
        let families = sizes.enumerated().map { [inspectors] number, slots in
            RendererFamily(configuration, slots: slots, inspectors, number: number) { log("renderer \(number): \($0)") }
        }
        self.families = families
        let budget = RenderBudget(ceiling: configuration.memoryBytes) { bytes in
            for family in families { family.shrink(to: bytes / families.count) }
        }
        for number in 0..<configuration.count {
            let slot = RendererSlot(
                configuration: configuration, queue: queue, budget: budget, family: families[number / limit])
            OwnThread.start("renderer \(number)") { slot.run() }
        }
    }

    /// Returns when a renderer is warm, and an inspector is ready.
    ///
    /// - Failure: `unavailable`, with the program's path.
    package func ready() async throws(RenderFailure) {
        _ = try await queue.perform(nil).get()
        try await inspection.run { [inspectors] () throws(RenderFailure) in try inspectors.ready() }
    }

    package func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture {
        // A compromised inspector must change neither the decoded bytes nor those that the next inspector reads.
        file.seal()
        let request = InspectionRequest(limits: configuration.limits, parts: [0..<file.length])
        return try await inspection.run { [inspectors] () throws(RenderFailure) in
            try inspectors.inspect(file, request)[0].get().picture(in: file)
        }
    }

    package func finding(ofStart file: OpenFile) async -> StartFinding {
        do throws(RenderFailure) { _ = try await inspect(file) } catch {
            switch error {
            case .tooManyPixels, .tooMuchMemory, .unsupported, .unrecognised: return .useless(error)
            // Any other failure may disappear once the rest of the file is here.
            default: return .unknown
            }
        }
        return .useful
    }

    /// The reason why an order cannot be rendered; nil if it can.
    package func refusal(
        of order: RenderOrder, from facts: PictureFacts? = nil, isReuse: Bool = false
    ) -> RenderFailure? {
        guard let sideLimit = order.spec.format.output?.sideLimit else {
            return .output(order.spec, reason: "\(order.spec.format.rawValue) is not written")
        }
        if order.spec.isAuto { return .output(order.spec, reason: "its format was not chosen") }
        let size = order.spec.finished(order.output)
        if size.width < 1 || size.height < 1 || order.crop.width <= 0 || order.crop.height <= 0 {
            return .output(order.spec, reason: "it would show nothing")
        }
        if max(size.width, size.height) > sideLimit {
            return .output(order.spec, reason: "\(size) is over the \(sideLimit) pixels a side of the format")
        }
        if size.pixels > configuration.limits.pixels {
            return .output(order.spec, reason: "\(size) is over the limit of \(configuration.limits.pixels) pixels")
        }
        return facts.flatMap { tooMuchMotion(order, $0) ?? tooLargeDecode(order, $0, isReuse: isReuse) }
    }

    /// The reason why an order needs a larger decode than fits in memory. Other orders of the source may decode it
    /// smaller, or row by row.
    private func tooLargeDecode(_ order: RenderOrder, _ facts: PictureFacts, isReuse: Bool) -> RenderFailure? {
        var output = RenderOutput(
            format: order.spec.format, quality: 0, effort: 0, size: order.output, crop: order.crop)
        output.spec = order.spec
        let request = RenderRequest(facts: facts, isReuse: isReuse, deadlineMilliseconds: 0, outputs: [output])
        let (bytes, memory) = (request.leastBytes, configuration.limits.memory)
        guard bytes > RenderMemory.decoding(memory) else { return nil }
        return .output(
            order.spec,
            reason: "its source would need \(RenderMemory.text(bytes)) to be decoded that large, and may need "
                + "\(RenderMemory.text(RenderMemory.decoding(memory))) while render.memory is \(RenderMemory.text(memory)). "
                + "Raise render.memory to \(RenderMemory.text(RenderMemory.setting(for: bytes)))")
    }

    /// The reason why an animated picture cannot be rendered as an animation.
    private func tooMuchMotion(_ order: RenderOrder, _ facts: PictureFacts) -> RenderFailure? {
        guard order.spec.isAnimated, facts.frames > 1 else { return nil }
        let limits = configuration.limits
        if facts.frames > limits.frames { return .tooManyFrames(order.spec, limit: limits.frames) }
        let pixels = max(
            facts.size.times(facts.frames), order.spec.finished(order.output).times(facts.frames))
        if pixels > limits.animationPixels {
            return .output(
                order.spec,
                reason: "its \(facts.frames) frames have \(pixels) pixels together, over the limit of "
                    + "\(limits.animationPixels). Add -still to make its first alone, or raise render.animation.pixelLimit"
            )
        }
        if facts.duration > limits.animationDuration {
            return .output(
                order.spec,
                reason: "it lasts \(facts.duration) ms, over the limit of \(limits.animationDuration). "
                    + "Add -still to make its first frame alone, or raise render.animation.duration")
        }
        return nil
    }

    /// Splits the orders of a large picture so that each part decodes it once: one deadline is too short for many
    /// decodes.
    package func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]] {
        RenderPart.all(of: orders, frames: picture.facts.frames).flatMap { part -> [[RenderOrder]] in
            let outputs = part.map { output(for: $0, of: picture, isReuse: isReuse) }
            let request = RenderRequest(
                facts: picture.facts, isReuse: isReuse, deadlineMilliseconds: 0, outputs: outputs)
            // The direct path decodes once for all outputs.
            if configuration.engine != .libvips, request.mayGoDirect { return [part] }
            return request.decodes.map { places in places.map { part[$0] } }
        }
    }

    package func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String? = nil
    ) async throws(RenderFailure) -> [RenderedVariant] {
        for order in orders {
            if let refusal = refusal(of: order, from: picture.facts, isReuse: isReuse) { throw refusal }
        }
        var variants: [RenderedVariant] = []
        for part in RenderPart.all(of: orders) {
            var request = RenderRequest(
                facts: picture.facts, isReuse: isReuse, deadlineMilliseconds: 0,
                outputs: part.map { output(for: $0, of: picture, isReuse: isReuse) })
            request.deadlineMilliseconds = request.deadline(Int(configuration.deadline.milliseconds))
            request.carry(configuration.keepsRights ? picture.facts.rights.packet : nil)
            let files = try await watermarks(for: part, &request)
            variants += try await queue.perform(
                PendingRender(
                    picture: picture, specs: part.map(\.spec), request: request, watermarks: files, origin: origin)
            ).get()
        }
        return variants
    }

    /// Whether all pixels are opaque, by a render to a small PNG, which then has no alpha. Below 11,000 pixels a side,
    /// a single transparent pixel shows in it.
    package func isOpaque(_ picture: Picture, origin: String?) async -> Bool {
        guard picture.facts.hasAlpha, picture.facts.frames == 1 else { return !picture.facts.hasAlpha }
        let spec = VariantSpec(width: 512, height: 512, quality: 0, format: .png)
        let placement = spec.placement(of: picture.facts.size)
        let order = RenderOrder(spec: spec, output: placement.output, crop: placement.region)
        // A failing render reports its own error when a job requests it.
        let made = try? await render(picture, [order], isReuse: false, origin: origin)
        return made.map { !$0[0].hasAlpha } ?? false
    }

    private func output(
        for order: RenderOrder, of picture: Picture, isReuse: Bool
    ) -> RenderOutput {
        let spec = order.spec
        var output = RenderOutput(
            format: spec.format, quality: spec.quality,
            effort: configuration.effort[spec.format] ?? spec.format.output?.effort ?? 0, size: order.output, crop: order.crop)
        if spec.extras.isDrawn { output.spec = spec }
        output.isAnimated = spec.isAnimated && picture.facts.frames > 1
        output.isProgressive = configuration.isProgressive && spec.format == .jpeg
        let isSmaller = order.output.pixels <= picture.facts.size.pixels
        let pixels = output.finishedSize.times(output.isAnimated ? picture.facts.frames : 1)
        let isSearched = pixels <= (spec.format == .avif ? Self.searchedAVIFPixels : Self.searchedPixels)
        if configuration.keepsBelowSource, !isReuse, spec.format.hasQuality, isSmaller, isSearched {
            output.ceiling = picture.file.length
        }
        return output
    }

    /// Size limit of quality searches, which encode up to five times within one deadline. It counts pixels rather than
    /// time, so that a repeated job gives the same bytes.
    private static let searchedPixels = 8_000_000
    private static let searchedAVIFPixels = 1_500_000

    /// Files of the watermarks that the orders name, in the order of the request's list.
    private func watermarks(
        for orders: some Collection<RenderOrder>, _ request: inout RenderRequest
    ) async throws(RenderFailure) -> [OpenFile] {
        var files: [OpenFile] = []
        for order in orders {
            guard let mark = order.spec.extras.watermark, !request.watermarks.contains(where: { $0.key == mark.key })
            else { continue }
            func failure(_ reason: String) -> RenderFailure { .output(order.spec, reason: reason) }
            guard files.count < RenderWatermark.limit else {
                throw failure("more than \(RenderWatermark.limit) watermarks are laid over one source at once")
            }
            guard let folder = configuration.watermarks else {
                throw failure("render.watermarks names no folder of watermarks")
            }
            let path = "\(folder)/\(mark.key).png"
            guard let file = try? OpenFile(reading: path) else {
                throw failure("there is no watermark \(mark.key): put it at \(path)")
            }
            let picture: Picture
            do throws(RenderFailure) { picture = try await inspect(file) } catch {
                throw failure("the watermark \(path) can't be used: \(error)")
            }
            files.append(picture.file)
            request.watermarks.append(RenderWatermark(key: mark.key, format: picture.facts.format))
        }
        return files
    }

    /// Highest resident memory of any renderer so far.
    package var peakMemoryBytes: Int { families.reduce(0) { max($0, $1.peakMemory) } }

    /// Why renderers run without a filter for system calls; nil: they have one.
    package var unfiltered: String? { families.lazy.compactMap(\.unfiltered).first }

    /// Number of processes that crashed, hung, sent an invalid reply or were refused memory.
    package var losses: Int { families.reduce(inspectors.losses) { $0 + $1.losses } }

    /// The running renderers, rendering or not.
    package var processes: [ChildProcess] { families.flatMap(\.processes) }

    /// Idle renderers, each with the origin that it has served.
    var idle: [(pid: Int32, origin: String)] { families.flatMap(\.idle) }

    /// The processes that renderers are forked from.
    package var parents: [ChildProcess] { families.compactMap(\.parent) }

    /// The running inspectors.
    package var inspectorProcesses: [ChildProcess] { inspectors.processes }

    /// Kills the processes at once: waiting and running renders fail.
    package func stop() async {
        queue.stop()
        for family in families { family.interrupt() }
        for family in families { await family.ended() }
        inspectors.stop()
    }
}
