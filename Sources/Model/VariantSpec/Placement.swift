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
