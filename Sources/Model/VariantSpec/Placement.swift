/// Result of applying a spec to a source of known size: the output's size, and the part of the source that it shows.
package struct Placement: Sendable, Hashable {
    package let output: PixelSize
    /// Part of the source that is shown, in source pixels after orientation.
    package let region: Region
    package init(output: PixelSize, region: Region) { (self.output, self.region) = (output, region) }

    /// Output pixels for each source pixel; above 1 the image is enlarged.
    package var scaleX: Double { Double(output.width) / region.width }
    package var scaleY: Double { Double(output.height) / region.height }
}
