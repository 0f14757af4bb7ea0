package import VariantSpec

/// Result of rendering one spec, without the bytes.
package struct Rendition: Sendable, Hashable {
    package var size: PixelSize
    package var hasAlpha: Bool
    package var frames: Int
    /// Quality that was written; lower than requested if the spec has a byte budget.
    package var quality: Int
    /// Part of the input that is shown, in the input's upright pixels; nil: exactly the requested part.
    package var crop: Region?
    /// ThumbHash of the result; empty if none was computed.
    package var placeholder: [UInt8]
    package var colour: RGB?
    /// Whether the input's decode has colour edges as drawings have them; nil: not looked at.
    package var isOfDrawing: Bool?

    package init(
        size: PixelSize, hasAlpha: Bool, frames: Int = 1, quality: Int, crop: Region? = nil, placeholder: [UInt8] = [],
        colour: RGB? = nil, isOfDrawing: Bool? = nil
    ) {
        (self.size, self.hasAlpha, self.frames, self.quality) = (size, hasAlpha, frames, quality)
        (self.crop, self.placeholder, self.colour) = (crop, placeholder, colour)
        self.isOfDrawing = isOfDrawing
    }
}
