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

    /// The table for variants of a donor's source. Sources in a format that cameras write, or in one that the row does not
    /// know, count as photographs. The table of drawings errs on the safe side for photographs in other formats.
    func table(for donor: VariantRow) -> LossTable {
        donor.facts.map(\.format.isOfCameras) == false ? drawings : photographs
    }
}
