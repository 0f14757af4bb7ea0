package import Images
package import Posix
package import RenderProtocol
internal import VariantSpec

/// Reads a picture's facts from its first bytes, in Swift, and checks them against the limits before a decoder reads
/// it.
///
/// libvips checks limits only after it has opened the file, when a hostile file has already succeeded.
package struct PictureInspector: Sendable {
    let limits: RenderLimits

    package init(limits: RenderLimits = RenderLimits()) { self.limits = limits }

    /// - Parameters:
    ///   - part: range of the picture in the file; nil: the whole file.
    ///   - isOutput: whether it is a renderer's output, which must end at its last byte.
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

    /// Reads the file's header, within the costs that `PictureBytes` allows.
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

/// Facts that a format's reader found.
struct PictureHeader {
    /// Size as stored, before orientation; created by `PixelSize(_:_:of:)`.
    var stored: PixelSize
    var orientation = Orientation.upright
    /// Turns and mirrors that its decoder applies, in order.
    var turns: [Orientation] = []
    var frames = 1
    /// Duration of all frames, in milliseconds.
    var duration = 0
    var hasAlpha = false
    var colours: ColourCodes?
    /// Whether the file ends before the end that its header declares.
    var isTruncated = false
    /// Bytes of the embedded colour profile, as decoders read it.
    var profileBytes = 0
    var rights = PictureRights()
    /// Regions marked in XMP, in stored pixels, before any turn.
    var marked = MarkedRegions()
    /// Position after its last byte, if reading got that far; nil: only `PictureEnd` knows.
    var end: Int?
    /// Bytes that its decoder holds at once, at any scale (`PictureCoding`).
    var memory = 0
    /// The only ranges that a decoder may read; nil: the whole file.
    var keep: [Range<Int>]?
}

extension PictureHeader {
    /// Marked regions in the upright picture.
    var regions: [KeptRegion] {
        let coded = turns.reduce(stored) { $1.upright($0) }
        return marked.regions(of: coded).map { (turns + [orientation]).reduce($0) { $1.upright($0) } }
    }
}
