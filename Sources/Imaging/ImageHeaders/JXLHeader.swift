internal import Images
internal import RenderProtocol
internal import VariantSpec

/// Reads a JPEG XL's upright size from the first bits of its codestream, and the metadata in its boxes; libjxl turns
/// pixels upright itself.
enum JXLHeader {
    /// Reader of bits in the codestream's order, the least significant first.
    private struct Bits {
        let bytes: [UInt8]
        var offset = 0

        mutating func read(_ count: Int) -> Int? {
            guard offset + count <= bytes.count * 8 else { return nil }
            var value = 0
            for bit in 0..<count {
                value |= Int(bytes[(offset + bit) / 8] >> UInt8((offset + bit) % 8) & 1) << bit
            }
            offset += count
            return value
        }

        /// Reads a number by one of four rules, chosen by two bits: each has a width in bits and an addend.
        mutating func choice(_ ranges: [(bits: Int, plus: Int)]) -> Int? {
            guard let which = read(2), let value = read(ranges[which].bits) else { return nil }
            return value + ranges[which].plus
        }
    }

    private static let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]

    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        let isBare = try bytes.has([0xff, 0x0a], at: 0)
        let (start, found) = isBare ? (2, FoundRights()) : try boxes(&bytes)
        guard let start, let head = try bytes.bytes(start, min(64, max(0, bytes.length - start))) else {
            throw .malformed(.jxl, reason: "it has no codestream")
        }
        var bits = Bits(bytes: Array(head))
        guard let size = try size(&bits), let isPlain = bits.read(1) else {
            throw .malformed(.jxl, reason: "it ends inside its header")
        }
        var turn = Orientation.upright
        if isPlain == 0, bits.read(1) == 1, let code = bits.read(3) { turn = Orientation(rawValue: code + 1) ?? turn }
        var header = PictureHeader(stored: turn.upright(size))
        (header.turns, header.rights, header.marked) = ([turn], found.all, found.marked)
        // Fields of variable length come before the alpha flag, so alpha is assumed if it is possible.
        header.hasAlpha = isPlain == 0
        header.memory = PictureCoding.floats.bytes(of: header.stored)
        return header
    }

    private static func size(_ bits: inout Bits) throws(RenderFailure) -> PixelSize? {
        let long = [(bits: 9, plus: 1), (bits: 13, plus: 1), (bits: 18, plus: 1), (bits: 30, plus: 1)]
        guard let isSmall = bits.read(1) else { return nil }
        func side(_ bits: inout Bits) -> Int? { isSmall == 1 ? bits.read(5).map { ($0 + 1) * 8 } : bits.choice(long) }
        guard let height = side(&bits), let ratio = bits.read(3) else { return nil }
        if ratio > 0 {
            let (across, down) = ratios[ratio - 1]
            return try PixelSize(height * across / down, height, of: .jxl)
        }
        guard let width = side(&bits) else { return nil }
        return try PixelSize(width, height, of: .jxl)
    }

    /// Position of the codestream in a container of boxes, or of its first part, and the metadata beside it.
    private static func boxes(
        _ bytes: inout PictureBytes
    ) throws(RenderFailure) -> (codestream: Int?, found: FoundRights) {
        var (offset, start, found) = (0, Int?.none, FoundRights())
        for _ in 0..<256 {
            guard let head = try bytes.bytes(offset, 8) else { break }
            let size = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            var content = offset + 8..<offset + max(8, size)
            if size == 0 {
                content = offset + 8..<bytes.length
            } else if size == 1 {
                guard try bytes.big(offset + 8, 4) == 0, let low = try bytes.big(offset + 12, 4) else { break }
                content = offset + 16..<offset + max(16, low)
            }
            let type = String(decoding: head.suffix(4), as: UTF8.self)
            switch type {
            case "jxlc" where start == nil: start = content.lowerBound + 2
            case "jxlp" where start == nil: start = content.lowerBound + 6
            case "brob":
                guard let packed = try bytes.bytes(content.lowerBound, 4) else { break }
                let type = String(decoding: packed, as: UTF8.self)
                try metadata(type, content.dropFirst(4), .brotli, &bytes, &found)
            default: try metadata(type, content, .plain, &bytes, &found)
            }
            offset = content.upperBound
        }
        return (start, found)
    }

    private static func metadata(
        _ type: String, _ content: Range<Int>, _ coding: BlockCoding, _ bytes: inout PictureBytes,
        _ found: inout FoundRights
    ) throws(RenderFailure) {
        switch type {
        case "xml ": try found.read(xmp: content, &bytes, coding: coding)
        case "Exif" where found.exif == nil:
            // Damaged, it counts as the first of its kind, too: no file has two decoded.
            found.exif = PictureRights()
            guard let read = try bytes.bytes(content.lowerBound, min(content.count, FoundRights.packetLimit)),
                let block = coding.prefix(FoundRights.packetLimit, of: read)
            else { break }
            var exif = PictureBytes(block)
            guard let skipped = try exif.big(0, 4), skipped < block.count - 4 else { break }
            found.exif = try Exif(&exif, in: 4 + skipped..<block.count).rights
        default: break
        }
    }
}
