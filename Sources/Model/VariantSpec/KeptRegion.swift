/// A part of a source that crops should keep, such as a face: in thousandths of the upright source's sides. One without a
/// size is a point to lie around.
package struct KeptRegion: Sendable, Hashable {
    package let x: Int
    package let y: Int
    package let width: Int
    package let height: Int
    /// More are not read of one job or source.
    package static let limit = 64
    /// More are not written into a spec, whose text is a file's name.
    package static let specLimit = 5

    /// In fractions of the sides, cut to the source; nil if nothing of it lies inside, or a number is none.
    package init?(x: Double, y: Double, width: Double, height: Double) {
        guard [x, y, width, height].allSatisfy(\.isFinite), width >= 0, height >= 0 else { return nil }
        let (left, top, right, bottom) = (max(0, x), max(0, y), min(1, x + width), min(1, y + height))
        guard left < right, top < bottom else { return nil }
        func rounded(_ place: Double) -> Int { Int((place * 1000).rounded()) }
        (self.x, self.y) = (rounded(left), rounded(top))
        (self.width, self.height) = (rounded(right) - self.x, rounded(bottom) - self.y)
    }

    /// A point of the source.
    package init(x: Int, y: Int) { self.init(x: x, y: y, width: 0, height: 0) }

    init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    package var isPoint: Bool { width == 0 && height == 0 }
    package var numbers: [Int] { [x, y, width, height] }
    var across: ClosedRange<Int> { x...x + width }
    var down: ClosedRange<Int> { y...y + height }
    fileprivate var area: Int { width * height }
    fileprivate var middle: KeptRegion { KeptRegion(x: (2 * x + width + 1) / 2, y: (2 * y + height + 1) / 2) }
}

extension [KeptRegion] {
    /// Of numbers that somebody else says, four for each; nil if they are not of regions, or of too many.
    package init?(told numbers: [Int], limit: Int = KeptRegion.limit) {
        guard numbers.count % 4 == 0, numbers.count <= 4 * limit, numbers.allSatisfy((0...1000).contains) else {
            return nil
        }
        self = stride(from: 0, to: numbers.count, by: 4).map {
            KeptRegion(x: numbers[$0], y: numbers[$0 + 1], width: numbers[$0 + 2], height: numbers[$0 + 3])
        }
        guard allSatisfy({ $0.across.upperBound <= 1000 && $0.down.upperBound <= 1000 }) else { return nil }
    }

    /// The part of one side that a crop lies around to keep the most of the regions: all if they fit into its length, or the
    /// largest (of equal ones the first) with as many others as fit, or the largest alone if not even that fits.
    ///
    /// - Parameter length: the crop's, in thousandths of the side.
    func span(_ side: (KeptRegion) -> ClosedRange<Int>, in length: Int) -> ClosedRange<Int> {
        guard let largest = self.max(by: { $0.area < $1.area }) else { return 500...500 }
        let own = side(largest)
        var best = (span: own, count: 0, area: 0)
        for start in map({ side($0).lowerBound }) where start <= own.lowerBound && own.upperBound <= start + length {
            let shown = filter { side($0).lowerBound >= start && side($0).upperBound <= start + length }
            let (count, area) = (shown.count, shown.reduce(0) { $0 + $1.area })
            guard (count, area) > (best.count, best.area) else { continue }
            best = (start...shown.reduce(start) { Swift.max($0, side($1).upperBound) }, count, area)
        }
        return best.span
    }

    /// As few as a spec may have, the largest first: of more, the largest, those at the edges of what all span, and the next
    /// largest.
    fileprivate var ofSpec: [KeptRegion] {
        let sorted = distinct.sorted { $0.area > $1.area }
        let edges: [KeptRegion?] = [
            sorted.min { $0.x < $1.x }, sorted.min { $0.y < $1.y },
            sorted.max { $0.across.upperBound < $1.across.upperBound },
            sorted.max { $0.down.upperBound < $1.down.upperBound },
        ]
        let first: [KeptRegion] = sorted.prefix(1) + edges.compactMap(\.self)
        let kept = (first + sorted).distinct.prefix(KeptRegion.specLimit)
        return sorted.filter { kept.contains($0) }
    }

    private var distinct: [KeptRegion] {
        reduce(into: [KeptRegion]()) { found, region in if !found.contains(region) { found.append(region) } }
    }
}

extension VariantSpec {
    /// Whether regions decide where it is cut: a crop that names no place itself.
    package var isSteered: Bool { mode == .crop && axis == .centre && extras.focus == nil }

    /// The same around regions, by the option that says so: what is stored goes by it. The middle of one alone says as much.
    package func keeping(_ regions: [KeptRegion]) -> VariantSpec {
        let kept = regions.ofSpec
        guard isSteered, !kept.isEmpty else { return self }
        var extras = extras
        extras.focus = .regions(kept.count == 1 ? [kept[0].middle] : kept)
        return with(extras)
    }
}

extension Orientation {
    /// Where a part of the stored picture is seen.
    package func upright(_ region: KeptRegion) -> KeptRegion {
        let (x, y, width, height) = (region.x, region.y, region.width, region.height)
        let (right, below) = (1000 - x - width, 1000 - y - height)
        return switch self {
        case .upright: region
        case .mirrored: KeptRegion(x: right, y: y, width: width, height: height)
        case .upsideDown: KeptRegion(x: right, y: below, width: width, height: height)
        case .flipped: KeptRegion(x: x, y: below, width: width, height: height)
        case .transposed: KeptRegion(x: y, y: x, width: height, height: width)
        case .quarterTurn: KeptRegion(x: below, y: x, width: height, height: width)
        case .transversed: KeptRegion(x: below, y: right, width: height, height: width)
        case .threeQuarterTurn: KeptRegion(x: y, y: right, width: height, height: width)
        }
    }
}
