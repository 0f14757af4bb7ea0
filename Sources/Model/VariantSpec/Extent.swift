/// Part of an image that is shown along one axis, in the image's pixels. Fractions are kept until pixels are resampled.
package struct Extent: Sendable, Hashable {
    package var start: Double
    package var length: Double

    package init(start: Double, length: Double) { (self.start, self.length) = (start, length) }

    /// The same extent measured from the other end of a side of `bound` pixels.
    package func mirrored(in bound: Int) -> Extent { Extent(start: Double(bound) - start - length, length: length) }

    /// Range of all pixels that the extent touches, of a side of `bound` pixels.
    package func wholePixels(of bound: Int) -> Range<Int> {
        let slack = 1e-6
        let first = min(max(0, Int((start + slack).rounded(.down))), bound - 1)
        return first..<min(max(first + 1, Int((start + length - slack).rounded(.up))), bound)
    }

    /// Whether the extent is `count` whole pixels, within rounding errors. Shown as `count` pixels, they are copied,
    /// not resampled.
    package func isWhole(as count: Int) -> Bool {
        let slack = 1e-6
        return abs(length - Double(count)) < slack && abs(start - start.rounded()) < slack
    }
}

extension Region {
    package var across: Extent { Extent(start: x, length: width) }
    package var down: Extent { Extent(start: y, length: height) }

    /// Whether an image's own pixels are shown as `size`, so that nothing is resampled.
    package func isWhole(as size: PixelSize) -> Bool {
        across.isWhole(as: size.width) && down.isWhole(as: size.height)
    }
}
