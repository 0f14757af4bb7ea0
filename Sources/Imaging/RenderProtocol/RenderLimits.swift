internal import Images
package import VariantSpec

/// Limits of a source before decoding, and of a variant before encoding.
package struct RenderLimits: Sendable, Hashable {
    /// Accepted source formats, detected by content; others are refused.
    package var formats: Set<ImageFormat>
    /// Maximum width × height of a source, and of a variant.
    package var pixels: Int
    /// Maximum frames of an animated picture, rendered or not: a decoder lists them all.
    package var frames: Int
    /// Maximum width × height × frames of an animated variant: all frames are held at once.
    package var animationPixels: Int
    /// Maximum duration of all frames, in milliseconds.
    package var animationDuration: Int
    /// Maximum scans of a JPEG: each legal scan of a 164 kB file may touch every coefficient of 49 Mpx (694 scans: 7
    /// s).
    package var scans: Int
    /// Maximum chunks of a PNG, of every type.
    package var chunks: Int
    /// Maximum bytes of a colour profile, inflated; a larger one is dropped and the picture counts as sRGB.
    package var profileBytes: Int
    /// Memory for all renders together (`render.memory`), of which one decoder may use a part (`RenderMemory`).
    package var memory: Int
    /// Heap limit of one renderer, unless a setting changes it.
    package static let usualDataBytes = RenderMemory.leastHeap
    /// Limit of colour profiles: ISO Coated v2 (ECI) has 1.8 MB.
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
