/// A part of a source that crops should keep, such as a face: in fractions of the upright source's sides.
package struct KeptRegion: Sendable, Hashable {
    package let x: Double
    package let y: Double
    package let width: Double
    package let height: Double
    /// More are not read of one job or source.
    package static let limit = 64

    /// Cut to the source; nil if nothing of it lies inside, or a number is none.
    package init?(x: Double, y: Double, width: Double, height: Double) {
        guard [x, y, width, height].allSatisfy(\.isFinite), width >= 0, height >= 0 else { return nil }
        let (left, top, right, bottom) = (max(0, x), max(0, y), min(1, x + width), min(1, y + height))
        guard left < right, top < bottom else { return nil }
        (self.x, self.y, self.width, self.height) = (left, top, right - left, bottom - top)
    }

    /// The point, in thousandths of the sides, around which a crop keeps all of them if they fit into it: the middle of what
    /// they span. nil without any.
    ///
    /// Along a side where they span more than a crop is taken to show, and that middle lies in none of them, it is the middle
    /// of the largest: a crop between them would show none.
    ///
    /// - Parameter shown: how much of each side crops are taken to show, since they are not known yet; by default what a square crop
    ///   shows of a picture of 3:2.
    package static func focalPoint(
        of regions: [KeptRegion], shown: (across: Double, down: Double) = (2.0 / 3, 2.0 / 3)
    ) -> FocalPoint? {
        guard var largest = regions.first else { return nil }
        // Of equal ones the first, also where their sums are rounded differently.
        for region in regions where region.area > largest.area * 1.000_001 { largest = region }
        return FocalPoint(
            x: middle(of: regions.map(\.across), or: largest.across, shown: shown.across),
            y: middle(of: regions.map(\.down), or: largest.down, shown: shown.down))
    }

    private static func middle(
        of sides: [ClosedRange<Double>], or largest: ClosedRange<Double>, shown: Double
    ) -> Int {
        var kept = largest
        for side in sides {
            kept = min(kept.lowerBound, side.lowerBound)...max(kept.upperBound, side.upperBound)
        }
        let middle = (kept.lowerBound + kept.upperBound) / 2
        let fits = kept.upperBound - kept.lowerBound <= shown + 1e-9
        if !fits, !sides.contains(where: { $0.contains(middle) }) { kept = largest }
        return Int(((kept.lowerBound + kept.upperBound) * 500).rounded())
    }

    private var across: ClosedRange<Double> { x...x + width }
    private var down: ClosedRange<Double> { y...y + height }
    private var area: Double { width * height }
}

extension VariantSpec {
    /// Whether regions decide where it is cut: a crop that names no place itself.
    package var isSteered: Bool { mode == .crop && axis == .centre && extras.focus == nil }

    /// The same around regions, by the option that says so: what is stored goes by it.
    package func keeping(_ regions: [KeptRegion]) -> VariantSpec {
        guard isSteered, let point = KeptRegion.focalPoint(of: regions) else { return self }
        var extras = extras
        extras.focus = .point(x: point.x, y: point.y)
        return with(extras)
    }
}

/// A point of an upright source, in thousandths of its sides.
package struct FocalPoint: Sendable, Hashable {
    package let x: Int
    package let y: Int
    package static let range = 0...1000

    package init(x: Int, y: Int) { (self.x, self.y) = (x, y) }

    /// Of numbers that somebody else says.
    package init?(told numbers: [Int]) {
        guard numbers.count == 2, numbers.allSatisfy(Self.range.contains) else { return nil }
        self.init(x: numbers[0], y: numbers[1])
    }
}
