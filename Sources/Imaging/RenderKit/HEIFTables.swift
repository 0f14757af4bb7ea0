/// The items of an AVIF or HEIC and their properties, in file order.
struct HEIFTables {
    typealias Box = (type: String, range: Range<Int>)
    struct Link: Hashable {
        var property: Int
        var isEssential: Bool
    }

    let file: UnsafeRawBufferPointer
    /// `ftyp`, and the last box of the file.
    let (head, last): (Box, Box)
    let meta: Box
    let parts: [Box]
    /// The box of all properties, and each property.
    let list: Box
    let properties: [Box]
    let links: [Int: [Link]]
    /// The primary item; nil: the file names none.
    let named: Int?

    private static let itemLimit = 4096

    /// Reads the tables; nil if they can't be read.
    init?(_ file: UnsafeRawBufferPointer) {
        guard let all = Self.boxes(file, 0..<file.count, isCut: true),
            let head = all.first, head.type == "ftyp", let meta = all.first(where: { $0.type == "meta" }),
            let last = all.last, meta.range.count >= 12,
            let parts = Self.boxes(file, meta.range.lowerBound + 12..<meta.range.upperBound),
            let described = parts.first(where: { $0.type == "iprp" }),
            let tables = Self.boxes(file, described.range.dropFirst(8)),
            let list = tables.first(where: { $0.type == "ipco" }),
            let properties = Self.boxes(file, list.range.dropFirst(8)),
            let links = Self.links(file, tables.filter { $0.type == "ipma" })
        else { return nil }
        (self.file, self.head, self.last, self.meta, self.parts) = (file, head, last, meta, parts)
        (self.list, self.properties, self.links) = (list, properties, links)
        named = parts.first { $0.type == "pitm" }.flatMap { box in
            let content = box.range.lowerBound + 8
            return Self.number(file, content, 1).flatMap { Self.number(file, content + 4, $0 == 0 ? 2 : 4) }
        }
    }

    /// The item that is shown.
    var primary: Int? { named ?? links.keys.min() }

    func property(_ link: Link) -> Box? {
        properties.indices.contains(link.property - 1) ? properties[link.property - 1] : nil
    }

    func properties(of item: Int) -> [Box] { (links[item] ?? []).compactMap(property) }

    /// References of one type, from an item to others.
    func references(_ type: String) -> [(from: Int, to: [Int])] {
        guard let references = parts.first(where: { $0.type == "iref" }), references.range.count >= 12 else {
            return []
        }
        let bytes = file[references.range.lowerBound + 8] == 0 ? 2 : 4
        let all = Self.boxes(file, references.range.dropFirst(12)) ?? []
        return all.filter { $0.type == type }.compactMap { box in
            let start = box.range.lowerBound + 8
            guard let from = Self.number(file, start, bytes), let count = Self.number(file, start + bytes, 2) else {
                return nil
            }
            let places = max(0, box.range.upperBound - start - bytes - 2) / bytes
            let to = (0..<min(count, places)).compactMap { place in
                Self.number(file, start + bytes + 2 + place * bytes, bytes)
            }
            return (from, to)
        }
    }

    /// Properties of all items, in file order.
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

    /// The boxes in a range; nil if one does not end inside the range.
    ///
    /// - Parameter isCut: whether the range may end early, or in other bytes. A box of pixels is then cut at the end,
    ///   and other incomplete boxes are left out.
    private static func boxes(_ file: UnsafeRawBufferPointer, _ range: Range<Int>, isCut: Bool = false) -> [Box]? {
        var (boxes, offset) = ([Box](), range.lowerBound)
        while offset < range.upperBound {
            guard boxes.count < itemLimit else { return nil }
            guard let short = number(file, offset, 4), let name = text(file, offset + 4) else {
                return isCut ? boxes : nil
            }
            let room = range.upperBound - offset
            var length = short == 0 ? room : short
            if short == 1 {
                guard let long = number(file, offset + 8, 8) else { return isCut ? boxes : nil }
                length = long
            }
            if isCut, name == "mdat", length > room { length = room }
            guard length >= 8, length <= room else { return isCut ? boxes : nil }
            boxes.append((name, offset..<offset + length))
            offset += length
        }
        return boxes
    }

    static func text(_ file: UnsafeRawBufferPointer, _ offset: Int) -> String? {
        offset + 4 <= file.count ? String(decoding: file[offset..<offset + 4], as: UTF8.self) : nil
    }

    static func number(_ file: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> Int? {
        offset + count <= file.count ? file[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
