package import VariantSpec

/// Order to render one variant of an image.
package struct RenderOrder: Sendable, Hashable {
    package let spec: VariantSpec
    /// Size of the output, exact for every input.
    package let output: PixelSize
    /// Part of the input to show, in the input's pixels after orientation.
    package let crop: Region
    package init(spec: VariantSpec, output: PixelSize, crop: Region) {
        (self.spec, self.output, self.crop) = (spec, output, crop)
    }
}
