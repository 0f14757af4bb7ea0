package import VariantSpec

/// What came out of a render for one spec, beside the bytes.
package struct Rendition: Sendable, Hashable {
    package var size: PixelSize
    package var hasAlpha: Bool
    package var frames: Int
    /// What it was written at: less than asked where a byte budget was.
    package var quality: Int
    /// What of the input it shows, in the input's upright pixels; nil: just what was asked.
    package var crop: Region?
    /// A ThumbHash of what it shows; empty where none was made.
    package var placeholder: [UInt8]
    package var colour: RGB?

    package init(
        size: PixelSize, hasAlpha: Bool, frames: Int = 1, quality: Int, crop: Region? = nil, placeholder: [UInt8] = [],
        colour: RGB? = nil
    ) {
        (self.size, self.hasAlpha, self.frames, self.quality) = (size, hasAlpha, frames, quality)
        (self.crop, self.placeholder, self.colour) = (crop, placeholder, colour)
    }
}
