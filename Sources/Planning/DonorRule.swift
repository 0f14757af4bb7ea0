package import ImageModel

/// The rules that need a sentence of their own. Nothing can be burned in yet, every stored picture is a still in 8-bit
/// sRGB: the rules about those come with what can break them.
package enum DonorRule {
    package static func isOfVersion(_ row: VariantRow, _ version: SourceVersion) -> Bool { row.version == version }

    /// A chain of donors sharpens and softens again at each step: 5.5 points over three, 1.3 in one.
    package static func isMadeFromOrigin(_ row: VariantRow) -> Bool { row.madeFrom == .origin }

    package static func isNotEnlarged(_ row: VariantRow) -> Bool {
        Double(row.size.width) <= row.region.width + 1e-6 && Double(row.size.height) <= row.region.height + 1e-6
    }

    /// Donor pixels for a wanted pixel, on the worse axis; what rounding leaves below 1 counts as 1.
    package static func ratio(of cut: Region, to output: PixelSize) -> Double {
        let ratio = min(cut.width / Double(output.width), cut.height / Double(output.height))
        return ratio >= 1 - 1e-6 ? max(1, ratio) : ratio
    }

    package static func isExactEnough(_ donor: ImageFormat, for wanted: ImageFormat) -> Bool {
        donor.isLossless || !wanted.isLossless
    }

    /// A JPEG was flattened on white: it may stand in for another, and for more only if nothing was lost by it.
    package static func keepsAlpha(_ donor: ImageFormat, for wanted: ImageFormat, sourceHasAlpha: Bool?) -> Bool {
        donor != .jpeg || wanted == .jpeg || sourceHasAlpha == false
    }
}
