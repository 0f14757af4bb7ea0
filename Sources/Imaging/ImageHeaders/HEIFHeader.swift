internal import Images
internal import RenderProtocol
internal import VariantSpec

/// Reads an AVIF's or HEIC's upright size from the boxes that describe its primary item.
///
/// libheif applies the file's turns and mirrors, so decoded pixels are upright.
enum HEIFHeader {
    /// A box and the position of its content.
    struct Box {
        let type: String
        let content: Range<Int>
    }

    private static let boxLimit = 4096
    /// Most auxiliary images that are read: alpha, depth, a gain map.
    private static let auxiliaryLimit = 16

    static func read(
        _ bytes: inout PictureBytes, _ format: ImageFormat, _ limits: RenderLimits
    ) throws(RenderFailure) -> PictureHeader {
        func malformed(_ reason: String) -> RenderFailure { .malformed(format, reason: reason) }
        let all = try boxes(&bytes, in: 0..<bytes.length, format)
        let isSequence = all.contains { $0.type == "moov" }
        let sequence = RenderFailure.unsupportedFeature(format, reason: "it is a sequence without a still image")
        guard let meta = all.first(where: { $0.type == "meta" }) else {
            throw isSequence ? sequence : malformed("it has no description of its images")
        }
        let parts = try boxes(&bytes, in: meta.content.dropFirst(4), format)
        guard let described = parts.first(where: { $0.type == "iprp" }) else {
            throw isSequence ? sequence : malformed("its images have no properties")
        }
        let tables = try boxes(&bytes, in: described.content, format)
        guard let list = tables.first(where: { $0.type == "ipco" }) else {
            throw malformed("its images have no size")
        }
        let properties = try boxes(&bytes, in: list.content, format)
        let links = tables.filter { $0.type == "ipma" }
        func own(_ item: Int?) throws(RenderFailure) -> [Box] {
            var found: [Box] = []
            for table in links {
                for index in try indexes(&bytes, table, of: item, format) where properties.indices.contains(index - 1) {
                    found.append(properties[index - 1])
                }
            }
            return found
        }
        // A sequence may name no primary item: then its first item counts.
        let named = try item(&bytes, parts)
        guard named != nil || isSequence else { throw malformed("it names no primary image") }
        let listed = try own(named)
        var size: PixelSize?
        for property in listed where property.type == "ispe" { size = try extent(&bytes, property, format) }
        // Hidden items are decoded too: tiles of a grid, alpha.
        var largest = size
        for property in properties where property.type == "ispe" {
            guard let other = try extent(&bytes, property, format) else { continue }
            if other.pixels > limits.pixels { throw .tooManyPixels(other, limit: limits.pixels) }
            if other.pixels > largest.map(\.pixels) ?? 0 { largest = other }
        }
        guard let size, let largest else { throw isSequence ? sequence : malformed("its image has no size") }
        // In any order of the list, cuts apply after descriptive properties, and turns after cuts.
        var visible = size
        for property in listed where property.type == "clap" {
            visible = try aperture(&bytes, property, format) ?? visible
        }
        let turns = try turns(&bytes, listed)
        visible = turns.reduce(visible) { $1.upright($0) }
        var header = PictureHeader(stored: visible)
        header.turns = turns
        header.colours = try colours(&bytes, listed)
        for property in listed where property.type == "colr" {
            // The four letters of the type come before this position.
            let isCodes = try bytes.has("nclx", at: property.content.lowerBound)
            if !isCodes { header.profileBytes = property.content.count - 4 }
        }
        for item in try auxiliary(&bytes, parts, of: named, format) {
            for property in try own(item) where property.type == "auxC" {
                let text =
                    try bytes.bytes(property.content.lowerBound + 4, min(64, max(0, property.content.count - 4))) ?? []
                if Self.isAlpha(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)) { header.hasAlpha = true }
            }
        }
        // The end of the last complete box.
        header.end = all.last?.content.upperBound
        header.isTruncated = header.end != bytes.length
        let rights = try HEIFMetadata.found(&bytes, parts, format)
        header.rights = rights.all
        // Regions refer to uncut pixels.
        if !listed.contains(where: { $0.type == "clap" }) { header.marked = rights.marked }
        // A grid has no configuration of a codec; its tiles have.
        let isOneFrame = listed.contains { $0.type == "av1C" }
        header.memory = try coding(&bytes, properties, hasAlpha: header.hasAlpha, isOneFrame).bytes(of: largest)
        return header
    }

    /// Whether a type of auxiliary image is alpha: MPEG's name, or the number of AVC and HEVC for it.
    private static func isAlpha(_ kind: String) -> Bool {
        kind.contains("alpha") || ["urn:mpeg:avc:2015:auxid:1", "urn:mpeg:hevc:2015:auxid:1"].contains(kind)
    }

    /// Turns and mirrors of the decoder, in order: anticlockwise quarter turns, and swaps of top and bottom or left and
    /// right.
    private static func turns(
        _ bytes: inout PictureBytes, _ properties: [Box]
    ) throws(RenderFailure) -> [Orientation] {
        var found: [Orientation] = []
        for property in properties where property.type == "irot" || property.type == "imir" {
            guard let value = try bytes[property.content.lowerBound] else { continue }
            found.append(
                property.type == "imir"
                    ? value & 1 == 1 ? .mirrored : .flipped
                    : [.upright, .threeQuarterTurn, .upsideDown, .quarterTurn][Int(value & 3)])
        }
        return found
    }

    /// Coding of the picture's planes, from the configurations of its codec: the largest counts, since tiles have their
    /// own.
    private static func coding(
        _ bytes: inout PictureBytes, _ properties: [Box], hasAlpha: Bool, _ isOneFrame: Bool
    ) throws(RenderFailure) -> PictureCoding {
        var (isSubsampled, isDeep) = (true, false)
        for property in properties {
            let start = property.content.lowerBound
            switch property.type {
            case "av1C":
                // One bit each: depth above eight, one plane only, chroma halved across, chroma halved down.
                guard let flags = try bytes[start + 2] else { continue }
                isDeep = isDeep || flags & 0x40 != 0
                isSubsampled = isSubsampled && (flags & 0x10 != 0 || flags & 0x0c == 0x0c)
            case "hvcC":
                // The HEVC decoder needs the same memory at any chroma.
                guard let depth = try bytes[start + 17] else { continue }
                isDeep = isDeep || depth & 7 != 0
            default: continue
            }
        }
        return .planes(isSubsampled: isSubsampled, isDeep: isDeep, hasAlpha: hasAlpha, isOneFrame: isOneFrame)
    }

    /// Colours that the properties name, unless they embed a profile.
    private static func colours(
        _ bytes: inout PictureBytes, _ properties: [Box]
    ) throws(RenderFailure) -> ColourCodes? {
        var found: ColourCodes?
        for property in properties where property.type == "colr" {
            let start = property.content.lowerBound
            guard try bytes.has("nclx", at: start) else { return nil }
            guard let primaries = try bytes.big(start + 4, 2), let transfer = try bytes.big(start + 6, 2) else {
                continue
            }
            // Encoders name the video curve and mean sRGB's: Chromium treats it so, too.
            found = ColourCodes(primaries: primaries, transfer: [1, 6, 14, 15].contains(transfer) ? 13 : transfer)
        }
        return found
    }

    /// Auxiliary items of an item, such as its alpha; if no item is named, those of any.
    private static func auxiliary(
        _ bytes: inout PictureBytes, _ parts: [Box], of item: Int?, _ format: ImageFormat
    ) throws(RenderFailure) -> [Int] {
        var items: [Int] = []
        guard let references = parts.first(where: { $0.type == "iref" }),
            let version = try bytes[references.content.lowerBound]
        else { return items }
        let idBytes = version == 0 ? 2 : 4
        for box in try boxes(&bytes, in: references.content.dropFirst(4), format) where box.type == "auxl" {
            let start = box.content.lowerBound
            guard items.count < auxiliaryLimit, let from = try bytes.big(start, idBytes),
                let count = try bytes.big(start + idBytes, 2)
            else { break }
            for place in 0..<min(count, auxiliaryLimit) {
                guard let to = try bytes.big(start + idBytes + 2 + place * idBytes, idBytes) else { break }
                if item == nil || to == item {
                    items.append(from)
                    break
                }
            }
        }
        return items
    }

    /// Width and height in `clap`, each a fraction; nil if they make no sense.
    private static func aperture(
        _ bytes: inout PictureBytes, _ box: Box, _ format: ImageFormat
    ) throws(RenderFailure) -> PixelSize? {
        let start = box.content.lowerBound
        func side(_ offset: Int) throws(RenderFailure) -> Int? {
            guard let part = try bytes.big(offset, 4), let whole = try bytes.big(offset + 4, 4), whole > 0 else {
                return nil
            }
            return (part + whole / 2) / whole
        }
        guard let width = try side(start), let height = try side(start + 8), width > 0, height > 0 else { return nil }
        return try PixelSize(width, height, of: format)
    }

    /// The consecutive boxes in a range.
    static func boxes(
        _ bytes: inout PictureBytes, in range: Range<Int>, _ format: ImageFormat
    ) throws(RenderFailure) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound, let short = try bytes.big(offset, 4),
            let name = try bytes.bytes(offset + 4, 4)
        {
            var (length, start) = (short, 8)
            if short == 1 {
                guard let high = try bytes.big(offset + 8, 4), let low = try bytes.big(offset + 12, 4) else { break }
                (length, start) = (high << 32 | low, 16)
            }
            if short == 0 { length = range.upperBound - offset }
            guard length >= start, length <= range.upperBound - offset else { break }
            guard boxes.count < boxLimit else {
                throw .unsupportedFeature(format, reason: "it has more than \(boxLimit) boxes")
            }
            boxes.append(
                Box(type: String(decoding: name, as: UTF8.self), content: offset + start..<offset + length))
            offset += length
        }
        return boxes
    }

    private static func item(_ bytes: inout PictureBytes, _ boxes: [Box]) throws(RenderFailure) -> Int? {
        guard let box = boxes.first(where: { $0.type == "pitm" }), let version = try bytes[box.content.lowerBound]
        else {
            return nil
        }
        return try bytes.big(box.content.lowerBound + 4, version == 0 ? 2 : 4)
    }

    private static func extent(
        _ bytes: inout PictureBytes, _ box: Box, _ format: ImageFormat
    ) throws(RenderFailure) -> PixelSize? {
        guard let width = try bytes.big(box.content.lowerBound + 4, 4),
            let height = try bytes.big(box.content.lowerBound + 8, 4)
        else { return nil }
        return try PixelSize(width, height, of: format)
    }

    /// Property indexes of an item, or of the first item, counted from 1.
    private static func indexes(
        _ bytes: inout PictureBytes, _ box: Box, of item: Int?, _ format: ImageFormat
    ) throws(RenderFailure) -> [Int] {
        guard let head = try bytes.big(box.content.lowerBound, 4),
            let count = try bytes.big(box.content.lowerBound + 4, 4)
        else { return [] }
        let (idBytes, isWide) = (head >> 24 == 0 ? 2 : 4, head & 1 == 1)
        var offset = box.content.lowerBound + 8
        for _ in 0..<min(count, boxLimit) {
            guard offset < box.content.upperBound, let id = try bytes.big(offset, idBytes),
                let associations = try bytes[offset + idBytes]
            else { break }
            offset += idBytes + 1
            var indexes: [Int] = []
            for _ in 0..<associations {
                guard let entry = try bytes.big(offset, isWide ? 2 : 1) else { break }
                indexes.append(entry & (isWide ? 0x7fff : 0x7f))
                offset += isWide ? 2 : 1
            }
            if item == nil || id == item { return indexes }
        }
        return []
    }
}
