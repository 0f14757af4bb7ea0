internal import Images
internal import VariantSpec

/// Finds EXIF and XMP among an AVIF's or HEIC's items (ISO 14496-12, 8.11).
enum HEIFMetadata {
    /// Most items that are read: a picture of tiles has some hundred.
    private static let itemLimit = 4096

    /// - Parameter parts: the boxes of `meta`.
    static func found(
        _ bytes: inout PictureBytes, _ parts: [HEIFHeader.Box], _ format: ImageFormat
    ) throws(RenderFailure) -> FoundRights {
        var found = FoundRights()
        guard let names = parts.first(where: { $0.type == "iinf" }),
            let places = parts.first(where: { $0.type == "iloc" }),
            let version = try bytes[names.content.lowerBound]
        else { return found }
        var items: [Int: String] = [:]
        for entry in try HEIFHeader.boxes(&bytes, in: names.content.dropFirst(version == 0 ? 6 : 8), format) {
            let start = entry.content.lowerBound
            guard entry.type == "infe", let version = try bytes[start], version == 2 || version == 3 else { continue }
            let idBytes = version == 2 ? 2 : 4
            guard let id = try bytes.big(start + 4, idBytes), let type = try bytes.bytes(start + 6 + idBytes, 4) else {
                break
            }
            let kind = String(decoding: type, as: UTF8.self)
            if kind == "Exif" || kind == "mime" { items[id] = kind }
        }
        if items.isEmpty { return found }
        for (id, range) in try self.places(&bytes, places.content, of: items) {
            if items[id] == "mime" {
                // Items other than XMP contain none of its names.
                try found.read(xmp: range, &bytes)
            } else if found.exif == nil, let skipped = try bytes.big(range.lowerBound, 4), skipped < range.count - 4 {
                found.exif = try Exif(&bytes, in: range.dropFirst(4 + skipped)).rights
            }
        }
        return found
    }

    /// Positions of items with one extent, in the file itself.
    private static func places(
        _ bytes: inout PictureBytes, _ content: Range<Int>, of items: [Int: String]
    ) throws(RenderFailure) -> [(id: Int, range: Range<Int>)] {
        guard let version = try bytes[content.lowerBound], version <= 2,
            let sizes = try bytes.big(content.lowerBound + 4, 2)
        else { return [] }
        let (offsetBytes, lengthBytes) = (sizes >> 12, sizes >> 8 & 15)
        let (baseBytes, indexBytes) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
        guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy({ [0, 4, 8].contains($0) }) else {
            return []
        }
        let idBytes = version == 2 ? 4 : 2
        var offset = content.lowerBound + 6
        guard let count = try bytes.big(offset, idBytes) else { return [] }
        offset += idBytes
        func number(_ count: Int) throws(RenderFailure) -> Int? {
            defer { offset += count }
            if count == 0 { return 0 }
            // Uses the last four of eight bytes: no picture is larger.
            return try bytes.big(offset + count - 4, 4)
        }
        var found: [(id: Int, range: Range<Int>)] = []
        for _ in 0..<min(count, itemLimit) {
            guard offset < content.upperBound, let id = try bytes.big(offset, idBytes) else { break }
            offset += idBytes
            // 0: in the file. Others lie in `idat` or in other items.
            let method = version == 0 ? 0 : try bytes.big(offset, 2) ?? 1
            offset += version == 0 ? 2 : 4
            guard let base = try number(baseBytes), let extents = try bytes.big(offset, 2) else { break }
            offset += 2
            let next = offset + extents * (indexBytes + offsetBytes + lengthBytes)
            offset += indexBytes
            if items[id] != nil, method == 0, extents == 1, let start = try number(offsetBytes),
                let length = try number(lengthBytes)
            {
                found.append((id, base + start..<base + start + length))
            }
            offset = next
        }
        return found
    }
}
