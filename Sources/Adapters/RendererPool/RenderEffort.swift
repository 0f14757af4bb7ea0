package import ImageModel
package import VariantSpec

/// What encoders may spend on each lane.
package struct RenderEffort: Sendable, Hashable {
    /// WebP's method, 0...6. 2 takes 40 % less CPU than 4 for 3 % more bytes at the same score; 3 costs like 4.
    package var webpFast: Int
    package var webpSlow: Int
    /// AVIF's effort, 0...9. At 640 px 1 takes 64 ms, 2 takes 125 for 1.5 % fewer bytes, 4 takes 694 for 1 % more.
    package var avifFast: Int
    package var avifSlow: Int
    /// PNG's compression level, 0...9, where libvips writes it; the direct path has its own.
    package var png: Int
    /// How hard a GIF's colours are chosen, 1...10.
    package var gif: Int
    package init(
        webpFast: Int = 2, webpSlow: Int = 4, avifFast: Int = 1, avifSlow: Int = 2, png: Int = 6, gif: Int = 7
    ) {
        (self.webpFast, self.webpSlow, self.avifFast, self.avifSlow) = (webpFast, webpSlow, avifFast, avifSlow)
        (self.png, self.gif) = (png, gif)
    }

    package func effort(for format: ImageFormat, on lane: Lane) -> Int {
        switch format {
        case .webp: lane.isUrgent ? webpFast : webpSlow
        case .avif: lane.isUrgent ? avifFast : avifSlow
        case .png: png
        case .gif: gif
        default: 0
        }
    }
}
