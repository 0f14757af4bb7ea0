/// Width and height in pixels.
package struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    package let width: Int
    package let height: Int
    package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    package var pixels: Int { width * height }
    package var description: String { "\(width)×\(height)" }
}

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

/// What a spec means for a source of known size: the pixels that come out, and what of the source they show.
package struct Placement: Sendable, Hashable {
    package let output: PixelSize
    /// In source pixels, after orientation.
    package let region: Region
    package init(output: PixelSize, region: Region) { (self.output, self.region) = (output, region) }

    /// Output pixels for a source pixel; above 1 the picture is enlarged.
    package var scaleX: Double { Double(output.width) / region.width }
    package var scaleY: Double { Double(output.height) / region.height }
}
