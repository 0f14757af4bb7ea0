internal import ImageModel

extension LossTable {
    /// Measured with our renderer (WebP method 2, chroma 4:4:4 from quality 90) on photographs of ../shared/images/photos of
    /// 1,920 px or more: means of 9 pictures, and of two sizes of the variant (160 px, and 480 or 640) the worse. Each loss
    /// is the score of the variant made from the source less that of the one made from the donor, both against the
    /// lossless rendering from the source. At ratio 1 the worst of two donor qualities in each class (80 and 86, 90 and
    /// 93, 95 and 98): the same quality twice is kinder than two that differ.
    ///
    /// `mezzotint-bench losses` measures it anew.
    package static let measured = LossTable(
        ratios: [1, 1.05, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24],
        rows: [
            Row(.png, 0, to: .jpeg, 80, [0.0, 1.3, 0.8, 0.6, 0.4, 0.4, 0.6, 0.4, 0.3, 0.5, 0.4, nil, nil]),
            Row(.png, 0, to: .jpeg, 90, [0.0, 2.4, 1.7, 1.1, 1.1, 1.0, 1.0, 0.5, 0.6, 0.5, 0.5, nil, nil]),
            Row(.png, 0, to: .jpeg, 100, [0.0, 5.6, 4.3, 2.9, 2.8, 2.6, 2.6, 2.3, 2.0, 2.1, 2.0, nil, nil]),
            Row(.png, 0, to: .webp, 80, [0.0, 1.2, 0.9, 0.5, 0.2, 0.4, 0.3, 0.3, 0.4, 0.2, 0.2, nil, nil]),
            Row(.png, 0, to: .webp, 90, [0.0, 2.0, 1.2, 1.0, 0.6, 0.6, 0.7, 0.5, 0.4, 0.6, 0.6, nil, nil]),
            Row(.png, 0, to: .webp, 100, [0.0, 2.8, 2.2, 1.5, 1.3, 1.3, 1.3, 0.9, 0.7, 0.7, 0.7, nil, nil]),
            Row(.png, 0, to: .png, 0, [0.0, 9.0, 7.8, 6.4, 6.2, 6.1, 6.4, 5.4, 5.2, 5.3, 5.2, nil, nil]),
            Row(.jpeg, 95, to: .jpeg, 80, [0.7, 1.5, 1.3, 1.0, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.4, nil, nil]),
            Row(.jpeg, 95, to: .jpeg, 90, [4.3, 3.0, 2.5, 1.7, 1.5, 1.2, 1.1, 0.7, 0.5, 0.6, 0.5, nil, nil]),
            Row(.jpeg, 95, to: .jpeg, 100, [4.8, 7.8, 6.5, 4.7, 3.9, 3.3, 3.1, 2.5, 2.2, 2.3, 2.1, nil, nil]),
            Row(.jpeg, 95, to: .webp, 80, [0.0, 1.5, 1.1, 0.7, 0.4, 0.3, 0.4, 0.2, 0.4, 0.2, 0.0, nil, nil]),
            Row(.jpeg, 95, to: .webp, 90, [1.2, 2.7, 2.0, 1.4, 0.9, 0.8, 0.8, 0.4, 0.4, 0.6, 0.4, nil, nil]),
            Row(.jpeg, 95, to: .webp, 100, [2.4, 3.5, 3.3, 2.4, 1.8, 1.5, 1.5, 0.7, 0.7, 0.8, 0.7, nil, nil]),
            Row(.jpeg, 90, to: .jpeg, 80, [3.4, 2.1, 1.9, 1.4, 1.0, 0.7, 0.7, 0.5, 0.4, 0.4, 0.4, nil, nil]),
            Row(.jpeg, 90, to: .jpeg, 90, [1.4, 4.3, 3.7, 2.5, 1.8, 1.4, 1.2, 0.8, 0.7, 0.7, 0.6, nil, nil]),
            Row(.jpeg, 90, to: .jpeg, 100, [8.8, 10.2, 9.0, 6.4, 5.0, 3.9, 3.3, 2.6, 2.3, 2.3, 2.1, nil, nil]),
            Row(.jpeg, 90, to: .webp, 80, [1.5, 2.6, 1.7, 1.1, 0.6, 0.5, 0.3, 0.3, 0.3, 0.4, 0.3, nil, nil]),
            Row(.jpeg, 90, to: .webp, 90, [2.5, 3.7, 3.2, 2.1, 1.3, 1.0, 1.0, 0.6, 0.6, 0.6, 0.4, nil, nil]),
            Row(.jpeg, 90, to: .webp, 100, [4.5, 5.0, 4.8, 3.5, 2.4, 1.7, 1.6, 0.8, 0.7, 0.7, 0.5, nil, nil]),
            Row(.jpeg, 80, to: .jpeg, 80, [2.8, 5.5, 5.0, 3.8, 2.8, 1.9, 1.4, 1.0, 0.8, 0.7, 0.5, nil, nil]),
            Row(.jpeg, 80, to: .jpeg, 90, [10.7, 12.0, 11.0, 8.3, 6.0, 4.0, 2.4, 1.6, 1.3, 1.0, 0.7, nil, nil]),
            Row(.jpeg, 80, to: .jpeg, 100, [18.7, 19.1, 18.0, 14.8, 11.8, 9.4, 5.8, 4.7, 3.5, 3.2, 2.6, nil, nil]),
            Row(.jpeg, 80, to: .webp, 80, [5.7, 6.4, 5.4, 3.6, 2.4, 1.2, 0.8, 0.6, 0.4, 0.2, 0.2, nil, nil]),
            Row(.jpeg, 80, to: .webp, 90, [8.7, 8.8, 8.4, 5.8, 4.0, 2.7, 1.8, 1.2, 0.6, 0.4, 0.6, nil, nil]),
            Row(.jpeg, 80, to: .webp, 100, [11.4, 11.6, 10.8, 8.4, 6.2, 4.2, 3.0, 1.5, 1.1, 1.1, 0.8, nil, nil]),
            Row(.webp, 95, to: .jpeg, 80, [3.0, 3.6, 3.3, 2.8, 2.1, 1.5, 1.1, 0.7, 0.5, 0.4, 0.4, nil, nil]),
            Row(.webp, 95, to: .jpeg, 90, [6.0, 7.5, 6.1, 4.6, 3.7, 2.5, 2.0, 1.3, 0.8, 0.8, 0.8, nil, nil]),
            Row(.webp, 95, to: .jpeg, 100, [11.2, 12.8, 11.4, 9.3, 7.5, 5.8, 4.6, 3.5, 2.9, 2.8, 2.6, nil, nil]),
            Row(.webp, 95, to: .webp, 80, [2.1, 3.4, 2.8, 1.9, 1.3, 0.9, 0.7, 0.6, 0.6, 0.5, 0.3, nil, nil]),
            Row(.webp, 95, to: .webp, 90, [3.3, 5.1, 4.4, 3.3, 2.4, 1.7, 1.3, 0.8, 0.7, 0.6, 0.8, nil, nil]),
            Row(.webp, 95, to: .webp, 100, [4.4, 6.3, 5.9, 4.7, 3.8, 2.5, 2.1, 1.1, 0.8, 0.9, 0.6, nil, nil]),
            Row(.webp, 90, to: .jpeg, 80, [5.2, 5.2, 4.9, 4.1, 3.4, 2.1, 1.6, 0.9, 0.7, 0.5, 0.5, nil, nil]),
            Row(.webp, 90, to: .jpeg, 90, [8.6, 8.9, 7.9, 6.6, 5.4, 3.9, 2.8, 1.6, 0.9, 0.9, 0.9, nil, nil]),
            Row(.webp, 90, to: .jpeg, 100, [13.5, 14.8, 13.6, 11.3, 9.6, 7.9, 5.9, 4.2, 3.3, 2.9, 2.5, nil, nil]),
            Row(.webp, 90, to: .webp, 80, [4.0, 4.5, 4.0, 3.0, 2.3, 1.6, 0.9, 0.6, 0.5, 0.3, 0.5, nil, nil]),
            Row(.webp, 90, to: .webp, 90, [3.3, 6.4, 5.9, 4.9, 3.7, 2.7, 1.8, 1.0, 0.7, 0.5, 0.6, nil, nil]),
            Row(.webp, 90, to: .webp, 100, [8.3, 8.6, 8.4, 6.8, 5.5, 3.6, 2.8, 1.4, 1.0, 1.1, 0.8, nil, nil]),
            Row(.webp, 80, to: .jpeg, 80, [10.6, 9.9, 9.5, 8.1, 6.2, 4.2, 2.8, 1.4, 0.9, 1.0, 0.7, nil, nil]),
            Row(.webp, 80, to: .jpeg, 90, [15.5, 14.5, 13.9, 11.9, 9.6, 7.4, 4.7, 2.8, 1.5, 1.5, 1.1, nil, nil]),
            Row(.webp, 80, to: .jpeg, 100, [21.5, 20.5, 19.7, 17.5, 14.9, 12.2, 8.7, 6.1, 4.3, 3.7, 3.1, nil, nil]),
            Row(.webp, 80, to: .webp, 80, [4.2, 8.4, 7.7, 6.5, 4.8, 3.0, 1.9, 1.1, 0.6, 0.4, 0.1, nil, nil]),
            Row(.webp, 80, to: .webp, 90, [11.5, 11.8, 11.1, 9.5, 7.4, 5.0, 3.2, 1.8, 1.1, 1.1, 0.9, nil, nil]),
            Row(.webp, 80, to: .webp, 100, [16.4, 15.1, 15.0, 12.9, 10.4, 7.2, 4.9, 2.2, 1.5, 1.2, 0.9, nil, nil]),
        ])
}
