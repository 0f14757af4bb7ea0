internal import Ports
package import RenderProtocol
package import VariantSpec

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

    /// What of a base an output shows, along one axis.
    package struct AxisCrop: Sendable, Hashable {
        /// The whole pixels to cut out.
        package var start: Int
        package var count: Int
        /// What they stand for, in pixels of the base: where it begins, and how long it is.
        package var exactStart: Double
        package var exactLength: Double
    }

    package struct Step: Sendable, Hashable {
        /// Place in the request.
        package var index: Int
        package var base: Base
        package var across: AxisCrop
        package var down: AxisCrop
        /// As stored, before orientation.
        package var size: PixelSize
        /// Whether its pixels are needed after it: by a later step, or to be turned.
        package var isKept: Bool

        package var isResampled: Bool { across.count != size.width || down.count != size.height }

        /// How far its whole pixels lie beside what they stand for, in pixels that come out, where these are fewer.
        package var drift: Double { max(across.drift(to: size.width), down.drift(to: size.height)) }
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

        var steps: [Step] = []
        for index in wanted.indices.sorted(by: { wanted[$0].scale > wanted[$1].scale }) {
            let own = wanted[index]
            let parent = steps.last { step in
                wanted[step.index].stands(for: own, ladder: Self.ladder)
                    && Double(step.size.width) <= wanted[step.index].crop.width / Double(shrink)
                    && Double(step.size.height) <= wanted[step.index].crop.height / Double(shrink)
            }
            let base = parent.map { wanted[$0.index] } ?? whole
            steps.append(
                Step(
                    index: index, base: parent.map { .output($0.index) } ?? .decoded,
                    across: AxisCrop(
                        own.crop.x - base.crop.x, own.crop.width, base.scaleX, of: base.size.width, to: own.size.width),
                    down: AxisCrop(
                        own.crop.y - base.crop.y, own.crop.height, base.scaleY, of: base.size.height,
                        to: own.size.height),
                    size: own.size, isKept: orientation != .upright))
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

extension RenderPlan.AxisCrop {
    fileprivate func drift(to output: Int) -> Double {
        guard exactLength > Double(output) else { return 0 }
        let middles = (Double(start) + Double(count) / 2, exactStart + exactLength / 2)
        return abs(middles.0 - middles.1) * Double(output) / exactLength
    }

    /// The pixels of a base that stand nearest to what is wanted of it.
    ///
    /// To be reduced, they have the same middle to a quarter of a pixel, and as many of them as come out: a resampler
    /// that works from the middle then has neither a shift nor a stretch. To be enlarged, they are all that are touched.
    fileprivate init(_ start: Double, _ length: Double, _ scale: Double, of bound: Int, to output: Int) {
        (exactStart, exactLength) = (start * scale, length * scale)
        let end = exactStart + exactLength
        let slack = 1e-6
        var best = (start: Int((exactStart + slack).rounded(.down)), end: Int((end - slack).rounded(.up)))
        let shrink = exactLength / Double(output)
        if shrink > 1 {
            let middle = exactStart + exactLength / 2
            var error = Double.infinity
            for count in Set([exactLength.rounded(.down), exactLength.rounded(.up)]).sorted() {
                let from = (middle - count / 2).rounded()
                let own = abs(from + count / 2 - middle)
                guard abs(count - exactLength) < shrink / 2, count >= 1, own < error - slack else { continue }
                (best, error) = ((Int(from), Int(from + count)), own)
            }
        }
        self.start = min(max(0, best.start), bound - 1)
        count = min(max(self.start + 1, best.end), bound) - self.start
    }
}
