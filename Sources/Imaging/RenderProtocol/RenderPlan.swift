internal import Images
package import VariantSpec

/// Which pixels each output of a render is made from: the same for every engine, decided before a pixel is decoded.
///
/// One decode serves all. A JPEG is decoded smaller where that shows in no output. A small output of a photograph is made
/// from a larger one that has at least twice its size.
package struct RenderPlan: Sendable, Hashable {
    /// Where an output's pixels come from.
    package enum Base: Sendable, Hashable {
        case decoded
        /// The pixels of another output, by its place in the request, before they are turned and encoded.
        case output(Int)
    }

    package struct Step: Sendable, Hashable {
        /// Place in the request.
        package var index: Int
        package var base: Base
        package var across: Extent
        package var down: Extent
        /// As stored, before orientation.
        package var size: PixelSize
        /// Whether its pixels are needed after it: by a later step, or to be turned.
        package var isKept: Bool

        package var isResampled: Bool { !across.isWhole(as: size.width) || !down.isWhole(as: size.height) }
    }

    /// 1, 2, 4 or 8: how much smaller than stored a JPEG is decoded.
    package let shrink: Int
    /// What the decoder must give.
    package let decoded: PixelSize
    /// The decoder's pixels are cut more than once.
    package let keepsDecoded: Bool
    /// An output comes after the one that it is made from.
    package let steps: [Step]

    /// How much larger than an output another must be to stand in for the decoder's pixels.
    private static let ladder = 2.0

    /// - Parameter shrink: decided before, where pixels were decoded to find what outputs show.
    package init(_ request: RenderRequest, shrink decided: Int? = nil) {
        let facts = request.facts
        let orientation = Orientation(rawValue: facts.orientation) ?? .upright
        let stored = orientation.upright(facts.size)
        let wanted = request.outputs.map { output in
            Wanted(crop: orientation.stored(output.crop, of: facts.size), size: orientation.upright(output.size))
        }
        let shrink = decided ?? request.shrink
        let decoded = Self.decoded(stored, by: shrink, of: facts.format)

        // libwebp gives all of a picture in fewer pixels.
        let whole =
            facts.format == .webp
            ? Wanted(crop: Region(whole: stored), size: decoded) : Wanted(decoded: decoded, shrunk: shrink)

        // A second resampling softens text and lines by up to 10 points (SSIMULACRA2); photographs do not show it.
        let hasLadder = facts.format.isOfCameras || decoded.pixels > RenderRequest.heldPixels
        var steps: [Step] = []
        for index in wanted.indices.sorted(by: { wanted[$0].scale > wanted[$1].scale }) {
            let own = wanted[index]
            let parent = steps.last { step in
                hasLadder
                    && wanted[step.index].stands(for: own, ladder: Self.ladder)
                    && Double(step.size.width) <= wanted[step.index].crop.width / Double(shrink)
                    && Double(step.size.height) <= wanted[step.index].crop.height / Double(shrink)
            }
            let base = parent.map { wanted[$0.index] } ?? whole
            steps.append(
                Step(
                    index: index, base: parent.map { .output($0.index) } ?? .decoded,
                    across: Extent(
                        start: (own.crop.x - base.crop.x) * base.scaleX, length: own.crop.width * base.scaleX),
                    down: Extent(
                        start: (own.crop.y - base.crop.y) * base.scaleY, length: own.crop.height * base.scaleY),
                    size: own.size,
                    isKept: orientation != .upright || request.outputs[index].extras.rotation != .upright))
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

    /// Of a JPEG a pixel at the edge that only a part of `shrink` × `shrink` stored ones fill is left out, as libvips does. Sides
    /// of a WebP are rounded, also as libvips does.
    private static func decoded(_ stored: PixelSize, by shrink: Int, of format: ImageFormat) -> PixelSize {
        func side(_ stored: Int) -> Int {
            let exact = Double(stored) / Double(shrink)
            return max(1, Int(exact.rounded(format == .webp ? .toNearestOrEven : .down)))
        }
        return PixelSize(width: side(stored.width), height: side(stored.height))
    }
}

extension RenderRequest {
    /// Of all outputs together, which the direct path has in memory at once.
    private static let directPixels = 24_000_000

    /// Whether the direct path takes it, if the JPEG's own header says that it has colours.
    package var mayGoDirect: Bool {
        facts.format == .jpeg && outputs.allSatisfy(\.isPlain)
            && outputs.reduce(0) { $0 + $1.size.pixels } <= Self.directPixels
    }

    /// Places of outputs that share a decode. Pixels that more than one is made from are held meanwhile: of a large picture each
    /// of those is decoded for itself, with what is made of it.
    package var decodes: [[Int]] {
        let all = [Array(outputs.indices)]
        guard outputs.count > 1, facts.size.pixels > Self.heldPixels,
            !outputs.contains(where: \.isResolvedByPixels)
        else { return all }
        let plan = RenderPlan(self)
        guard plan.keepsDecoded, plan.decoded.pixels > Self.heldPixels else { return all }
        var (decodes, own): ([[Int]], [Int: Int]) = ([], [:])
        for step in plan.steps {
            if case .output(let base) = step.base, let decode = own[base] {
                own[step.index] = decode
                decodes[decode].append(step.index)
            } else {
                own[step.index] = decodes.count
                decodes.append([step.index])
            }
        }
        return decodes
    }
}

/// An output in the source's stored pixels.
private struct Wanted {
    let crop: Region
    let size: PixelSize

    var scaleX: Double { Double(size.width) / crop.width }
    var scaleY: Double { Double(size.height) / crop.height }
    var scale: Double { max(scaleX, scaleY) }

    /// Whether `other` can be made from this one's pixels: it lies inside, at `ladder` times fewer pixels, less the
    /// rounding of one.
    func stands(for other: Wanted, ladder: Double) -> Bool {
        let slack = 0.001
        return other.crop.x >= crop.x - slack && other.crop.y >= crop.y - slack
            && other.crop.x + other.crop.width <= crop.x + crop.width + slack
            && other.crop.y + other.crop.height <= crop.y + crop.height + slack
            && other.crop.width * scaleX + 1 >= ladder * Double(other.size.width)
            && other.crop.height * scaleY + 1 >= ladder * Double(other.size.height)
    }
}

extension Wanted {
    /// The decoder's own pixels, each of which stands for `shrunk` × `shrunk` stored ones.
    fileprivate init(decoded: PixelSize, shrunk: Int) {
        self.init(
            crop: Region(x: 0, y: 0, width: Double(decoded.width * shrunk), height: Double(decoded.height * shrunk)),
            size: decoded)
    }
}
