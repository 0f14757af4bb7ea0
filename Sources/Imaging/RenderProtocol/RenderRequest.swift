package import Images
package import VariantSpec

/// One output of a render: pixels of the source to show, pixels to come out, and how to write them.
package struct RenderOutput: Sendable, Hashable {
    package var format: ImageFormat
    /// 1...100; 0 where the format is lossless.
    package var quality: Int
    /// What the encoder may spend: WebP's method, PNG's compression level; 0 where it has none.
    package var effort: Int
    package var size: PixelSize
    /// In pixels of the upright source; fractions are kept until pixels are cut.
    package var crop: Region
    /// What was asked for, where that is more than the fields above say.
    package var spec: VariantSpec?
    /// All frames of a source that moves, not its first alone.
    package var isAnimated = false
    /// A JPEG in several scans.
    package var isProgressive = false
    /// Quality is lowered, as far as nobody minds, until a variant has no more bytes than this; 0: it may have any.
    package var ceiling = 0
    /// Encodes that it may take: as asked, by a search from quality 1 for a budget, and by one of five steps for the ceiling
    /// (`QualitySearch`).
    package var mostEncodes: Int {
        guard format.hasQuality else { return 1 }
        return 1 + (extras.byteBudget == nil ? 0 : 8) + (ceiling > 0 ? 4 : 0)
    }
    /// The request's, which tells it once.
    package var packet: [UInt8]?
    /// Chroma of half the resolution would show. The engine finds out from the pixels; the worker does not ask for it.
    package var hasChromaDetail = false
    package var hasFullChroma: Bool { hasChromaDetail || quality >= FullChroma.quality }

    /// What a spec may ask for beside size, quality and format.
    package var extras: SpecExtras { spec?.extras ?? .none }
    /// The size that comes out, once the output is turned and has its border.
    package var finishedSize: PixelSize { spec?.finished(size) ?? size }
    /// Size and cut are found by looking at the source's pixels: those given stand for nothing found.
    package var isResolvedByPixels: Bool { spec?.isResolvedByPixels ?? false }
    /// Nothing but size, quality and format is asked, and one picture comes out: what a direct path is for.
    package var isPlain: Bool { spec == nil && !isAnimated }

    package init(format: ImageFormat, quality: Int, effort: Int, size: PixelSize, crop: Region) {
        (self.format, self.quality, self.effort, self.size, self.crop) = (format, quality, effort, size, crop)
    }
}

/// What a worker asks of a renderer child: one decode, these outputs.
package struct RenderRequest: Sendable, Hashable {
    package var facts: PictureFacts
    /// The source is a stored donor: it is decoded in full, since scaled decoding would cost it a second time.
    package var isReuse: Bool
    package var deadlineMilliseconds: Int
    package var outputs: [RenderOutput]
    /// The metadata that each output carries, an XMP packet of `PictureRights.packetLimit` bytes at most; nil: none.
    package private(set) var packet: [UInt8]?
    /// The pictures that outputs name by key; their bytes come as files beside the message.
    package var watermarks: [RenderWatermark] = []

    package init(facts: PictureFacts, isReuse: Bool, deadlineMilliseconds: Int, outputs: [RenderOutput]) {
        (self.facts, self.isReuse, self.outputs) = (facts, isReuse, outputs)
        self.deadlineMilliseconds = deadlineMilliseconds
    }

    /// As many pixels are decoded and encoded within the usual deadline on a machine that has half its time for it, what moves
    /// at the speed of libwebp.
    private static let usualPixels = 40_000_000
    /// Below the three deadlines that `worker.standstill` leaves a render at least.
    private static let mostTimes = 2.5

    /// The deadline, in milliseconds, of so many pixels, of which the usual has `usual`.
    package func deadline(_ usual: Int) -> Int {
        let isMoving = outputs.contains(where: \.isAnimated)
        let decoded = facts.size.times(isMoving ? facts.frames : decodes.count)
        let pixels = outputs.reduce(Double(decoded)) {
            $0 + Double($1.finishedSize.times(($1.isAnimated ? facts.frames : 1) * $1.mostEncodes))
        }
        return Int(Double(usual) * min(max(1, pixels / Double(Self.usualPixels)), Self.mostTimes))
    }

    package mutating func carry(_ packet: [UInt8]?) {
        self.packet = packet
        for index in outputs.indices { outputs[index].packet = packet }
    }

    /// More is not asked at once.
    package static let outputLimit = RenderPart.outputLimit
}

/// A picture to lay over outputs.
package struct RenderWatermark: Sendable, Hashable {
    package var key: String
    package var format: ImageFormat
    package var bytes: [UInt8]
    package init(key: String, format: ImageFormat, bytes: [UInt8] = []) {
        (self.key, self.format, self.bytes) = (key, format, bytes)
    }
    /// More different ones are not laid over the outputs of one request.
    package static let limit = 6
}

/// What a child answers.
package enum RenderReply: Sendable, Hashable {
    /// It is warm and waits for work.
    case ready
    /// The outputs as asked, one after the other in the output file.
    case rendered([RenderedOutput])
    case failed(EngineFailure)
    /// As `ready`, but the kernel has no filter for system calls: the pool decides whether it goes on.
    case readyUnfiltered(reason: String)
}

/// One output as the child made it; its bytes lie in the output file, behind those of the outputs before it.
package struct RenderedOutput: Sendable, Hashable {
    package var size: PixelSize
    package var bytes: Int
    package var hasAlpha: Bool
    package var frames = 1
    /// What it was written at; nil: as asked.
    package var quality: Int?
    /// What it shows, where its pixels decided; nil: as asked.
    package var crop: Region?
    package var placeholder = Placeholder()
    package init(size: PixelSize, bytes: Int, hasAlpha: Bool) {
        (self.size, self.bytes, self.hasAlpha) = (size, bytes, hasAlpha)
    }
}

/// Why an engine could not render: what the child tells, the worker knows what it is about.
package enum EngineFailure: Error, Sendable, Hashable {
    /// The source's pixels could not be decoded.
    case source(reason: String)
    /// The source's pixels are none that the libraries decode.
    case unsupported(reason: String)
    /// An output, by its place in the request, could not be encoded.
    case output(Int, reason: String)
    /// There was no room to write the outputs.
    case noSpace(reason: String)
    /// The process was refused memory, whatever came of it; with the place of the output that was being made, where known.
    case memory(output: Int?, reason: String)
    /// The request is not of this program's version, or not one at all.
    case protocolMismatch(reason: String)

    /// What a library or the kernel said.
    package var reason: String {
        switch self {
        case .source(let reason), .unsupported(let reason), .output(_, let reason), .noSpace(let reason),
            .memory(_, let reason),
            .protocolMismatch(let reason):
            reason
        }
    }
}
