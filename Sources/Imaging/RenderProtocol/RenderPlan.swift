internal import Images
package import VariantSpec

/// Decides which pixels each output of a render is derived from: the same for every engine, and before any pixel is
/// decoded.
///
/// One decode serves all outputs. A JPEG is decoded at a smaller scale if no output shows it. A small output of a
/// photograph is derived from a larger output of at least twice its size.
package struct RenderPlan: Sendable, Hashable {
    /// The pixels that an output is derived from.
    package enum Base: Sendable, Hashable {
        case decoded
        /// Pixels of another output, by its index in the request, before they are turned and encoded.
        case output(Int)
    }

    package struct Step: Sendable, Hashable {
        /// Index in the request.
        package var index: Int
        package var base: Base
        package var across: Extent
        package var down: Extent
        /// Size as stored, before orientation.
        package var size: PixelSize
        /// Whether its pixels are needed afterwards: by a later step, or for turning.
        package var isKept: Bool

        package var isResampled: Bool { !across.isWhole(as: size.width) || !down.isWhole(as: size.height) }
    }

    /// Scale of a JPEG's decode: 1, 2, 4 or 8 times smaller than stored.
    package let shrink: Int
    /// Size that the decoder must return.
    package let decoded: PixelSize
    /// Whether the decoder's pixels are used more than once.
    package let keepsDecoded: Bool
    /// Steps in order: an output comes after the one it is derived from.
    package let steps: [Step]

    /// How much larger than an output another must be to replace the decoder's pixels.
    private static let ladder = 2.0

    /// - Parameter shrink: the scale, if an earlier decode has already resolved the outputs.
    package init(_ request: RenderRequest, shrink decided: Int? = nil) {
        let facts = request.facts
        let orientation = Orientation(rawValue: facts.orientation) ?? .upright
        let stored = orientation.upright(facts.size)
        let wanted = request.outputs.map { output in
            Wanted(crop: orientation.stored(output.crop, of: facts.size), size: orientation.upright(output.size))
        }
        let shrink = decided ?? request.shrink
        let decoded = Self.decoded(stored, by: shrink, of: facts.format)

        // libwebp returns the whole picture in fewer pixels.
        let whole =
            facts.format == .webp
            ? Wanted(crop: Region(whole: stored), size: decoded) : Wanted(decoded: decoded, shrunk: shrink)

        // A second resampling softens text and lines by up to 10 points (SSIMULACRA2); photographs do not show it.
        let hasLadder = facts.format.isOfCameras || !request.mayHold(shrink: shrink)
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

    /// Size of the decoded picture. As in libvips, a JPEG loses edge pixels that only a part of `shrink` × `shrink`
    /// stored ones fill, and the sides of a WebP are rounded.
    private static func decoded(_ stored: PixelSize, by shrink: Int, of format: ImageFormat) -> PixelSize {
        func side(_ stored: Int) -> Int {
            let exact = Double(stored) / Double(shrink)
            return max(1, Int(exact.rounded(format == .webp ? .toNearestOrEven : .down)))
        }
        return PixelSize(width: side(stored.width), height: side(stored.height))
    }
}

extension RenderRequest {
    /// Most pixels of all outputs together, which the direct path has in memory at once.
    private static let directPixels = 24_000_000

    /// Whether the direct path may take it, if the JPEG's own header shows a colour picture.
    package var mayGoDirect: Bool {
        facts.format == .jpeg && outputs.allSatisfy(\.isPlain)
            && outputs.reduce(0) { $0 + $1.size.pixels } <= Self.directPixels
    }

    /// Indexes of outputs that share a decode. Pixels that several outputs are derived from are held in memory. So for
    /// a large picture each such output has its own decode, together with the outputs derived from it.
    package var decodes: [[Int]] {
        let all = [Array(outputs.indices)]
        guard outputs.count > 1, !mayHold(shrink: 1), !outputs.contains(where: \.isResolvedByPixels)
        else { return all }
        let plan = RenderPlan(self)
        guard plan.keepsDecoded, !mayHold(shrink: plan.shrink) else { return all }
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

    /// Whether `other` can be derived from this one's pixels: it lies inside, at `ladder` times fewer pixels, with a
    /// tolerance of one for rounding.
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
    /// The decoder's own pixels, each of which covers `shrunk` × `shrunk` stored ones.
    fileprivate init(decoded: PixelSize, shrunk: Int) {
        self.init(
            crop: Region(x: 0, y: 0, width: Double(decoded.width * shrunk), height: Double(decoded.height * shrunk)),
            size: decoded)
    }
}
