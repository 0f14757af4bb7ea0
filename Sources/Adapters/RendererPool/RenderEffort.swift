package import VariantSpec

/// What encoders may spend on each format: one effort for all lanes, so that what is made together of the same bytes is the same on each.
package struct RenderEffort: Sendable, Hashable {
    /// WebP's method, 0...6. 2 takes 40 % less CPU than 4 for 3 % more bytes at the same score; 3 costs like 4.
    package var webp: Int
    /// AVIF's effort, 0...9. At 640 px 1 takes 64 ms, 2 takes 125 for 1.5 % fewer bytes, 4 takes 694 for 1 % more.
    package var avif: Int
    /// PNG's compression level, 0...9, where libvips writes it; the direct path has its own.
    package var png: Int
    /// How hard a GIF's colours are chosen, 1...10.
    package var gif: Int

    package init(webp: Int = 2, avif: Int = 1, png: Int = 6, gif: Int = 7) {
        (self.webp, self.avif, self.png, self.gif) = (webp, avif, png, gif)
    }

    package subscript(format: ImageFormat) -> Int {
        switch format {
        case .webp: webp
        case .avif: avif
        case .png: png
        case .gif: gif
        default: 0
        }
    }
}
