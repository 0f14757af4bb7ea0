/// Rectangle in the pixels of an upright image; fractions are kept.
package struct Region: Sendable, Hashable {
    package let x: Double
    package let y: Double
    package let width: Double
    package let height: Double
    package init(x: Double, y: Double, width: Double, height: Double) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
    package init(whole size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    /// Takes untrusted numbers; nil if no image has such a rectangle. A side may be half a pixel: the shown part is at
    /// least one pixel, less rounding errors.
    package init?(checkingX x: Double, y: Double, width: Double, height: Double) {
        let (places, sides) = (0...Double(PixelSize.sideLimit), 0.5...Double(PixelSize.sideLimit))
        guard places.contains(x), places.contains(y), sides.contains(width), sides.contains(height) else { return nil }
        self.init(x: x, y: y, width: width, height: height)
    }
}
