package import ImageModel
package import VariantSpec

/// A stored variant that passed every rule, and what making the wanted one from it means.
package struct Donor: Sendable, Hashable {
    package let row: VariantRow
    /// What of its pixels to show.
    package let crop: Region
    /// Expected loss against rendering from the source, in SSIMULACRA2 points.
    package let loss: Double

    /// Holds every rule against a stored variant, cheapest first; the first that fails says why.
    package init(_ row: VariantRow, for spec: VariantSpec, as placement: Placement, in question: DonorQuestion)
        throws(DonorRefusal)
    {
        guard DonorRule.isOfVersion(row, question.version) else { throw .version }
        guard question.rules.isFresh(until: row.expires, at: question.now) else { throw .stale }
        guard DonorRule.isDerivedFromOrigin(row) else { throw .generation }
        guard DonorRule.isNotEnlarged(row) else { throw .enlarged }
        guard !row.spec.extras.isBurnedIn else { throw .burnedIn }
        guard DonorRule.keepsFrames(row, for: spec) else { throw .frames }
        guard !spec.extras.needsSource, DonorRule.knowsFocus(row, for: spec),
            question.isFocusKnown || !spec.isSteered
        else { throw .pixels }
        guard let crop = placement.crop(from: row.size, showing: row.region) else { throw .region }
        let ratio = DonorRule.ratio(of: crop, to: placement.output)
        guard ratio >= 1 else { throw .scale }
        guard DonorRule.isExactEnough(row.spec.format, for: spec.format) else { throw .lossy }
        guard DonorRule.keepsAlpha(row.spec.format, for: spec, sourceHasAlpha: question.sourceHasAlpha) else {
            throw .alpha
        }
        guard DonorRule.keepsChroma(row, for: spec, placement.output, ratio: ratio) else { throw .chroma }
        // If a crop at ratio 1 falls between the donor's pixels, it is resampled, which was not measured.
        guard ratio > 1 || crop.isWhole(as: placement.output) else { throw .unmeasured }
        guard let loss = question.rules.losses.table(for: row).loss(from: row.specAsWritten, to: spec, ratio: ratio)
        else {
            throw .unmeasured
        }
        guard loss <= question.rules.lossBudget else { throw .loss }
        (self.row, self.crop, self.loss) = (row, crop, loss)
    }

    /// Least loss, then least decoding.
    func isBetter(than other: Donor) -> Bool {
        loss != other.loss ? loss < other.loss : row.size.pixels < other.row.size.pixels
    }
}

extension VariantRow {
    /// The spec at the quality that it was written at.
    fileprivate var specAsWritten: VariantSpec {
        quality == spec.quality ? spec : spec.with(spec.extras, quality: quality)
    }
}

extension VariantSpec {
    /// As `placement(of:)`, with what `smart` chose for a stored variant where that is known.
    package func placement(asIn row: VariantRow, around regions: [KeptRegion] = []) -> Placement {
        let own = placement(of: row.sourceSize, around: regions)
        guard extras.focus == .smart, DonorRule.knowsFocus(row, for: self) else { return own }
        return Placement(output: own.output, region: row.region)
    }
}
