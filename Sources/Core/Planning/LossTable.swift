package import VariantSpec

/// What making a variant from a stored one costs, against making it from the source: measured mean loss in SSIMULACRA2
/// points by both formats and qualities and by how many of the donor's pixels go into one.
///
/// Between two measured ratios the worse neighbour counts, and above the last nothing does: what is not in the table may
/// not stand in. The first ratio stands for itself alone: at 1 nothing is resampled, which says nothing of 1.01.
package struct LossTable: Sendable, Hashable {
    package struct Row: Sendable, Hashable {
        package let donor: ImageFormat
        /// The least quality of the donors that the row is for; 0 where quality means nothing.
        package let quality: Int
        package let wanted: ImageFormat
        /// The highest quality of a variant made from them: a better one shows more of the donor's own loss.
        package let wantedQuality: Int
        /// In the order of `ratios`; nil where the loss was not measured.
        package let losses: [Double?]

        package init(
            _ donor: ImageFormat, _ quality: Int, to wanted: ImageFormat, _ wantedQuality: Int, _ losses: [Double?]
        ) {
            (self.donor, self.quality, self.wanted, self.wantedQuality) = (donor, quality, wanted, wantedQuality)
            self.losses = losses
        }
    }

    /// Ascending.
    package let ratios: [Double]
    package let rows: [Row]

    package init(ratios: [Double], rows: [Row]) { (self.ratios, self.rows) = (ratios, rows) }

    package func loss(from donor: VariantSpec, to wanted: VariantSpec, ratio: Double) -> Double? {
        guard let row = row(from: donor, to: wanted), let upper = ratios.firstIndex(where: { $0 >= ratio }) else {
            return nil
        }
        if ratios[upper] == ratio { return row.losses[upper] }
        guard upper > 1, let low = row.losses[upper - 1], let high = row.losses[upper] else { return nil }
        return max(low, high)
    }

    /// The best class that the donor's quality reaches, and in it the least that the wanted one stays within.
    private func row(from donor: VariantSpec, to wanted: VariantSpec) -> Row? {
        guard let from = donor.format.output?.losses, let to = wanted.format.output?.losses else { return nil }
        var best: Row?
        for row in rows where row.donor == from && row.wanted == to {
            guard row.quality <= donor.quality, wanted.quality <= row.wantedQuality else { continue }
            guard let known = best else {
                best = row
                continue
            }
            if (row.quality, -row.wantedQuality) > (known.quality, -known.wantedQuality) { best = row }
        }
        return best
    }
}
