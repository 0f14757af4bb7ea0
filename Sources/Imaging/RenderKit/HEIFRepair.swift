/// AVIF and HEIC as libheif 1.15.1 reads them: other decoders take files that it misreads or refuses.
///
/// A property that turns or cuts an image must come after those that describe it, or the size that libheif reports is wrong.
/// Alpha without the turns of its image is dropped. A sequence has no brand that libheif knows, or names no primary item. The
/// tables are written anew at the file's end, so that no item moves; what lies behind the last whole box is left out.
package enum HEIFRepair {
    private static let turns: Set<String> = ["irot", "imir", "clap"]
    private static let brands: Set<String> = ["heic", "heix", "mif1", "avif"]

    /// The file with its tables in order; nil where they are, or can't be read.
    package static func repaired(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let tables = HEIFTables(file), let primary = tables.primary else { return nil }
        var items = tables.links
        func type(_ link: HEIFTables.Link) -> String { tables.property(link)?.type ?? "" }
        func isTurn(_ link: HEIFTables.Link) -> Bool { turns.contains(type(link)) }
        // As libavif has it, what is cut is cut before it is turned.
        for (item, links) in items {
            let turns = links.filter(isTurn)
            items[item] =
                links.filter { !isTurn($0) } + turns.filter { type($0) == "clap" } + turns.filter { type($0) != "clap" }
        }
        let own = items[primary] ?? []
        // The items that belong to it: alpha, depth.
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
        // With a length of its own, or it would swallow what is put behind it.
        result.replaceSubrange(last.prefix(4), with: big(last.count, 4))
        result.replaceSubrange(meta.lowerBound + 4..<meta.lowerBound + 8, with: Array("free".utf8))
        if let brand { result.replaceSubrange(brand, with: Array("mif1".utf8)) }
        return result + box("meta", content)
    }

    /// Where a brand may be put that libheif knows, if none of the compatible ones is.
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
