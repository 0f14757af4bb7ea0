package import ImageModel
package import Posix

/// What a picture's header says, read before anything decodes it.
package struct PictureFacts: Sendable, Hashable {
    package let format: ImageFormat
    /// After orientation: what people see, and what every size is computed from.
    package let size: PixelSize
    /// EXIF orientation, 1...8; 1 where there is none.
    package let orientation: Int
    package let frames: Int
    package let hasAlpha: Bool

    package init(format: ImageFormat, size: PixelSize, orientation: Int, frames: Int, hasAlpha: Bool) {
        (self.format, self.size, self.orientation) = (format, size, orientation)
        (self.frames, self.hasAlpha) = (frames, hasAlpha)
    }
}

/// A picture that passed the limits: its facts, and the bytes that may be decoded (hostile chunks taken out).
package struct Picture: Sendable {
    package let facts: PictureFacts
    package let file: OpenFile
    package init(facts: PictureFacts, file: OpenFile) { (self.facts, self.file) = (facts, file) }
}

/// One derivative as it came from the renderer.
package struct RenderedVariant: Sendable {
    package let spec: VariantSpec
    package let size: PixelSize
    package let hasAlpha: Bool
    package let content: FileSlice
    package init(spec: VariantSpec, size: PixelSize, hasAlpha: Bool, content: FileSlice) {
        (self.spec, self.size, self.hasAlpha, self.content) = (spec, size, hasAlpha, content)
    }
}

/// Decodes once, makes every variant asked for, outside the worker's process.
package protocol Renderer: Sendable {
    /// Reads the header and holds it against the limits; nothing is decoded.
    func inspect(_ file: OpenFile) throws(RenderFailure) -> Picture

    /// All of `orders` from one decode. `isReuse`: the picture is a stored donor, decoded in full.
    func render(_ picture: Picture, _ orders: [RenderOrder], lane: Lane, isReuse: Bool) async throws(RenderFailure)
        -> [RenderedVariant]
}

/// Why a picture could not be read or made.
package enum RenderFailure: StageFailure, Hashable {
    case unrecognised(prefix: String)
    case unsupported(ImageFormat)
    case malformed(ImageFormat, reason: String)
    case tooManyPixels(PixelSize, limit: Int)
    case tooManyFrames(Int, limit: Int)
    case tooManyScans(limit: Int)
    case tooManyChunks(limit: Int)
    case tooMuchMemory(ImageFormat, bytes: Int, limit: Int)
    case output(VariantSpec, reason: String)
    case crashed(reason: String)
    case deadline(milliseconds: Int)
    case unavailable(reason: String)
    case noSpace(reason: String)
    case unreadable(reason: String)

    package var code: String {
        switch self {
        case .unrecognised: "render.unrecognised"
        case .unsupported: "render.unsupported"
        case .malformed: "render.malformed"
        case .tooManyPixels: "render.too-many-pixels"
        case .tooManyFrames: "render.too-many-frames"
        case .tooManyScans: "render.too-many-scans"
        case .tooManyChunks: "render.too-many-chunks"
        case .tooMuchMemory: "render.too-much-memory"
        case .output: "render.output"
        case .crashed: "render.crashed"
        case .deadline: "render.deadline"
        case .unavailable: "render.unavailable"
        case .noSpace: "render.no-space"
        case .unreadable: "render.unreadable"
        }
    }

    package var description: String {
        switch self {
        case .unrecognised(let prefix): "The source is no picture: it begins with \(prefix). Check what the origin serves."
        case .unsupported(let format): "The source is \(format.rawValue), which is not read yet. Publish a JPEG, PNG or WebP."
        case .malformed(let format, let reason): "The source is a damaged \(format.rawValue): \(reason). Replace it at its origin."
        case .tooManyPixels(let size, let limit): "The source is \(size), over the limit of \(limit) pixels. Raise render.pixelLimit to accept it."
        case .tooManyFrames(let frames, let limit): "The source has \(frames) frames, over the limit of \(limit). Publish fewer."
        case .tooManyScans(let limit): "The source is a JPEG of more than \(limit) scans, which no camera makes. Re-encode it."
        case .tooManyChunks(let limit): "The source is a PNG of more than \(limit) chunks, which no program makes. Re-encode it."
        case .tooMuchMemory(let format, let bytes, let limit):
            "The source is a \(format.rawValue) that can only be decoded whole, in \(bytes) bytes, over the limit of \(limit). Store it without interlacing."
        case .output(let spec, let reason): "\(spec) could not be written: \(reason). Ask for another size or format."
        case .crashed(let reason): "The renderer ended while it worked on the source (\(reason)). It is tried again, then set aside."
        case .deadline(let ms): "The source took longer than \(ms) ms to render. It is tried again; see render.deadline."
        case .unavailable(let reason): "No renderer could be started: \(reason). Build mezzotint-renderer or set render.program."
        case .noSpace(let reason): "There was no room for a rendered picture: \(reason). It is tried again."
        case .unreadable(let reason): "The bytes of a picture could not be read: \(reason). It is tried again."
        }
    }

    package var verdict: Verdict {
        switch self {
        case .crashed, .deadline, .unreadable: .retry
        case .unavailable, .noSpace: .wait
        default: .fail
        }
    }

    package static let catalogue = [
        CodeEntry("render.unrecognised", "The bytes are no picture of a known format.", .fail),
        CodeEntry("render.unsupported", "The format is known, but not read.", .fail),
        CodeEntry("render.malformed", "The picture is damaged: its header is wrong, or its pixels cannot be decoded.", .fail),
        CodeEntry("render.too-many-pixels", "The picture has more pixels than the limit.", .fail),
        CodeEntry("render.too-many-frames", "The picture has more frames than the limit.", .fail),
        CodeEntry("render.too-many-scans", "A JPEG has more scans than the limit.", .fail),
        CodeEntry("render.too-many-chunks", "A PNG has more chunks than the limit.", .fail),
        CodeEntry("render.too-much-memory", "The picture is interlaced or progressive, and too large to be decoded whole.", .fail),
        CodeEntry("render.output", "The variant cannot be written in its format.", .fail),
        CodeEntry("render.crashed", "The renderer process ended during the job.", .retry),
        CodeEntry("render.deadline", "The render passed its deadline and was ended.", .retry),
        CodeEntry("render.unavailable", "No renderer process could be started.", .wait),
        CodeEntry("render.no-space", "There was no memory for the result.", .wait),
        CodeEntry("render.unreadable", "The bytes of a picture could not be read.", .retry),
    ]
}
