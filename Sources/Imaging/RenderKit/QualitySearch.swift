package import RenderProtocol
internal import VariantSpec

/// The highest quality at which a variant has no more bytes than it may: by bisection, since bytes grow with quality.
package struct QualitySearch {
    /// What a spec demands: failing it fails the variant.
    private let budget: Int?
    /// What is wished for: failing it, the variant is as asked.
    private let ceiling: Int
    private let quality: Int
    /// Another quality gives other bytes, and can be had.
    private let canSearch: Bool
    /// What each file carries, and counts as its bytes.
    private let packet: [UInt8]?
    private let format: ImageFormat
    /// The wish's lowest quality: a few steps below what was asked, and none that gives up full chroma that was asked for.
    ///
    /// Seen with a floor of 1 for a lossy source's own pixels: text in an AVIF of a newer libaom, which needs a tenth of our bytes,
    /// came out at q2.
    private let least: Int
    private static let wishedSteps = 5
    private static let wishedFloor = 40

    /// - Parameter mayRepeat: the pixels can be encoded more than once.
    package init(_ output: RenderOutput, mayRepeat: Bool = true) {
        let floor = [Self.wishedFloor, FullChroma.quality].last { $0 <= output.quality } ?? output.quality
        least = max(floor, output.quality - Self.wishedSteps)
        canSearch = output.format.hasQuality && mayRepeat
        (budget, quality) = (output.extras.byteBudget, output.quality)
        (packet, format) = (output.packet, output.format)
        ceiling = canSearch ? output.ceiling : 0
    }

    /// nil where the budget cannot be kept.
    package func run<Failure: Error>(
        _ encode: (_ quality: Int) throws(Failure) -> [UInt8]
    ) throws(Failure) -> (bytes: [UInt8], quality: Int)? {
        func whole(_ quality: Int) throws(Failure) -> [UInt8] {
            let file = try encode(quality)
            return packet.map { MetadataBlock.added($0, to: file, format) } ?? file
        }
        var best = (bytes: try whole(quality), quality: quality)
        if let budget, best.bytes.count > budget {
            guard canSearch, let found = try search(1, best.quality, budget, whole) else { return nil }
            best = found
        }
        guard ceiling > 0, best.bytes.count > ceiling, best.quality > least else { return best }
        return try search(least, best.quality, ceiling, whole) ?? best
    }

    /// The best of `low..<high` within a limit; nil if there is none.
    private func search<Failure: Error>(
        _ low: Int, _ high: Int, _ limit: Int, _ encode: (Int) throws(Failure) -> [UInt8]
    ) throws(Failure) -> (bytes: [UInt8], quality: Int)? {
        var (low, high) = (low, high)
        guard low < high else { return nil }
        var best = (bytes: try encode(low), quality: low)
        guard best.bytes.count <= limit else { return nil }
        while high - low > 1 {
            let middle = (low + high) / 2
            let bytes = try encode(middle)
            if bytes.count <= limit {
                (low, best) = (middle, (bytes, middle))
            } else {
                high = middle
            }
        }
        return best
    }
}
