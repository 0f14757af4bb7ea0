internal import ImageModel

extension LossTable {
    /// 23 photographs of ../shared/images/photos, 640 px children of quality 80 in the donor's own format
    /// (image-services.md, section 5).
    package static let measured = LossTable(
        ratios: [1.1, 1.25, 1.5, 2, 3],
        rows: [
            Row(donor: .png, quality: 0, wanted: 80, losses: [1.9, 1.0, 0.4, 0.7, 0.6]),
            Row(donor: .jpeg, quality: 95, wanted: 80, losses: [2.4, 1.3, 0.6, 0.8, 0.7]),
            Row(donor: .jpeg, quality: 90, wanted: 80, losses: [3.1, 1.7, 0.8, 0.9, 0.7]),
            Row(donor: .jpeg, quality: 80, wanted: 80, losses: [6.5, 4.3, 2.7, 2.0, 1.3]),
            Row(donor: .webp, quality: 90, wanted: 80, losses: [5.0, 3.4, 2.0, 1.8, 1.1]),
            Row(donor: .webp, quality: 80, wanted: 80, losses: [9.5, 7.5, 5.2, 3.9, 2.3]),
        ])
}
