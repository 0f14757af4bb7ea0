internal import Ports
internal import RenderProtocol
internal import VariantSpec

/// A TIFF's first page: size, orientation and whether it is transparent. Its other pages are left alone.
enum TIFFHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        let page = try directory(&bytes)
        func first(_ tag: Int) -> Int? { page[tag]?.first }
        guard let width = first(256), let height = first(257) else {
            throw .malformed(.tiff, reason: "its first page has no size")
        }
        var header = PictureHeader(stored: try PixelSize(width, height, of: .tiff))
        if let feature = unread(first) { throw .unsupportedFeature(.tiff, reason: feature) }
        header.orientation = first(274).flatMap { Orientation(rawValue: $0) } ?? .upright
        header.hasAlpha = (page[338]?.count ?? 0) > 0
        var rights = FoundRights()
        let exif = try Exif(&bytes, in: 0..<bytes.length)
        rights.exif = exif.rights
        if let packet = exif.blocks[Exif.packet] { try rights.read(xmp: packet, &bytes) }
        if let record = exif.blocks[Exif.record] { try rights.read(iptc: record, &bytes) }
        (header.rights, header.marked) = (rights.all, rights.marked)
        header.memory = PictureCoding.strips.bytes(of: header.stored)
        return header
    }

    /// Samples that libvips 8.14.1 refuses, or takes for others: its pixels would be wrong. nil where it reads them.
    private static func unread(_ first: (Int) -> Int?) -> String? {
        let (bits, kind) = (first(258) ?? 1, first(339) ?? 1)
        switch (first(259), first(262)) {
        case (6, 2): return "its compression is the old one of JPEG, of RGB"
        case (_, 9): return "its colours are those of ICCLAB"
        case (_, 10): return "its colours are those of ITULAB"
        default: break
        }
        return switch (kind, bits) {
        case (1, ...16), (3, 32), (4, ...16): nil
        case (2, _): "its samples are signed integers of \(bits) bits"
        case (3, _): "its samples are floating-point numbers of \(bits) bits"
        case (5, _), (6, _): "its samples are complex numbers"
        default: "its samples are integers of \(bits) bits"
        }
    }

    /// A field's first value, and how many it has.
    private struct Field {
        let first: Int?
        let count: Int
    }

    /// The fields of the first page, by tag: of 32-bit offsets, or of the 64-bit ones of BigTIFF.
    private static func directory(_ bytes: inout PictureBytes) throws(RenderFailure) -> [Int: Field] {
        let isMotorola = try bytes.has([0x4d, 0x4d], at: 0)
        func number(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
            isMotorola ? try bytes.big(offset, count) : try bytes.little(offset, count)
        }
        let isBig = try number(2, 2) == 43
        let (word, entryBytes) = isBig ? (8, 20) : (4, 12)
        let countBytes = isBig ? 8 : 2
        guard let start = try number(isBig ? 8 : 4, word), (1..<bytes.length).contains(start),
            let entries = try number(start, countBytes), entries > 0
        else { throw .malformed(.tiff, reason: "it has no directory") }
        var fields: [Int: Field] = [:]
        for entry in 0..<min(entries, 512) {
            let place = start + countBytes + entry * entryBytes
            guard let tag = try number(place, 2), let kind = try number(place + 2, 2),
                let count = try number(place + 4, word)
            else { break }
            let value = place + 4 + word
            let size = [3: 2, 4: 4, 16: 8][kind] ?? 1
            // Many values lie elsewhere.
            let isInside = count >= 0 && count <= word / size
            var at: Int? = value
            if !isInside { at = try number(value, word) }
            guard let at else { break }
            fields[tag] = Field(first: try number(at, size), count: count)
        }
        return fields
    }
}
