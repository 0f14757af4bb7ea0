internal import Images
package import VariantSpec

/// What a source may be before anything decodes it, and a variant before anything encodes it.
package struct RenderLimits: Sendable, Hashable {
    /// What sources may be; anything else is known by its content, and refused.
    package var formats: Set<ImageFormat>
    /// Width × height of a source, and of a variant.
    package var pixels: Int
    /// Of an animated picture, rendered or not: a decoder lists them all.
    package var frames: Int
    /// Width × height × frames of what is rendered moving: all of them are held at once.
    package var animationPixels: Int
    /// Of all frames, in milliseconds.
    package var animationDuration: Int
    /// Of a JPEG: each legal scan of a 164 kB file may touch every coefficient of 49 Mpx (694 scans: 7 s).
    package var scans: Int
    /// Of a PNG, of every kind.
    package var chunks: Int
    /// Of a colour profile, inflated; a larger one is dropped and the picture taken as sRGB.
    package var profileBytes: Int
    /// What all renders together may need (`render.memory`), of which one decoder has a part (`RenderMemory`).
    package var memory: Int
    /// Heap that one child may have, unless a setting says otherwise.
    package static let usualDataBytes = RenderMemory.leastHeap
    /// ISO Coated v2 (ECI) has 1.8 MB.
    package static let usualProfileBytes = 4 << 20

    package init(
        formats: Set<ImageFormat> = [.jpeg, .png, .webp, .gif, .avif, .heic], pixels: Int = 268_435_456,
        frames: Int = 1_000, animationPixels: Int = 50_000_000, animationDuration: Int = 120_000, scans: Int = 64,
        chunks: Int = 65_536,
        profileBytes: Int = Self.usualProfileBytes, memory: Int = 1 << 30
    ) {
        (self.formats, self.animationPixels, self.animationDuration) = (formats, animationPixels, animationDuration)
        (self.pixels, self.frames, self.scans, self.chunks) = (pixels, frames, scans, chunks)
        (self.profileBytes, self.memory) = (profileBytes, memory)
    }
}
