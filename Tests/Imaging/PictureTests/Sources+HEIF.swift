internal import TestPixels

extension Sources {
    /// An AVIF as libheif writes it, with other tables: more properties, other lists of them, no primary item.
    ///
    /// Its old tables stay as free bytes, so that no item moves.
    ///
    /// - Parameters:
    ///   - properties: boxes that come after its own.
    ///   - links: of each item the numbers of its properties, and that of the first of `properties`.
    static func avif(
        _ file: [UInt8], properties: [[UInt8]] = [], brand: String = "avif", isNamed: Bool = true,
        links edit: (inout [Int: [Int]], Int) -> Void = { _, _ in }
    ) -> [UInt8] {
        func number(_ offset: Int, _ count: Int) -> Int {
            file[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        func big(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        func boxes(_ range: Range<Int>) -> [(type: String, range: Range<Int>)] {
            var (found, offset) = ([(type: String, range: Range<Int>)](), range.lowerBound)
            while offset < range.upperBound {
                let end = offset + number(offset, 4)
                found.append((String(decoding: file[offset + 4..<offset + 8], as: UTF8.self), offset..<end))
                offset = end
            }
            return found
        }
        func only(_ type: String, _ parts: [(type: String, range: Range<Int>)]) -> Range<Int> {
            parts.first { $0.type == type }!.range
        }
        let meta = only("meta", boxes(0..<file.count))
        let parts = boxes(meta.dropFirst(12))
        let tables = boxes(only("iprp", parts).dropFirst(8))
        let (list, table) = (only("ipco", tables), only("ipma", tables))
        var (links, offset): ([Int: [Int]], Int) = ([:], table.lowerBound + 16)
        for _ in 0..<number(table.lowerBound + 12, 4) {
            let count = number(offset + 2, 1)
            links[number(offset, 2)] = (0..<count).map { number(offset + 3 + $0, 1) & 0x7f }
            offset += 3 + count
        }
        edit(&links, boxes(list.dropFirst(8)).count + 1)
        var written = big(0, 4) + big(links.count, 4)
        for (item, own) in links.sorted(by: { $0.key < $1.key }) {
            written += big(item, 2) + [UInt8(own.count)] + own.map { UInt8($0) | 0x80 }
        }
        let described =
            Bombs.box("ipco", Array(file[list.dropFirst(8)]) + properties.flatMap { $0 }) + Bombs.box("ipma", written)
        var content = big(0, 4)
        for part in parts where isNamed || part.type != "pitm" {
            content += part.type == "iprp" ? Bombs.box("iprp", described) : Array(file[part.range])
        }
        var result = file
        result.replaceSubrange(meta.lowerBound + 4..<meta.lowerBound + 8, with: Array("free".utf8))
        for place in [8] + stride(from: 16, to: number(0, 4), by: 4) where brand != "avif" {
            result.replaceSubrange(place..<place + 4, with: Array(brand.utf8))
        }
        return result + Bombs.box("meta", content) + (isNamed ? [] : Bombs.box("moov", []))
    }

    /// A quarter turn, a mirror, and a cut of 20x10 in the middle.
    static func transform(_ type: String) -> [UInt8] {
        switch type {
        case "irot": Bombs.box("irot", [1])
        case "imir": Bombs.box("imir", [1])
        default: Bombs.box("clap", [20, 1, 10, 1, 0, 1, 0, 1].flatMap { [0, 0, 0, UInt8($0)] })
        }
    }

    /// Colours by their code points, in the full range of eight bits.
    static func codes(_ primaries: UInt8, _ transfer: UInt8) -> [UInt8] {
        Bombs.box("colr", Array("nclx".utf8) + [0, primaries, 0, transfer, 0, 6, 0x80])
    }
}
