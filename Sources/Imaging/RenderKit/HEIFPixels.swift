/// Properties of an AVIF's or HEIC's pixels that libvips 8.14.1 does not read from libheif 1.15.1, and libheif does not
/// apply.
package struct HEIFPixels {
    /// Whether colours are multiplied by alpha, and must be divided by it.
    package let isPremultiplied: Bool
    /// Whether pixels are grey in limited range: 16 is black and 235 is white. libheif returns coloured pixels in full
    /// range.
    package let isLimitedGrey: Bool

    package init(_ file: UnsafeRawBufferPointer) {
        guard let tables = HEIFTables(file), let primary = tables.primary else {
            (isPremultiplied, isLimitedGrey) = (false, false)
            return
        }
        isPremultiplied = tables.references("prem").contains { $0.from == primary }
        // For a grid, its first tile.
        let tile = tables.references("dimg").first { $0.from == primary }?.to.first
        let own = tables.properties(of: primary) + (tile.map(tables.properties) ?? [])
        func byte(_ box: HEIFTables.Box, _ offset: Int) -> Int {
            offset < box.range.count - 8 ? Int(file[box.range.lowerBound + 8 + offset]) : 0
        }
        let isGrey = own.contains { box in
            switch box.type {
            case "av1C": byte(box, 2) & 0x10 != 0
            // hvcC has chroma_format_idc after six bits that are set.
            case "hvcC": byte(box, 16) == 0xfc
            default: false
            }
        }
        let isLimited = own.first { $0.type == "colr" && HEIFTables.text(file, $0.range.lowerBound + 8) == "nclx" }
            .map { $0.range.count >= 19 && byte($0, 10) & 0x80 == 0 }
        isLimitedGrey = isGrey && isLimited == true
    }
}
