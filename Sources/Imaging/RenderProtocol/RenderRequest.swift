package import Images
package import VariantSpec

/// One output of a render: the source pixels to show, the size in pixels, and the encoding.
package struct RenderOutput: Sendable, Hashable {
    package var format: ImageFormat
    /// Quality in 1...100; 0 if the format is lossless.
    package var quality: Int
    /// Encoder effort: WebP's method, PNG's compression level; 0 if the format has none.
    package var effort: Int
    package var size: PixelSize
    /// Crop in pixels of the upright source; fractions are kept until pixels are cut.
    package var crop: Region
    /// The requested spec, if it has more than the fields above.
    package var spec: VariantSpec?
    /// Whether all frames of an animated source are rendered, not its first alone.
    package var isAnimated = false
    /// Whether a JPEG is encoded in several scans.
    package var isProgressive = false
    /// Byte size above which quality is lowered a little (`QualitySearch`); 0: no limit.
    package var ceiling = 0
    /// Most encodes that it may need: as requested, by a search from quality 1 for a budget, and by one of five steps
    /// for the ceiling (`QualitySearch`).
    package var mostEncodes: Int {
        guard format.hasQuality else { return 1 }
        return 1 + (extras.byteBudget == nil ? 0 : 8) + (ceiling > 0 ? 4 : 0)
    }
    /// The request's packet, which the message contains once.
    package var packet: [UInt8]?
    /// Whether chroma at half the resolution would be visible. The engine sets it from the pixels; the worker does not.
    package var hasChromaDetail = false
    package var hasFullChroma: Bool { hasChromaDetail || quality >= FullChroma.quality }

    /// Options of the spec besides size, quality and format.
    package var extras: SpecExtras { spec?.extras ?? .none }
    /// The size after the output is turned and has its border.
    package var finishedSize: PixelSize { spec?.finished(size) ?? size }
    /// Whether the source's pixels decide size and crop; the given ones apply if the search finds nothing.
    package var isResolvedByPixels: Bool { spec?.isResolvedByPixels ?? false }
    /// Whether only size, quality and format are requested, for one still picture, as a direct path expects.
    package var isPlain: Bool { spec == nil && !isAnimated }

    package init(format: ImageFormat, quality: Int, effort: Int, size: PixelSize, crop: Region) {
        (self.format, self.quality, self.effort, self.size, self.crop) = (format, quality, effort, size, crop)
    }
}

/// A worker's request to a renderer: one decode, these outputs.
package struct RenderRequest: Sendable, Hashable {
    package var facts: PictureFacts
    /// Whether the source is a stored donor. It is decoded in full, since scaled decoding would lose quality a second
    /// time.
    package var isReuse: Bool
    package var deadlineMilliseconds: Int
    package var outputs: [RenderOutput]
    /// The metadata of each output, an XMP packet of at most `PictureRights.packetLimit` bytes; nil: none.
    package private(set) var packet: [UInt8]?
    /// Watermarks that outputs name by key; their bytes are attached to the message as files.
    package var watermarks: [RenderWatermark] = []

    package init(facts: PictureFacts, isReuse: Bool, deadlineMilliseconds: Int, outputs: [RenderOutput]) {
        (self.facts, self.isReuse, self.outputs) = (facts, isReuse, outputs)
        self.deadlineMilliseconds = deadlineMilliseconds
    }

    /// Pixels that fit the usual deadline: a machine with half its time for the render decodes and encodes this many,
    /// animations at libwebp's speed.
    private static let usualPixels = 40_000_000
    /// Largest factor of the deadline. It stays below the three deadlines that `worker.standstill` leaves a render at
    /// least.
    private static let mostTimes = 2.5

    /// The deadline of this request, in milliseconds, from the deadline `usual` of a usual render.
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

    /// Most outputs of one request.
    package static let outputLimit = RenderPart.outputLimit
}

/// A picture to draw over outputs.
package struct RenderWatermark: Sendable, Hashable {
    package var key: String
    package var format: ImageFormat
    package var bytes: [UInt8]
    package init(key: String, format: ImageFormat, bytes: [UInt8] = []) {
        (self.key, self.format, self.bytes) = (key, format, bytes)
    }
    /// Most different watermarks of one request.
    package static let limit = 6
}

/// A renderer's reply.
package enum RenderReply: Sendable, Hashable {
    /// It is warm and waits for work.
    case ready
    /// The requested outputs, one after the other in the output file.
    case rendered([RenderedOutput])
    case failed(EngineFailure)
    /// Like `ready`, but the kernel has no filter for system calls: the pool decides whether the renderer continues.
    case readyUnfiltered(reason: String)
}

/// One rendered output; its bytes lie in the output file, after those of earlier outputs.
package struct RenderedOutput: Sendable, Hashable {
    package var size: PixelSize
    package var bytes: Int
    package var hasAlpha: Bool
    package var frames = 1
    /// Encoded quality; nil: as requested.
    package var quality: Int?
    /// Shown crop, if pixels decided it; nil: as requested.
    package var crop: Region?
    package var placeholder = Placeholder()
    /// Whether the source's decode has colour edges as drawings have them; nil: not looked at.
    package var isOfDrawing: Bool?
    package init(size: PixelSize, bytes: Int, hasAlpha: Bool) {
        (self.size, self.bytes, self.hasAlpha) = (size, bytes, hasAlpha)
    }
}

/// Why an engine could not render. The renderer reports it, and the worker adds which source it concerns.
package enum EngineFailure: Error, Sendable, Hashable {
    /// The source's pixels could not be decoded.
    case source(reason: String)
    /// The libraries cannot decode pixels of this type.
    case unsupported(reason: String)
    /// An output, by its index in the request, could not be encoded.
    case output(Int, reason: String)
    /// There was no room to write the outputs.
    case noSpace(reason: String)
    /// The process was refused memory, with any consequence; with the index of the current output, if known.
    case memory(output: Int?, reason: String)
    /// The request has another version, or is no request.
    case protocolMismatch(reason: String)

    /// Message of a library or the kernel.
    package var reason: String {
        switch self {
        case .source(let reason), .unsupported(let reason), .output(_, let reason), .noSpace(let reason),
            .memory(_, let reason),
            .protocolMismatch(let reason):
            reason
        }
    }
}
