package import ImageModel

/// What making a variant from a stored one costs, against making it from the source: measured mean loss in SSIMULACRA2
/// points by the donor's format and quality and by how many of its pixels go into one.
///
/// Between two measured ratios the worse neighbour counts, below the first and above the last nothing does: what is not
/// in the table may not stand in.
package struct LossTable: Sendable, Hashable {
    package struct Row: Sendable, Hashable {
        package let donor: ImageFormat
        /// The least quality of the donors that the row is for; 0 where quality means nothing.
        package let quality: Int
        /// The highest quality of a variant made from them: a better one shows more of the donor's own loss.
        package let wanted: Int
        static let lossless = 101
        /// In the order of `ratios`; nil where the loss was not measured.
        package let losses: [Double?]

        package init(donor: ImageFormat, quality: Int, wanted: Int, losses: [Double?]) {
            (self.donor, self.quality, self.wanted, self.losses) = (donor, quality, wanted, losses)
        }
    }

    package let ratios: [Double]
    package let rows: [Row]

    package init(ratios: [Double], rows: [Row]) { (self.ratios, self.rows) = (ratios, rows) }

    package func loss(from donor: VariantSpec, to wanted: VariantSpec, ratio: Double) -> Double? {
        guard let row = row(from: donor, to: wanted), let upper = ratios.firstIndex(where: { $0 >= ratio }) else { return nil }
        if ratios[upper] == ratio { return row.losses[upper] }
        guard upper > 0, let low = row.losses[upper - 1], let high = row.losses[upper] else { return nil }
        return max(low, high)
    }

    /// Rows of a donor format stand from the best quality down, and in one quality from the least wanted up.
    private func row(from donor: VariantSpec, to wanted: VariantSpec) -> Row? {
        guard let best = rows.first(where: { $0.donor == donor.format && $0.quality <= donor.quality }) else { return nil }
        let quality = wanted.format.isLossless ? Row.lossless : wanted.quality
        return rows.first { $0.donor == best.donor && $0.quality == best.quality && quality <= $0.wanted }
    }
}
