/// Part of a source that crops should keep, such as a face, in thousandths of the upright source's sides. A region
/// without a size is a point that crops lie around.
package struct KeptRegion: Sendable, Hashable {
    package let x: Int
    package let y: Int
    package let width: Int
    package let height: Int
    /// Most regions that are read for one job or source.
    package static let limit = 64
    /// Most regions that a spec holds, because its text is a file's name.
    package static let specLimit = 5

    /// Converts fractions of the sides and cuts them to the source. nil if the region lies outside, or if a number is
    /// not finite.
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
    /// A total order: the largest first, of equal ones the leftmost, then the topmost.
    fileprivate var rank: (Int, Int, Int, Int, Int) { (-area, x, y, width, height) }
    fileprivate var middle: KeptRegion { KeptRegion(x: (2 * x + width + 1) / 2, y: (2 * y + height + 1) / 2) }
}

extension [KeptRegion] {
    /// Parses untrusted numbers, four for each region. nil if they do not form regions, or are too many.
    package init?(checking numbers: [Int], limit: Int = KeptRegion.limit) {
        guard numbers.count % 4 == 0, numbers.count <= 4 * limit, numbers.allSatisfy((0...1000).contains) else {
            return nil
        }
        self = stride(from: 0, to: numbers.count, by: 4).map {
            KeptRegion(x: numbers[$0], y: numbers[$0 + 1], width: numbers[$0 + 2], height: numbers[$0 + 3])
        }
        guard allSatisfy({ $0.across.upperBound <= 1000 && $0.down.upperBound <= 1000 }) else { return nil }
    }

    /// Part of one side that a crop lies around to keep as many regions as possible.
    ///
    /// If all regions fit into the crop's length, the part spans them all. Otherwise it spans the largest region (of
    /// equal ones the first) with as many others as fit. If not even the largest fits, the part is that region alone.
    ///
    /// - Parameter length: length of the crop, in thousandths of the side.
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

    /// The regions in an order that does not depend on theirs.
    var ranked: [KeptRegion] { sorted { $0.rank < $1.rank } }

    /// At most as many regions as a spec may have, the largest first. If there are more, it keeps the largest, then the
    /// regions at the edges of the common span, then the next largest.
    fileprivate var ofSpec: [KeptRegion] {
        let sorted = distinct.ranked
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
    /// Whether the source's regions decide the position of the crop: the spec crops and has no position of its own.
    package var isSteered: Bool { mode == .crop && axis == .centre && extras.focus == nil }

    /// The same spec with a focus on regions, so that the stored variant records them. For a single region the focus is
    /// its middle, which means the same.
    package func keeping(_ regions: [KeptRegion]) -> VariantSpec {
        let kept = regions.ofSpec
        guard isSteered, !kept.isEmpty else { return self }
        var extras = extras
        extras.focus = .regions(kept.count == 1 ? [kept[0].middle] : kept)
        return with(extras)
    }
}

extension Orientation {
    /// Position, in the upright image, of a region of the stored image.
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
