package import Failures
package import VariantSpec

/// Reason why an image could not be read or rendered.
package enum RenderFailure: CodedFailure, Hashable {
    /// `reason`: what the file is or how it begins, as a clause.
    case unrecognised(reason: String)
    case unsupported(ImageFormat)
    /// A valid file of a supported format, in a form that is not supported. `reason`: the form, as a clause.
    case unsupportedFeature(ImageFormat, reason: String)
    case malformed(ImageFormat, reason: String)
    case truncated(ImageFormat, reason: String)
    case tooManyPixels(PixelSize, limit: Int)
    case tooManyFrames(VariantSpec, limit: Int)
    case tooManyScans(limit: Int)
    case tooManyChunks(limit: Int)
    /// `bytes`: estimate of the decoder's memory; `memory`: `render.memory`.
    case tooMuchMemory(ImageFormat, bytes: Int, memory: Int)
    case output(VariantSpec, reason: String)
    /// Two inspector processes ended while they read it.
    case uninspected(reason: String)
    case crashed(reason: String)
    /// A library aborted a renderer process whose first image this was.
    case aborted(ImageFormat)
    /// The spec that was being rendered, if known; other specs may still fit into the memory.
    case outOfMemory(VariantSpec?, reason: String)
    case deadline(milliseconds: Int)
    case unavailable(reason: String)
    case noSpace(reason: String)
    case unreadable(reason: String)

    package var kind: Code {
        switch self {
        case .unrecognised: .unrecognised
        case .unsupported, .unsupportedFeature: .unsupported
        case .malformed: .malformed
        case .truncated: .truncated
        case .tooManyPixels: .tooManyPixels
        case .tooManyFrames: .tooManyFrames
        case .tooManyScans: .tooManyScans
        case .tooManyChunks: .tooManyChunks
        case .tooMuchMemory: .tooMuchMemory
        case .output: .output
        case .uninspected: .uninspected
        case .crashed: .crashed
        case .aborted: .aborted
        case .outOfMemory: .outOfMemory
        case .deadline: .deadline
        case .unavailable: .unavailable
        case .noSpace: .noSpace
        case .unreadable: .unreadable
        }
    }

    package var description: String {
        switch self {
        case .unrecognised(let reason):
            "The source is not an image in a supported format: \(reason). Check what the origin serves."
        case .unsupported(let format):
            "The source is \(format.rawValue), which render.formats does not name. Add it there, or publish another format."
        case .unsupportedFeature(let format, let reason):
            "The source is \(format.withArticle) in a form that the renderer does not support: \(reason). Publish it in another form."
        case .malformed(let format, let reason):
            "The source is \(format.withArticle) that cannot be decoded: \(reason). Replace it at its origin."
        case .truncated(let format, let reason):
            "The source is \(format.withArticle) whose file ends early, and it cannot be decoded whole: \(reason). Upload it again to its origin."
        case .tooManyPixels(let size, let limit):
            "The source is \(size), over the limit of \(limit) pixels. Raise render.pixelLimit to accept it."
        case .tooManyFrames(let spec, let limit):
            "\(spec) would have more than \(limit) frames. Add -still to render the first frame alone, or raise render.frameLimit."
        case .tooManyScans(let limit):
            "The source is a JPEG of more than \(limit) scans. Raise render.scanLimit to accept it, or publish one of fewer."
        case .tooManyChunks(let limit):
            "The source is a PNG of more than \(limit) chunks. Raise render.chunkLimit to accept it, or publish one of fewer."
        case .tooMuchMemory(let format, let bytes, let memory):
            "The source is \(format.withArticle) that needs \(RenderMemory.text(bytes)) to be decoded, and one source may need \(RenderMemory.text(RenderMemory.decoding(memory))) while render.memory is \(RenderMemory.text(memory)). Raise render.memory to \(RenderMemory.text(RenderMemory.setting(for: bytes))), or publish the image \(format.streamedForm)."
        case .output(let spec, let reason): "\(spec) could not be written: \(reason). Ask for another size or format."
        case .uninspected(let reason):
            "The source's header could not be read: \(reason), twice. Publish it in another form or format."
        case .crashed(let reason):
            "The renderer ended while it worked on the source (\(reason))."
        case .aborted(let format):
            "A library aborted a fresh renderer over the source, \(format.withArticle). Publish it in another form or format."
        case .outOfMemory(let spec, let reason):
            "\(spec.map { "\($0)" } ?? "The source") needs more memory than a renderer may have, also in a fresh one (\(reason)). Ask for a smaller size or another format, or raise render.memory."
        case .deadline(let ms):
            "The source took longer than \(ms % 1000 == 0 ? "\(ms / 1000) s" : "\(ms) ms") to render, twice. Ask for smaller variants or fewer frames, or raise render.deadline."
        case .unavailable(let reason):
            "No renderer could be started: \(reason)."
        case .noSpace(let reason): "There was no room for a rendered image: \(reason)."
        case .unreadable(let reason): "The bytes of an image could not be read: \(reason)."
        }
    }

    /// Classifies a failure to decode pixels by the library's own words. Many libraries decode less than their format
    /// allows.
    package init(undecoded facts: PictureFacts, reason: String) {
        let words = reason.lowercased()
        // librsvg reads an SVG completely before it draws, so only its parser finds damage.
        let isDrawn = facts.format == .svg && !Self.svgDamage.contains(where: words.contains)
        self =
            if facts.isTruncated {
                .truncated(facts.format, reason: reason)
            } else if isDrawn || Self.limits.contains(where: words.contains) {
                .unsupportedFeature(facts.format, reason: reason)
            } else { .malformed(facts.format, reason: reason) }
    }

    /// Words by which libraries report a limit of theirs. `use xml_parse_huge` is libxml2's, for elements within 256 others.
    /// The last is libvips's for a size that two readers disagree about: libavif scales such an image to its header's.
    private static let limits = [
        "unsupported", "not supported", "unimplemented", "not implemented", "security limit", "out of range",
        "use xml_parse_huge", "bad image dimensions on decode",
    ]
    private static let svgDamage = ["xml parse error", "xml does not have <svg> root"]

    package enum Code: String, FailureCode {
        case unrecognised = "render.unrecognised"
        case unsupported = "render.unsupported"
        case malformed = "render.malformed"
        case truncated = "render.truncated"
        case tooManyPixels = "render.too-many-pixels"
        case tooManyFrames = "render.too-many-frames"
        case tooManyScans = "render.too-many-scans"
        case tooManyChunks = "render.too-many-chunks"
        case tooMuchMemory = "render.too-much-memory"
        case output = "render.output"
        case uninspected = "render.uninspected"
        case crashed = "render.crashed"
        case aborted = "render.aborted"
        case outOfMemory = "render.out-of-memory"
        case deadline = "render.deadline"
        case unavailable = "render.unavailable"
        case noSpace = "render.no-space"
        case unreadable = "render.unreadable"

        package var meaning: String {
            switch self {
            case .unrecognised: "The bytes are not an image of a known format."
            case .unsupported:
                "The format is known, but render.formats does not list it, or the file uses a feature of it that is not supported."
            case .malformed: "The image is damaged: its header is invalid, or its pixels cannot be decoded."
            case .truncated: "The image's file ends early, and it cannot be decoded completely."
            case .tooManyPixels: "The image has more pixels than the limit."
            case .tooManyFrames: "A variant would have more frames than the limit; stills of the image are rendered."
            case .tooManyScans: "A JPEG has more scans than the limit."
            case .tooManyChunks: "A PNG has more chunks than the limit."
            case .tooMuchMemory:
                "Decoding the image would need more memory than render.memory allows for one source. Its decoder holds all pixels (interlaced PNG, progressive JPEG, WebP, GIF, AVIF, HEIC, TIFF, JPEG XL), or its rows are very wide (PNG, above 76,000 pixels by default)."
            case .output:
                "The variant cannot be written in its format, or needs more of its source in memory than render.memory allows (trim, smart, large variants of a large WebP)."
            case .uninspected:
                "The image's header could not be read: two inspector processes ended while they read it, or took too long."
            case .crashed: "The renderer process ended during the job."
            case .aborted: "A library aborted a renderer process over this image, the first one of the process."
            case .outOfMemory: "A variant, or the image itself, needs more memory than a renderer process may have."
            case .deadline: "The render exceeded its deadline twice and was ended; the deadline grows with the pixels."
            case .unavailable: "No renderer process could be started."
            case .noSpace: "The worker had too little memory for the result."
            case .unreadable: "The bytes of an image could not be read."
            }
        }

        package var verdict: Verdict {
            switch self {
            case .unrecognised, .unsupported, .malformed, .truncated, .tooManyPixels, .tooManyFrames, .tooManyScans,
                .tooManyChunks,
                .tooMuchMemory, .output, .outOfMemory, .uninspected, .aborted, .deadline:
                .fail
            case .crashed, .unreadable: .retry
            case .unavailable, .noSpace: .wait
            }
        }
    }
}

extension ImageFormat {
    /// Form of the format that needs little memory.
    fileprivate var streamedForm: String {
        switch self {
        case .png: "without interlacing, or smaller"
        case .jpeg: "as a baseline JPEG, which has one scan, or smaller"
        default: "smaller"
        }
    }
}
