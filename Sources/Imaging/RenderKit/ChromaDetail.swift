internal import CPixels
package import VariantSpec

/// A test of an image's pixels: whether chroma at half the resolution (4:2:0) would be visible.
///
/// Measured at q80 as JPEG, 700 px (SSIMULACRA2, drawings of `ops/bench render`). None of 20 photographs has colour
/// edges in more than 0.05 % of its blocks, and full chroma gains 3 points for 22 % more bytes. Coloured text, charts
/// and screenshots have them in 0.8 % to 26 %, and gain 5 to 43 points. Black text on white has none, and gains
/// nothing.
package enum ChromaDetail {
    /// Colour difference within two pixels above which an edge counts as drawn.
    private static let edge: Int32 = 96
    /// Threshold, in blocks of a thousand.
    private static let share = 5
    /// Approximate number of blocks to read: enough to detect a share of a hundredth, in a tenth of a millisecond.
    private static let sample = 65_536

    /// - Parameter pixels: rows of 8-bit RGB without gaps, with or without alpha. Other layouts have no chroma.
    package static func shows(in pixels: UnsafeRawBufferPointer, _ size: PixelSize, channels: Int) -> Bool {
        guard channels >= 3, size.width > 1, size.height > 1, pixels.count >= size.pixels * channels,
            let bytes = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return false }
        if size.pixels <= FullChroma.pixels { return true }
        let (columns, rows) = (size.width / 2, size.height / 2)
        let step = max(1, columns * rows / sample)
        let found = mz_chroma_edges(
            bytes, Int32(size.width), Int32(size.height), Int32(channels), Int32(step), edge)
        return Int(found) * 1000 >= columns * ((rows + step - 1) / step) * share
    }
}
