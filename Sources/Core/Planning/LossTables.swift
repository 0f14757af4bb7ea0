internal import ImageModel
internal import VariantSpec

/// Losses by reuse, by the kind of source: text and lines lose several times what photographs lose.
package struct LossTables: Sendable, Hashable {
    package let photographs: LossTable
    package let drawings: LossTable

    package static let measured = LossTables(photographs: .photographs, drawings: .drawings)

    package init(photographs: LossTable, drawings: LossTable) {
        (self.photographs, self.drawings) = (photographs, drawings)
    }

    /// The table for variants of a donor's source. A source counts as a photograph if it has a format that cameras write
    /// and was found to be no drawing, or if the row does not know its format. The table of drawings errs on the safe
    /// side for all other photographs.
    func table(for donor: VariantRow) -> LossTable {
        guard let facts = donor.facts else { return photographs }
        return facts.format.isOfCameras && facts.isDrawing == false ? photographs : drawings
    }
}
