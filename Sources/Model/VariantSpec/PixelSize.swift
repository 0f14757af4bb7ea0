/// Width and height in pixels.
///
/// A side is never outside `0...sideLimit`, so that no product of two sides, nor of one with a spec's, overflows: sizes
/// come from headers, messages and rows that anybody may have written.
package struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// No decoder gives a picture a longer side: they count it in 31 bits.
    package static let sideLimit = Int(Int32.max)

    package let width: Int
    package let height: Int

    /// Of numbers that were worked out here; a side beyond the limit stops there.
    package init(width: Int, height: Int) {
        (self.width, self.height) = (min(max(0, width), Self.sideLimit), min(max(0, height), Self.sideLimit))
    }

    /// Of numbers that somebody else says: nil where no picture has such a side.
    package init?(told width: Int, _ height: Int) {
        let sides = 1...Self.sideLimit
        guard sides.contains(width), sides.contains(height) else { return nil }
        (self.width, self.height) = (width, height)
    }

    package var pixels: Int { width * height }

    /// Bytes or frames for each pixel, all together: never more than 2⁵⁵, so that sums of them overflow nowhere.
    package func times(_ factor: Int) -> Int {
        let (product, isOver) = pixels.multipliedReportingOverflow(by: max(0, factor))
        return isOver ? 1 << 55 : min(product, 1 << 55)
    }

    package var description: String { "\(width)×\(height)" }
}
