package import Images
package import Posix
package import RenderProtocol
internal import VariantSpec

/// Reads what a picture is from its first bytes, in Swift, and holds it against the limits before a decoder sees it.
///
/// libvips asks about limits only after it has opened the file, which is where a hostile one has already won.
package struct PictureInspector: Sendable {
    let limits: RenderLimits

    package init(limits: RenderLimits = RenderLimits()) { self.limits = limits }

    /// - Parameters:
    ///   - part: where the picture lies in the file; nil: it is all of it.
    ///   - isOutput: it is a renderer's, and must end where its bytes do.
    package func inspect(
        _ file: OpenFile, part: Range<Int>? = nil, isOutput: Bool = false
    ) throws(RenderFailure) -> InspectedPicture {
        var bytes = PictureBytes(file, part: part)
        let (format, header) = try header(of: &bytes)
        guard header.stored.pixels <= limits.pixels else { throw .tooManyPixels(header.stored, limit: limits.pixels) }
        if isOutput { try PictureEnd.check(&bytes, format, header) }
        let facts = PictureFacts(
            format: format, size: header.orientation.upright(header.stored), orientation: header.orientation.rawValue,
            frames: header.frames, hasAlpha: header.hasAlpha, duration: header.duration,
            isTruncated: header.isTruncated, ignoresProfile: header.profileBytes > limits.profileBytes,
            colours: header.colours, rights: header.rights, memory: header.memory,
            regions: header.regions)
        guard facts.leastDecodeBytes <= RenderMemory.decoding(limits.memory) else {
            throw .tooMuchMemory(format, bytes: facts.leastDecodeBytes, memory: limits.memory)
        }
        return InspectedPicture(facts: facts, keep: header.keep)
    }

    /// What the file says of itself, for no more than `PictureBytes` lets it cost.
    func header(of bytes: inout PictureBytes) throws(RenderFailure) -> (ImageFormat, PictureHeader) {
        let format = try FormatSignature.format(of: &bytes)
        bytes.format = format
        guard limits.formats.contains(format) else { throw .unsupported(format) }
        let header =
            switch format {
            case .jpeg: try JPEGHeader.read(&bytes, limits)
            case .png: try PNGHeader.read(&bytes, limits)
            case .webp: try WebPHeader.read(&bytes, limits)
            case .gif: try GIFHeader.read(&bytes, limits)
            case .avif, .heic: try HEIFHeader.read(&bytes, format, limits)
            case .tiff: try TIFFHeader.read(&bytes, limits)
            case .jxl: try JXLHeader.read(&bytes, limits)
            case .svg: try SVGHeader.read(&bytes, limits)
            }
        return (format, header)
    }
}

/// What a format's reader found.
struct PictureHeader {
    /// As stored, before orientation; made by `PixelSize(_:_:of:)`.
    var stored: PixelSize
    var orientation = Orientation.upright
    /// What its decoder has turned and mirrored already, in order.
    var turns: [Orientation] = []
    var frames = 1
    /// Of all frames, in milliseconds.
    var duration = 0
    var hasAlpha = false
    var colours: ColourCodes?
    /// The file ends before what it says of itself does.
    var isTruncated = false
    /// Bytes of the colour profile that it embeds, as decoders see them.
    var profileBytes = 0
    var rights = PictureRights()
    /// What XMP marks, in stored pixels, before any turn.
    var marked = MarkedRegions()
    /// Behind its last byte, where reading came so far; nil: only `PictureEnd` knows.
    var end: Int?
    /// Bytes that its decoder holds at once, whatever the scale (`PictureCoding`).
    var memory = 0
    /// The only ranges that a decoder may see; nil for the whole file.
    var keep: [Range<Int>]?
}

extension PictureHeader {
    /// What is marked, as people see the picture.
    var regions: [KeptRegion] {
        let coded = turns.reduce(stored) { $1.upright($0) }
        return marked.regions(of: coded).map { (turns + [orientation]).reduce($0) { $1.upright($0) } }
    }
}
