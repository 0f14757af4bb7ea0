internal import Images
internal import RenderProtocol
internal import VariantSpec

/// Reads a TIFF's first page: size, orientation and transparency. Other pages are ignored.
enum TIFFHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        guard let page = try TIFFDirectory(&bytes, in: 0..<bytes.length) else {
            throw .malformed(.tiff, reason: "it has no directory")
        }
        guard let width = try page.first(256, &bytes), let height = try page.first(257, &bytes) else {
            throw .malformed(.tiff, reason: "its first page has no size")
        }
        var header = PictureHeader(stored: try PixelSize(width, height, of: .tiff))
        if let feature = try unread(page, &bytes) { throw .unsupportedFeature(.tiff, reason: feature) }
        header.orientation = try page.first(274, &bytes).flatMap { Orientation(rawValue: $0) } ?? .upright
        header.hasAlpha = (page.fields[338]?.count ?? 0) > 0
        header.profileBytes = page.fields[34675]?.count ?? 0
        var rights = FoundRights()
        let exif = try Exif(&bytes, page)
        rights.exif = exif.rights
        if let packet = exif.blocks[Exif.packet] { try rights.read(xmp: packet, &bytes) }
        if let record = exif.blocks[Exif.record] { try rights.read(iptc: record, &bytes) }
        (header.rights, header.marked) = (rights.all, rights.marked)
        header.memory = PictureCoding.strips.bytes(of: header.stored)
        return header
    }

    /// The reason why libvips 8.14.1 refuses these samples or misreads them; nil if it reads them.
    private static func unread(
        _ page: TIFFDirectory, _ bytes: inout PictureBytes
    ) throws(RenderFailure) -> String? {
        let (bits, kind) = (try page.first(258, &bytes) ?? 1, try page.first(339, &bytes) ?? 1)
        switch (try page.first(259, &bytes), try page.first(262, &bytes)) {
        case (6, 2): return "its compression is the old one of JPEG, of RGB"
        case (_, 9): return "its colour space is ICCLAB"
        case (_, 10): return "its colour space is ITULAB"
        // No field defines the white of floating-point grey: libvips uses 255, most files 1.
        case (_, 0), (_, 1): if kind == 3 { return "its grey is of floating-point numbers" }
        default: break
        }
        let samples = try page.first(277, &bytes) ?? 1
        let colours = [0, 1, 3, 4].contains(try page.first(262, &bytes)) ? 1 : try page.first(262, &bytes) == 5 ? 4 : 3
        if samples > colours + 1 { return "it has \(samples) samples a pixel: colours, alpha and others" }
        return switch (kind, bits) {
        case (1, ...16), (3, 32), (4, ...16): nil
        case (2, _): "its samples are signed integers of \(bits) bits"
        case (3, _): "its samples are floating-point numbers of \(bits) bits"
        case (5, _), (6, _): "its samples are complex numbers"
        default: "its samples are integers of \(bits) bits"
        }
    }
}
