package import VariantSpec

/// One derivative to make from a picture.
package struct RenderOrder: Sendable, Hashable {
    package let spec: VariantSpec
    /// Exactly this many pixels come out, whatever the input is.
    package let output: PixelSize
    /// What of the input to show, in the input's pixels after orientation.
    package let crop: Region
    package init(spec: VariantSpec, output: PixelSize, crop: Region) {
        (self.spec, self.output, self.crop) = (spec, output, crop)
    }
}
