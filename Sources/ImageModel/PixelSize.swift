/// Width and height in pixels.
package struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    package let width: Int
    package let height: Int
    package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    package var pixels: Int { width * height }
    package var description: String { "\(width)×\(height)" }
}
