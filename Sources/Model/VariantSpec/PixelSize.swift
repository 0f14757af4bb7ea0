/// Width and height in pixels.
///
/// A side is never outside `0...sideLimit`, so that no product of two sides, nor of a side with a spec's, overflows.
/// Sizes come from headers, messages and rows that anybody may have written.
package struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// Longest side that a decoder can report, because decoders count sides in 31 bits.
    package static let sideLimit = Int(Int32.max)

    package let width: Int
    package let height: Int

    /// Takes computed numbers; a side beyond the limit is cut to it.
    package init(width: Int, height: Int) {
        (self.width, self.height) = (min(max(0, width), Self.sideLimit), min(max(0, height), Self.sideLimit))
    }

    /// Takes untrusted numbers; nil if no image has such a side.
    package init?(checking width: Int, _ height: Int) {
        let sides = 1...Self.sideLimit
        guard sides.contains(width), sides.contains(height) else { return nil }
        (self.width, self.height) = (width, height)
    }

    package var pixels: Int { width * height }

    /// Total of bytes or frames for all pixels, at most 2⁵⁵, so that sums of totals never overflow.
    package func times(_ factor: Int) -> Int {
        let (product, isOver) = pixels.multipliedReportingOverflow(by: max(0, factor))
        return isOver ? 1 << 55 : min(product, 1 << 55)
    }

    package var description: String { "\(width)×\(height)" }
}
