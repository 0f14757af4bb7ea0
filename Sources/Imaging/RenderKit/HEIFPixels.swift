/// What libvips 8.14.1 does not ask libheif 1.15.1 of an AVIF's or HEIC's pixels, and libheif does not do for it.
package struct HEIFPixels {
    /// Colours are weighted by alpha, and are to be divided by it.
    package let isPremultiplied: Bool
    /// Without colours, and of limited range: 16 is black and 235 is white. Coloured pixels come out in full range.
    package let isLimitedGrey: Bool

    package init(_ file: UnsafeRawBufferPointer) {
        guard let tables = HEIFTables(file), let primary = tables.primary else {
            (isPremultiplied, isLimitedGrey) = (false, false)
            return
        }
        isPremultiplied = tables.references("prem").contains { $0.from == primary }
        // Of a grid its first tile.
        let tile = tables.references("dimg").first { $0.from == primary }?.to.first
        let own = tables.properties(of: primary) + (tile.map(tables.properties) ?? [])
        func byte(_ box: HEIFTables.Box, _ offset: Int) -> Int {
            offset < box.range.count - 8 ? Int(file[box.range.lowerBound + 8 + offset]) : 0
        }
        let isGrey = own.contains { box in
            switch box.type {
            case "av1C": byte(box, 2) & 0x10 != 0
            // Of hvcC: chroma_format_idc, below six bits that are set.
            case "hvcC": byte(box, 16) == 0xfc
            default: false
            }
        }
        let isLimited = own.first { $0.type == "colr" && HEIFTables.text(file, $0.range.lowerBound + 8) == "nclx" }
            .map { $0.range.count >= 19 && byte($0, 10) & 0x80 == 0 }
        isLimitedGrey = isGrey && isLimited == true
    }
}
