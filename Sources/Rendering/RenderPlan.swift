package import ImageModel
internal import Ports

/// Which pixels each output of a render is made from: the same for every engine, decided before a pixel is decoded.
///
/// One decode serves all. A JPEG is decoded smaller where that shows in no output, and a small output is made from a
/// larger one where that is at least twice its size.
package struct RenderPlan: Sendable, Hashable {
    /// Where an output's pixels come from.
    package enum Base: Sendable, Hashable {
        case decoded
        /// The pixels of another output, by its place in the request, before they are turned and encoded.
        case output(Int)
    }

    /// Whole pixels of a base.
    package struct Cut: Sendable, Hashable {
        package var x: Int
        package var y: Int
        package var size: PixelSize
    }

    package struct Step: Sendable, Hashable {
        /// Place in the request.
        package var index: Int
        package var base: Base
        package var cut: Cut
        /// As stored, before orientation.
        package var size: PixelSize
        /// Whether its pixels are needed after it: by a later step, or to be turned.
        package var isKept: Bool
    }

    /// 1, 2, 4 or 8: how much smaller than stored a JPEG is decoded.
    package let shrink: Int
    /// What the decoder must give: a pixel at the edge that only a part of `shrink` × `shrink` stored ones fill is left
    /// out, as libvips does.
    package let decoded: PixelSize
    /// The decoder's pixels are cut more than once.
    package let keepsDecoded: Bool
    /// An output comes after the one that it is made from.
    package let steps: [Step]

    /// What a decode must leave above an output. 1.0 costs up to 17 points (SSIMULACRA2) on single pictures, 2.0 wins
    /// 0.04 points for 40 % more CPU.
    private static let margin = 1.25
    /// How much larger than an output another must be to stand in for the decoder's pixels.
    private static let ladder = 2.0

    package init(_ request: RenderRequest) {
        let facts = request.facts
        let orientation = Orientation(rawValue: facts.orientation) ?? .upright
        let stored = orientation.upright(facts.size)
        let wanted = request.outputs.map { output in
            Wanted(cut: orientation.stored(output.cut, of: facts.size), size: orientation.upright(output.size))
        }
        let canShrink = facts.format == .jpeg && !request.isReuse
        let shrink = canShrink ? [8, 4, 2].first { n in wanted.allSatisfy { $0.isServed(by: n, margin: Self.margin) } } ?? 1 : 1
        let decoded = PixelSize(width: max(1, stored.width / shrink), height: max(1, stored.height / shrink))

        var steps: [Step] = []
        for index in wanted.indices.sorted(by: { wanted[$0].scale > wanted[$1].scale }) {
            let own = wanted[index]
            let parent = steps.last { step in
                wanted[step.index].stands(for: own, ladder: Self.ladder)
                    && Double(step.size.width) <= wanted[step.index].cut.width / Double(shrink)
                    && Double(step.size.height) <= wanted[step.index].cut.height / Double(shrink)
            }
            let cut = parent.map { own.cut(in: wanted[$0.index]) } ?? own.cut(shrunk: shrink, in: decoded)
            steps.append(Step(
                index: index, base: parent.map { .output($0.index) } ?? .decoded, cut: cut, size: own.size,
                isKept: orientation != .upright))
        }
        for i in steps.indices {
            let index = steps[i].index
            if steps.contains(where: { $0.base == .output(index) }) { steps[i].isKept = true }
        }
        self.shrink = shrink
        self.decoded = decoded
        self.steps = steps
        keepsDecoded = steps.count { $0.base == .decoded } > 1
    }
}

/// An output in the source's stored pixels.
private struct Wanted {
    let cut: Region
    let size: PixelSize

    var scaleX: Double { Double(size.width) / cut.width }
    var scaleY: Double { Double(size.height) / cut.height }
    var scale: Double { max(scaleX, scaleY) }

    func isServed(by shrink: Int, margin: Double) -> Bool {
        cut.width / Double(shrink) >= margin * Double(size.width)
            && cut.height / Double(shrink) >= margin * Double(size.height)
    }

    /// Whether `other` can be made from this one's pixels: it lies inside, at `ladder` times fewer pixels, less the
    /// rounding of one.
    func stands(for other: Wanted, ladder: Double) -> Bool {
        let slack = 0.001
        return other.cut.x >= cut.x - slack && other.cut.y >= cut.y - slack
            && other.cut.x + other.cut.width <= cut.x + cut.width + slack
            && other.cut.y + other.cut.height <= cut.y + cut.height + slack
            && other.cut.width * scaleX + 1 >= ladder * Double(other.size.width)
            && other.cut.height * scaleY + 1 >= ladder * Double(other.size.height)
    }

    func cut(shrunk: Int, in decoded: PixelSize) -> RenderPlan.Cut {
        .snapped(cut.x, cut.y, cut.width, cut.height, 1 / Double(shrunk), 1 / Double(shrunk), in: decoded)
    }

    func cut(in parent: Wanted) -> RenderPlan.Cut {
        .snapped(
            cut.x - parent.cut.x, cut.y - parent.cut.y, cut.width, cut.height, parent.scaleX, parent.scaleY,
            in: parent.size)
    }
}

extension RenderPlan.Cut {
    /// The whole pixels nearest to a rectangle, at least one, inside `bounds`.
    fileprivate static func snapped(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ scaleX: Double, _ scaleY: Double,
        in bounds: PixelSize
    ) -> Self {
        func side(_ start: Double, _ length: Double, _ scale: Double, _ limit: Int) -> (Int, Int) {
            let from = min(max(0, Int((start * scale).rounded())), limit - 1)
            let to = min(max(from + 1, Int(((start + length) * scale).rounded())), limit)
            return (from, to - from)
        }
        let (left, across) = side(x, width, scaleX, bounds.width)
        let (top, down) = side(y, height, scaleY, bounds.height)
        return Self(x: left, y: top, size: PixelSize(width: across, height: down))
    }
}
