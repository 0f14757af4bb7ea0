/// AVIF and HEIC as libheif 1.15.1 reads them: other decoders take files that it misreads or refuses.
///
/// A property that turns or cuts an image must come after those that describe it, or the size that libheif reports is wrong.
/// Alpha without the turns of its image is dropped. A sequence has no brand that libheif knows, or names no primary item. The
/// tables are written anew at the file's end, so that no item moves.
package enum HEIFRepair {
    private typealias Box = (type: String, range: Range<Int>)
    private struct Link: Hashable {
        var property: Int
        var isEssential: Bool
    }
    private static let turns: Set<String> = ["irot", "imir", "clap"]
    private static let brands: Set<String> = ["heic", "heix", "mif1", "avif"]
    private static let itemLimit = 4096

    /// The file with its tables in order; nil where they are, or can't be read.
    package static func repaired(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let all = boxes(file, 0..<file.count), all.last?.range.upperBound == file.count,
            let head = all.first, head.type == "ftyp", let meta = all.first(where: { $0.type == "meta" }),
            // A box without a length of its own would swallow what is put behind it.
            let last = all.last, number(file, last.range.lowerBound, 4) != 0, meta.range.count >= 12,
            let parts = boxes(file, meta.range.lowerBound + 12..<meta.range.upperBound),
            let described = parts.first(where: { $0.type == "iprp" }),
            let tables = boxes(file, described.range.dropFirst(8)),
            let list = tables.first(where: { $0.type == "ipco" }),
            let properties = boxes(file, list.range.dropFirst(8))?.map(\.type),
            var items = links(file, tables.filter { $0.type == "ipma" })
        else { return nil }
        let named = parts.first { $0.type == "pitm" }.flatMap { id(file, at: $0.range.lowerBound + 8) }
        guard let primary = named ?? items.keys.min() else { return nil }
        let before = items
        func type(_ link: Link) -> String {
            properties.indices.contains(link.property - 1) ? properties[link.property - 1] : ""
        }
        func isTurn(_ link: Link) -> Bool { turns.contains(type(link)) }
        // As libavif has it, what is cut is cut before it is turned.
        for (item, links) in items {
            let turns = links.filter(isTurn)
            items[item] =
                links.filter { !isTurn($0) } + turns.filter { type($0) == "clap" } + turns.filter { type($0) != "clap" }
        }
        let own = items[primary] ?? []
        for item in auxiliary(file, parts, of: primary) {
            guard let links = items[item], links.contains(where: { type($0) == "auxC" }), !links.contains(where: isTurn)
            else {
                continue
            }
            let size = links.contains { type($0) == "ispe" } ? [] : own.filter { type($0) == "ispe" }
            items[item] = size + links + own.filter(isTurn)
        }
        let brand = unknownBrand(file, head.range)
        guard items != before || named == nil || brand != nil else { return nil }

        var content = Array(file[meta.range.lowerBound + 8..<meta.range.lowerBound + 12])
        if named == nil { content += box("pitm", big(0, 4) + big(primary, 2)) }
        for part in parts {
            content +=
                part.type == "iprp" ? box("iprp", Array(file[list.range]) + written(items)) : Array(file[part.range])
        }
        var result = Array(file)
        result.replaceSubrange(meta.range.lowerBound + 4..<meta.range.lowerBound + 8, with: Array("free".utf8))
        if let brand { result.replaceSubrange(brand, with: Array("mif1".utf8)) }
        return result + box("meta", content)
    }

    /// Where a brand may be put that libheif knows, if none of the compatible ones is.
    private static func unknownBrand(_ file: UnsafeRawBufferPointer, _ head: Range<Int>) -> Range<Int>? {
        let places = stride(from: head.lowerBound + 16, to: head.upperBound - 3, by: 4).map { $0..<$0 + 4 }
        let isKnown = places.contains { brands.contains(String(decoding: file[$0], as: UTF8.self)) }
        return isKnown ? nil : places.last
    }

    /// The items that belong to one: alpha, depth.
    private static func auxiliary(_ file: UnsafeRawBufferPointer, _ parts: [Box], of primary: Int) -> [Int] {
        guard let references = parts.first(where: { $0.type == "iref" }), references.range.count >= 12 else {
            return []
        }
        let bytes = file[references.range.lowerBound + 8] == 0 ? 2 : 4
        let all = boxes(file, references.range.dropFirst(12)) ?? []
        return all.filter { $0.type == "auxl" }.compactMap { box in
            let start = box.range.lowerBound + 8
            guard let from = number(file, start, bytes), let count = number(file, start + bytes, 2) else { return nil }
            let isOf = (0..<min(count, itemLimit)).contains { place in
                number(file, start + bytes + 2 + place * bytes, bytes) == primary
            }
            return isOf ? from : nil
        }
    }

    /// The properties of all items, in the order in which they are listed.
    private static func links(_ file: UnsafeRawBufferPointer, _ tables: [Box]) -> [Int: [Link]]? {
        var items: [Int: [Link]] = [:]
        for table in tables {
            let start = table.range.lowerBound + 8
            guard let head = number(file, start, 4), let count = number(file, start + 4, 4), count <= itemLimit else {
                return nil
            }
            let (idBytes, linkBytes) = (head >> 24 == 0 ? 2 : 4, head & 1 == 1 ? 2 : 1)
            let high = 1 << (8 * linkBytes - 1)
            var offset = start + 8
            for _ in 0..<count {
                guard offset < table.range.upperBound, let item = number(file, offset, idBytes),
                    let links = number(file, offset + idBytes, 1)
                else { return nil }
                offset += idBytes + 1
                for _ in 0..<links {
                    guard let link = number(file, offset, linkBytes) else { return nil }
                    items[item, default: []].append(Link(property: link % high, isEssential: link >= high))
                    offset += linkBytes
                }
            }
        }
        return items
    }

    private static func written(_ items: [Int: [Link]]) -> [UInt8] {
        // Version 1, with wide numbers.
        var bytes = big(1 << 24 | 1, 4) + big(items.count, 4)
        for (item, links) in items.sorted(by: { $0.key < $1.key }) {
            bytes += big(item, 4) + big(min(links.count, 255), 1)
            for link in links.prefix(255) { bytes += big(link.property | (link.isEssential ? 0x8000 : 0), 2) }
        }
        return box("ipma", bytes)
    }

    private static func id(_ file: UnsafeRawBufferPointer, at content: Int) -> Int? {
        number(file, content, 1).flatMap { number(file, content + 4, $0 == 0 ? 2 : 4) }
    }

    /// nil where one does not end inside the range.
    private static func boxes(_ file: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Box]? {
        var (boxes, offset) = ([Box](), range.lowerBound)
        while offset < range.upperBound {
            guard let length = number(file, offset, 4), let name = text(file, offset + 4), boxes.count < itemLimit
            else {
                return nil
            }
            let isLast = length == 0
            guard isLast || length >= 8, length <= range.upperBound - offset else { return nil }
            let end = isLast ? range.upperBound : offset + length
            boxes.append((name, offset..<end))
            offset = end
        }
        return boxes
    }

    private static func text(_ file: UnsafeRawBufferPointer, _ offset: Int) -> String? {
        offset + 4 <= file.count ? String(decoding: file[offset..<offset + 4], as: UTF8.self) : nil
    }

    private static func number(_ file: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> Int? {
        offset + count <= file.count ? file[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) } : nil
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(8 + content.count, 4) + Array(type.utf8) + content
    }
}
