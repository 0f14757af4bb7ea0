package import RenderProtocol
internal import VariantSpec

/// Finds the highest quality at which a variant stays within its byte limit, by bisection, since bytes grow with
/// quality.
package struct QualitySearch {
    /// Byte limit of the spec: exceeding it fails the variant.
    private let budget: Int?
    /// Preferred byte limit: if it cannot be kept, the variant has the requested quality.
    private let ceiling: Int
    private let quality: Int
    /// Whether another quality gives other bytes, and the pixels can be encoded again.
    private let canSearch: Bool
    /// Packet that each file carries, and that counts as its bytes.
    private let packet: [UInt8]?
    private let format: ImageFormat
    /// Lowest quality for the preferred limit: a few steps below the requested one, and never below full chroma if that
    /// was requested.
    ///
    /// Seen with a floor of 1 for a lossy source's own pixels: text came out at q2. Its AVIF source, of a newer libaom,
    /// needed a tenth of our bytes.
    private let least: Int
    private static let requestedSteps = 5
    private static let requestedFloor = 40

    /// - Parameter mayRepeat: whether the pixels can be encoded more than once.
    package init(_ output: RenderOutput, mayRepeat: Bool = true) {
        let floor = [Self.requestedFloor, FullChroma.quality].last { $0 <= output.quality } ?? output.quality
        least = max(floor, output.quality - Self.requestedSteps)
        canSearch = output.format.hasQuality && mayRepeat
        (budget, quality) = (output.extras.byteBudget, output.quality)
        (packet, format) = (output.packet, output.format)
        ceiling = canSearch ? output.ceiling : 0
    }

    /// Encodes within the limits; nil if the budget cannot be kept.
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

    /// The best encode of `low..<high` within a limit; nil if there is none.
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
