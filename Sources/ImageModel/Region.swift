/// A rectangle in the pixels of an upright picture; fractions are kept.
package struct Region: Sendable, Hashable {
    package let x: Double
    package let y: Double
    package let width: Double
    package let height: Double
    package init(x: Double, y: Double, width: Double, height: Double) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
    package init(whole size: PixelSize) { self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height)) }
}
