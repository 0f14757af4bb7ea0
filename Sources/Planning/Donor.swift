package import ImageModel

/// A stored variant that passed every rule, and what making the wanted one from it means.
package struct Donor: Sendable, Hashable {
    package let row: VariantRow
    /// What of its pixels to show.
    package let cut: Region
    /// Expected mean loss against rendering from the source, in SSIMULACRA2 points.
    package let loss: Double

    /// Holds every rule against a stored variant, cheapest first; the first that fails says why.
    package init(_ row: VariantRow, for spec: VariantSpec, as placement: Placement, in question: DonorQuestion)
        throws(DonorRefusal)
    {
        guard DonorRule.isOfVersion(row, question.version) else { throw .version }
        guard question.rules.isFresh(until: row.expires, at: question.now) else { throw .stale }
        guard DonorRule.isMadeFromOrigin(row) else { throw .generation }
        guard DonorRule.isNotEnlarged(row) else { throw .enlarged }
        guard let cut = placement.cut(from: row.size, showing: row.region) else { throw .region }
        let ratio = DonorRule.ratio(of: cut, to: placement.output)
        guard ratio >= 1 else { throw .scale }
        guard DonorRule.isExactEnough(row.spec.format, for: spec.format) else { throw .lossy }
        guard DonorRule.keepsAlpha(row.spec.format, for: spec.format, sourceHasAlpha: question.sourceHasAlpha) else {
            throw .alpha
        }
        guard let loss = question.rules.losses.loss(from: row.spec, to: spec, ratio: ratio) else { throw .unmeasured }
        guard loss <= question.rules.lossBudget else { throw .loss }
        (self.row, self.cut, self.loss) = (row, cut, loss)
    }

    /// Least loss, then least decoding.
    func isBetter(than other: Donor) -> Bool {
        loss != other.loss ? loss < other.loss : row.size.pixels < other.row.size.pixels
    }
}

/// What every donor of one source is held against.
package struct DonorQuestion: Sendable {
    /// The newest version known.
    package let version: SourceVersion
    /// nil: not known.
    package let sourceHasAlpha: Bool?
    package let now: Int64
    package let rules: ReuseRules

    package init(version: SourceVersion, sourceHasAlpha: Bool?, now: Int64, rules: ReuseRules) {
        (self.version, self.sourceHasAlpha, self.now, self.rules) = (version, sourceHasAlpha, now, rules)
    }
}

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
