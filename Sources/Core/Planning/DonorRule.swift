package import ImageModel
package import VariantSpec

/// The rules that need a sentence of their own.
package enum DonorRule {
    package static func isOfVersion(_ row: VariantRow, _ version: SourceVersion) -> Bool { row.version == version }

    /// A chain of donors sharpens and softens again at each step: 5.5 points over three, 1.3 in one.
    package static func isDerivedFromOrigin(_ row: VariantRow) -> Bool { row.derivedFrom == .origin }

    package static func isNotEnlarged(_ row: VariantRow) -> Bool {
        Double(row.size.width) <= row.region.width + 1e-6 && Double(row.size.height) <= row.region.height + 1e-6
    }

    /// Donor pixels for a wanted pixel, on the worse axis; what rounding leaves below 1 counts as 1.
    package static func ratio(of crop: Region, to output: PixelSize) -> Double {
        let ratio = min(crop.width / Double(output.width), crop.height / Double(output.height))
        return ratio >= 1 - 1e-6 ? max(1, ratio) : ratio
    }

    package static func isExactEnough(_ donor: ImageFormat, for wanted: ImageFormat) -> Bool {
        donor.isLossless || !wanted.isLossless
    }

    /// A donor of a format without alpha was flattened on white: it may stand in for another, and for more only if nothing was lost by it.
    package static func keepsAlpha(_ donor: ImageFormat, for wanted: VariantSpec, sourceHasAlpha: Bool?) -> Bool {
        let isOnWhite = !wanted.format.holdsAlpha && wanted.extras.background == nil
        return donor.holdsAlpha || isOnWhite || sourceHasAlpha == false
    }

    /// Whether a donor with half the chroma has enough of it: as many samples for full chroma, and more for what is small.
    ///
    /// A small variant shows each block of its donor's chroma. Of 1,945 pairs the worst lost 8.3 points, 73 px as WebP from a JPEG of
    /// q85 at ratio 3.3.
    package static func keepsChroma(
        _ row: VariantRow, for wanted: VariantSpec, _ output: PixelSize, ratio: Double
    ) -> Bool {
        if row.spec.format.hasFullChroma(quality: row.quality, row.size) { return true }
        if output.pixels <= FullChroma.pixels { return ratio >= 4 }
        return ratio >= 2 || !wanted.format.hasFullChroma(quality: wanted.quality, output)
    }

    /// A still gives none of a source's other frames; what moves gives its first.
    package static func keepsFrames(_ row: VariantRow, for wanted: VariantSpec) -> Bool {
        !wanted.isAnimated || row.frames == row.facts?.frames ?? 1
    }

    /// What `smart` chose is known only where it chose among as much already.
    package static func knowsFocus(_ row: VariantRow, for wanted: VariantSpec) -> Bool {
        guard wanted.extras.focus == .smart else { return true }
        let region = wanted.placement(of: row.sourceSize).region
        return row.spec.extras.focus == .smart && region.width == row.region.width && region.height == row.region.height
    }
}
