/// Rewrites AVIF and HEIC for libheif 1.15.1, which misreads or refuses files that other decoders read.
///
/// A property that turns or cuts an image must come after the descriptive ones, or libheif reports a wrong size.
/// libheif drops alpha that lacks the turns of its image. A sequence has no brand that libheif knows, or names no
/// primary item. New tables are written at the file's end, so that no item moves; bytes after the last complete box are
/// left out.
package enum HEIFRepair {
    private static let turns: Set<String> = ["irot", "imir", "clap"]
    private static let brands: Set<String> = ["heic", "heix", "mif1", "avif"]

    /// The file with repaired tables; nil if they need no repair, or can't be read.
    package static func repaired(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let tables = HEIFTables(file), let primary = tables.primary else { return nil }
        var items = tables.links
        func type(_ link: HEIFTables.Link) -> String { tables.property(link)?.type ?? "" }
        func isTurn(_ link: HEIFTables.Link) -> Bool { turns.contains(type(link)) }
        // As in libavif, cuts apply before turns.
        for (item, links) in items {
            let turns = links.filter(isTurn)
            items[item] =
                links.filter { !isTurn($0) } + turns.filter { type($0) == "clap" } + turns.filter { type($0) != "clap" }
        }
        let own = items[primary] ?? []
        // Auxiliary items of the primary one: alpha, depth.
        for item in tables.references("auxl").filter({ $0.to.contains(primary) }).map(\.from) {
            guard let links = items[item], links.contains(where: { type($0) == "auxC" }), !links.contains(where: isTurn)
            else {
                continue
            }
            let size = links.contains { type($0) == "ispe" } ? [] : own.filter { type($0) == "ispe" }
            items[item] = size + links + own.filter(isTurn)
        }
        let brand = unknownBrand(file, tables.head.range)
        guard items != tables.links || tables.named == nil || brand != nil else { return nil }

        let (meta, last) = (tables.meta.range, tables.last.range)
        var content = Array(file[meta.lowerBound + 8..<meta.lowerBound + 12])
        if tables.named == nil { content += box("pitm", big(0, 4) + big(primary, 2)) }
        for part in tables.parts {
            content +=
                part.type == "iprp"
                ? box("iprp", Array(file[tables.list.range]) + written(items)) : Array(file[part.range])
        }
        var result = Array(file[..<last.upperBound])
        // Sets an explicit length, or the box would include the appended tables.
        result.replaceSubrange(last.prefix(4), with: big(last.count, 4))
        result.replaceSubrange(meta.lowerBound + 4..<meta.lowerBound + 8, with: Array("free".utf8))
        if let brand { result.replaceSubrange(brand, with: Array("mif1".utf8)) }
        return result + box("meta", content)
    }

    /// Position where a known brand must be written; nil if a compatible brand is known.
    private static func unknownBrand(_ file: UnsafeRawBufferPointer, _ head: Range<Int>) -> Range<Int>? {
        let places = stride(from: head.lowerBound + 16, to: head.upperBound - 3, by: 4).map { $0..<$0 + 4 }
        let isKnown = places.contains { brands.contains(String(decoding: file[$0], as: UTF8.self)) }
        return isKnown ? nil : places.last
    }

    private static func written(_ items: [Int: [HEIFTables.Link]]) -> [UInt8] {
        // Version 1, with wide numbers.
        var bytes = big(1 << 24 | 1, 4) + big(items.count, 4)
        for (item, links) in items.sorted(by: { $0.key < $1.key }) {
            bytes += big(item, 4) + big(min(links.count, 255), 1)
            for link in links.prefix(255) { bytes += big(link.property | (link.isEssential ? 0x8000 : 0), 2) }
        }
        return box("ipma", bytes)
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(8 + content.count, 4) + Array(type.utf8) + content
    }
}
