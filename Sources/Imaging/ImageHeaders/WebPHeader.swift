internal import Images
internal import RenderProtocol
internal import VariantSpec

/// A WebP's canvas, orientation and frames, from its chunks.
enum WebPHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        var header = try start(&bytes, limits)
        let end = try (bytes.little(4, 4) ?? 0) + 8
        (header.isTruncated, header.end) = (end > bytes.length, end + end % 2)
        return header
    }

    private static func start(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure)
        -> PictureHeader
    {
        if try bytes.has("VP8 ", at: 12) { return try lossy(&bytes, at: 20) }
        if try bytes.has("VP8L", at: 12) { return try lossless(&bytes, at: 20) }
        guard try bytes.has("VP8X", at: 12), let flags = try bytes[20], let width = try bytes.little(24, 3),
            let height = try bytes.little(27, 3)
        else { throw .malformed(.webp, reason: "its first chunk is none of VP8, VP8L and VP8X") }
        var header = PictureHeader(stored: try PixelSize(width + 1, height + 1, of: .webp))
        header.hasAlpha = flags & 0x10 != 0
        try walk(&bytes, limits, isAnimated: flags & 0x02 != 0, &header)
        return header
    }

    /// Counts frames and finds EXIF and XMP, which come last.
    private static func walk(
        _ bytes: inout PictureBytes, _ limits: RenderLimits, isAnimated: Bool, _ header: inout PictureHeader
    ) throws(RenderFailure) {
        var frames = 0
        var chunks = 0
        var rights = FoundRights()
        var coding = PictureCoding.lossyWebP(hasAlpha: false)
        var offset = 12
        // Reads the whole chunk head first: reading an earlier position costs a second read.
        while let head = try bytes.bytes(offset, 8) {
            let (name, length) = (head.prefix(4), head.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) })
            chunks += 1
            guard chunks <= limits.chunks else {
                throw .unsupportedFeature(.webp, reason: "it has more than \(limits.chunks) chunks")
            }
            if isAnimated, name.elementsEqual("ANMF".utf8) {
                frames += 1
                header.duration += try bytes.little(offset + 20, 3) ?? 0
            } else if rights.exif == nil, name.elementsEqual("EXIF".utf8) {
                let start = try bytes.has("Exif\0\0", at: offset + 8) ? offset + 14 : offset + 8
                let block = start..<max(start, offset + 8 + length)
                let exif = try Exif(&bytes, in: block)
                (header.orientation, rights.exif) = (exif.orientation ?? header.orientation, exif.rights)
            } else if name.elementsEqual("XMP ".utf8) {
                try rights.read(xmp: offset + 8..<offset + 8 + length, &bytes)
            } else if name.elementsEqual("ICCP".utf8) {
                header.profileBytes = length
            } else if name.elementsEqual("VP8L".utf8) {
                coding = .losslessWebP
            } else if name.elementsEqual("ALPH".utf8) {
                coding = .lossyWebP(hasAlpha: true)
            }
            offset += 8 + length + length % 2
        }
        (header.frames, header.rights, header.marked) = (max(1, frames), rights.all, rights.marked)
        // Chunks inside frames are not read.
        header.memory = (isAnimated ? .losslessWebP : coding).bytes(of: header.stored)
    }

    private static func lossy(_ bytes: inout PictureBytes, at offset: Int) throws(RenderFailure) -> PictureHeader {
        guard let tag = try bytes[offset], tag & 1 == 0, try bytes.has([0x9d, 0x01, 0x2a], at: offset + 3),
            let width = try bytes.little(offset + 6, 2), let height = try bytes.little(offset + 8, 2)
        else { throw .malformed(.webp, reason: "its VP8 frame has no key frame header") }
        return PictureHeader(stored: try PixelSize(width & 0x3fff, height & 0x3fff, of: .webp))
    }

    private static func lossless(_ bytes: inout PictureBytes, at offset: Int) throws(RenderFailure) -> PictureHeader {
        guard try bytes[offset] == 0x2f, let bits = try bytes.little(offset + 1, 4) else {
            throw .malformed(.webp, reason: "its VP8L frame has no signature")
        }
        let size = try PixelSize((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1, of: .webp)
        return PictureHeader(
            stored: size, hasAlpha: bits >> 28 & 1 == 1, memory: PictureCoding.losslessWebP.bytes(of: size))
    }
}
