/// Removes descriptive items from an AVIF.
///
/// If libvips 8.14.1 may write a colour profile, it also writes an EXIF item, made from the resolution.
package enum HEIFContainer {
    /// The same picture with only its pixels and properties, and its XMP packet if `keepsPacket`; an unreadable file is
    /// returned unchanged.
    package static func bare(_ file: [UInt8], keepsPacket: Bool = false) -> [UInt8] {
        HEIFItems(file, keepsPacket: keepsPacket)?.stripped ?? file
    }
}

/// The boxes of a file as libheif writes them: `meta` with the items' names, positions and references, then their
/// bytes.
private struct HEIFItems {
    private struct Box {
        let type: String
        let range: Range<Int>
    }
    /// An item's entry in `iloc`; its bytes lie at absolute offsets.
    private struct Place {
        let id: Int
        let extents: [Range<Int>]
        /// Bytes of the entry, with sizes of four bytes each and one base offset.
        var length: Int { 10 + 8 * extents.count }
    }

    private let file: [UInt8]
    private let meta: Box
    private let parts: [Box]
    private let places: [Place]
    /// Ids of the items to remove: they are neither pixels nor describe pixels.
    private let told: Set<Int>

    /// Parses the file; nil if its layout differs from libheif 1.15's.
    init?(_ file: [UInt8], keepsPacket: Bool) {
        guard let boxes = Self.boxes(of: file, in: 0..<file.count), boxes.map(\.type) == ["ftyp", "meta", "mdat"],
            boxes[1].range.count >= 12,
            let parts = Self.boxes(of: file, in: boxes[1].range.lowerBound + 12..<boxes[1].range.upperBound),
            let iloc = Self.only("iloc", in: parts), let places = Self.places(of: file, in: iloc),
            Self.areApart(places.flatMap(\.extents), in: boxes[2].range.lowerBound + 8..<boxes[2].range.upperBound),
            // Version 0, with a count of two bytes.
            let names = Self.only("iinf", in: parts), names.count >= 14, file[names.lowerBound + 8] == 0,
            let items = Self.boxes(of: file, in: names.lowerBound + 14..<names.upperBound),
            items.count == Self.number(file, names.lowerBound + 12, 2),
            items.allSatisfy({ $0.type == "infe" && $0.range.count >= 20 && file[$0.range.lowerBound + 8] == 2 }),
            Self.referencesAreWell(of: file, in: parts)
        else { return nil }
        let meta = boxes[1]
        (self.file, self.meta, self.parts, self.places) = (file, meta, parts, places)
        let tellers = keepsPacket ? ["Exif", "uri "] : ["Exif", "mime", "uri "]
        told = Set(
            items.map(\.range.lowerBound).filter { start in
                tellers.contains(String(decoding: file[start + 16..<start + 20], as: UTF8.self))
            }.map { Self.number(file, $0 + 12, 2) })
    }

    var stripped: [UInt8] {
        if told.isEmpty { return file }
        let dropped = places.filter { told.contains($0.id) }
        let gone = dropped.flatMap(\.extents).sorted { $0.lowerBound < $1.lowerBound }
        var kept: [[UInt8]] = parts.compactMap { part in
            switch part.type {
            case "iinf": list(part, header: 14, countAt: 12) { told.contains(Self.number(file, $0 + 12, 2)) }
            case "iref": list(part, header: 12, countAt: nil) { told.contains(Self.number(file, $0 + 8, 2)) }
            default: Array(file[part.range])
            }
        }
        let metaBytes = 12 + kept.reduce(0) { $0 + $1.count } - dropped.reduce(0) { $0 + $1.length }
        let shift = metaBytes - meta.range.count
        if let index = kept.firstIndex(where: { $0.dropFirst(4).starts(with: Array("iloc".utf8)) }) {
            kept[index] = placed { offset in
                offset + shift - gone.reduce(0) { $0 + ($1.lowerBound < offset ? $1.count : 0) }
            }
        }
        var result = Array(file[..<meta.range.lowerBound]) + big(metaBytes, 4)
        result += file[meta.range.lowerBound + 4..<meta.range.lowerBound + 12]
        for part in kept { result += part }
        return result + data(without: gone)
    }

    /// A box of boxes without the dropped ones; nil if none is left.
    private func list(_ box: Box, header: Int, countAt: Int?, without isDropped: (Int) -> Bool) -> [UInt8]? {
        let all = Self.boxes(of: file, in: box.range.lowerBound + header..<box.range.upperBound) ?? []
        let kept = all.filter { !isDropped($0.range.lowerBound) }
        if kept.isEmpty { return nil }
        var bytes = Array(file[box.range.prefix(header)]) + kept.flatMap { file[$0.range] }
        bytes.replaceSubrange(0..<4, with: big(bytes.count, 4))
        if let countAt { bytes.replaceSubrange(countAt..<countAt + 2, with: big(kept.count, 2)) }
        return bytes
    }

    /// `iloc` with the kept items, each at its new position.
    private func placed(_ moved: (Int) -> Int) -> [UInt8] {
        let kept = places.filter { !told.contains($0.id) }
        var bytes = big(16 + kept.reduce(0) { $0 + $1.length }, 4) + Array("iloc".utf8) + [0, 0, 0, 0, 0x44, 0x40]
        bytes += big(kept.count, 2)
        for place in kept {
            bytes += big(place.id, 2) + big(0, 6) + big(place.extents.count, 2)
            for extent in place.extents { bytes += big(moved(extent.lowerBound), 4) + big(extent.count, 4) }
        }
        return bytes
    }

    /// The boxes after `meta`, each without the removed ranges.
    private func data(without gone: [Range<Int>]) -> [UInt8] {
        var bytes: [UInt8] = []
        for box in Self.boxes(of: file, in: meta.range.upperBound..<file.count) ?? [] {
            let inside = gone.filter { box.range.contains($0.lowerBound) }
            bytes += big(box.range.count - inside.reduce(0) { $0 + $1.count }, 4)
            var next = box.range.lowerBound + 4
            for range in inside {
                bytes += file[next..<range.lowerBound]
                next = range.upperBound
            }
            bytes += file[next..<box.range.upperBound]
        }
        return bytes
    }

    /// The only box of a type; nil if there are none or several.
    private static func only(_ type: String, in parts: [Box]) -> Range<Int>? {
        let all = parts.filter { $0.type == type }
        return all.count == 1 ? all[0].range : nil
    }

    /// Whether all extents lie inside the range, and none overlaps another.
    private static func areApart(_ extents: [Range<Int>], in inside: Range<Int>) -> Bool {
        var end = inside.lowerBound
        for extent in extents.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            guard extent.lowerBound >= end else { return false }
            end = extent.upperBound
        }
        return end <= inside.upperBound
    }

    /// Whether `iref`, if there is one, has version 0, and each of its entries has a source and a target.
    private static func referencesAreWell(of file: [UInt8], in parts: [Box]) -> Bool {
        guard parts.contains(where: { $0.type == "iref" }) else { return true }
        guard let range = only("iref", in: parts), range.count >= 12, file[range.lowerBound + 8] == 0,
            let entries = boxes(of: file, in: range.lowerBound + 12..<range.upperBound)
        else { return false }
        return entries.allSatisfy { $0.range.count >= 14 }
    }

    private static func boxes(of file: [UInt8], in range: Range<Int>) -> [Box]? {
        var (boxes, offset) = ([Box](), range.lowerBound)
        while offset < range.upperBound {
            guard offset + 8 <= range.upperBound else { return nil }
            let length = number(file, offset, 4)
            guard length >= 8, offset + length <= range.upperBound else { return nil }
            let type = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            boxes.append(Box(type: type, range: offset..<offset + length))
            offset += length
        }
        return boxes
    }

    /// Parses `iloc`; nil for any other layout than version 0 with sizes of four bytes, which libheif 1.15 writes.
    private static func places(of file: [UInt8], in box: Range<Int>) -> [Place]? {
        guard box.count >= 16, file[box.lowerBound + 8..<box.lowerBound + 14] == [0, 0, 0, 0, 0x44, 0x40] else {
            return nil
        }
        var (places, offset) = ([Place](), box.lowerBound + 16)
        for _ in 0..<number(file, box.lowerBound + 14, 2) {
            guard offset + 10 <= box.upperBound, number(file, offset + 2, 2) == 0 else { return nil }
            let (base, count) = (number(file, offset + 4, 4), number(file, offset + 8, 2))
            guard offset + 10 + 8 * count <= box.upperBound else { return nil }
            var extents: [Range<Int>] = []
            for entry in 0..<count {
                let start = base + number(file, offset + 10 + 8 * entry, 4)
                let end = start + number(file, offset + 14 + 8 * entry, 4)
                extents.append(start..<end)
            }
            let place = Place(id: number(file, offset, 2), extents: extents)
            places.append(place)
            offset += place.length
        }
        return offset == box.upperBound ? places : nil
    }

    private static func number(_ file: [UInt8], _ offset: Int, _ count: Int) -> Int {
        file[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
