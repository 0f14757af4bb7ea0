internal import VariantSpec

extension LossTable {
    /// As `photographs`, on text and line drawings (numbers 1, 3 and 5 of `mezzotint-bench drawings`: coloured text, a chart, a
    /// page): the worst of them, at ratio 1 alone. A second resampling softens each edge once more, for up to 30 points at
    /// ratio 1.05 from a lossless donor, 12 at ratio 8, and 24 at ratio 22 from a JPEG of q92: what was measured of three
    /// drawings held for no other, so that no resampled donor stands in.
    ///
    /// `mezzotint-bench losses --raw --images DIR` measures it, of what `mezzotint-bench drawings --to DIR` wrote.
    package static let drawings = LossTable(
        ratios: [1],
        rows: [
            Row(.png, 0, to: .jpeg, 80, [0.0]),
            Row(.png, 0, to: .jpeg, 90, [0.0]),
            Row(.png, 0, to: .jpeg, 100, [0.0]),
            Row(.png, 0, to: .webp, 80, [0.0]),
            Row(.png, 0, to: .webp, 90, [0.0]),
            Row(.png, 0, to: .webp, 100, [0.0]),
            Row(.png, 0, to: .png, 0, [0.0]),
            Row(.jpeg, 95, to: .jpeg, 80, [1.8]),
            Row(.jpeg, 95, to: .jpeg, 90, [4.3]),
            Row(.jpeg, 95, to: .jpeg, 100, [6.0]),
            Row(.jpeg, 95, to: .webp, 80, [1.2]),
            Row(.jpeg, 95, to: .webp, 90, [0.9]),
            Row(.jpeg, 95, to: .webp, 100, [1.6]),
            Row(.jpeg, 90, to: .jpeg, 80, [6.0]),
            Row(.jpeg, 90, to: .jpeg, 90, [3.3]),
            Row(.jpeg, 90, to: .jpeg, 100, [11.3]),
            Row(.jpeg, 90, to: .webp, 80, [4.1]),
            Row(.jpeg, 90, to: .webp, 90, [4.5]),
            Row(.jpeg, 90, to: .webp, 100, [6.1]),
            Row(.jpeg, 80, to: .jpeg, 80, [7.5]),
            Row(.jpeg, 80, to: .jpeg, 90, [15.4]),
            Row(.jpeg, 80, to: .webp, 80, [11.4]),
            Row(.jpeg, 80, to: .webp, 90, [12.9]),
            Row(.jpeg, 80, to: .webp, 100, [15.1]),
            Row(.webp, 95, to: .jpeg, 80, [7.0]),
            Row(.webp, 95, to: .jpeg, 90, [11.7]),
            Row(.webp, 95, to: .jpeg, 100, [17.2]),
            Row(.webp, 95, to: .webp, 80, [6.9]),
            Row(.webp, 95, to: .webp, 90, [7.9]),
            Row(.webp, 95, to: .webp, 100, [8.0]),
            Row(.webp, 90, to: .jpeg, 80, [7.3]),
            Row(.webp, 90, to: .jpeg, 90, [12.5]),
            Row(.webp, 90, to: .jpeg, 100, [17.8]),
            Row(.webp, 90, to: .webp, 80, [8.2]),
            Row(.webp, 90, to: .webp, 90, [8.0]),
            Row(.webp, 90, to: .webp, 100, [8.7]),
            Row(.webp, 80, to: .jpeg, 80, [9.2]),
            Row(.webp, 80, to: .jpeg, 90, [14.4]),
            Row(.webp, 80, to: .jpeg, 100, [20.6]),
            Row(.webp, 80, to: .webp, 80, [8.5]),
            Row(.webp, 80, to: .webp, 90, [11.7]),
            Row(.webp, 80, to: .webp, 100, [13.8]),
        ])
}
