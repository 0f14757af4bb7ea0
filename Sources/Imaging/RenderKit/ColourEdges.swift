internal import CPixels
package import VariantSpec

/// A count of the colour edges in an image, from a sample of its rows. Coloured text, charts and screenshots have them.
///
/// Measured in blocks of a thousand, on 39 photographs and 20 drawings (`mezzotint-bench drawings`, 1,400 px, JPEG), black
/// text left out. In a decode of 480 px or more photographs have them in at most 1.9 at any scale (one in 4:2:2 in more),
/// and drawings in 8 or more; line art and screens decoded from half the chroma in 1 to 4. Variants of 480 px and decodes
/// of 350 px overlap: photographs have up to 6, and some screens and line art none.
package struct ColourEdges: Sendable, Hashable {
    /// Colour difference between two pixels above which an edge counts as drawn.
    private static let edge: Int32 = 96
    /// Most blocks to read, in about a tenth of a millisecond. Twice to four times as many cost 3 % of a JPEG's render.
    private static let sample = 32_768
    /// Long side below which a smaller image of a drawing may have lost its edges.
    private static let leastSide = 480
    /// Rows of a decode with one pair.
    private static let rowsPerPair = 8

    private let size: PixelSize
    private let channels: Int
    /// Distance of a pair's rows, and of the pixels that are compared.
    private let apart: Int
    /// Blocks in a pair of rows.
    private let blocks: Int
    /// Pairs of rows for each pair that is read.
    private let step: Int
    private var (offered, read, found) = (0, 0, 0)

    private init(_ size: PixelSize, pairs: Int, channels: Int, apart: Int) {
        (self.size, self.channels, self.apart) = (size, channels, apart)
        blocks = size.width / (2 * apart)
        step = max(1, (blocks * pairs + Self.sample - 1) / Self.sample)
    }

    /// Begins a count in a decode, whose rows `take` gets.
    ///
    /// - Parameters:
    ///   - channels: fewer than three have no colour edges.
    ///   - hasHalfChroma: whether the file has fewer columns of chroma than the decode has pixels.
    package init(decodedAt size: PixelSize, channels: Int = 3, hasHalfChroma: Bool) {
        self.init(
            size, pairs: size.height / Self.rowsPerPair, channels: channels, apart: hasHalfChroma ? 2 : 1)
    }

    /// Counts in an image: rows of 8-bit RGB without gaps, with or without alpha. Fewer channels have no colour edges.
    package init(in pixels: UnsafeRawBufferPointer, _ size: PixelSize, channels: Int) {
        self.init(size, pairs: size.height / 2, channels: channels, apart: 1)
        guard pixels.count >= size.pixels * channels,
            let bytes = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return }
        let row = size.width * channels
        for pair in 0..<size.height / 2 { take(bytes + 2 * pair * row, bytes + (2 * pair + 1) * row) }
    }

    /// Takes pairs from the next rows of a decode.
    ///
    /// - Parameters:
    ///   - end: end of the rows so far; the last eight or more are readable.
    ///   - row: address of a row's 8-bit RGB, with or without alpha.
    package mutating func take(rowsUpTo end: Int, _ row: (Int) -> UnsafePointer<UInt8>) {
        while (offered + 1) * Self.rowsPerPair <= end {
            let above = offered * Self.rowsPerPair
            take(row(above), row(above + apart))
        }
    }

    private mutating func take(_ above: UnsafePointer<UInt8>, _ below: UnsafePointer<UInt8>) {
        if channels >= 3, offered % step == 0 {
            found += mz_chroma_edges(above, below, blocks, channels, apart, Self.edge)
            read += blocks
        }
        offered += 1
    }

    /// Whether chroma at half the resolution (4:2:0) would be visible, as in any small image.
    ///
    /// Measured at q80 as JPEG, 700 px (SSIMULACRA2, drawings of `ops/bench render`): on photographs full chroma gains 3
    /// points for 22 % more bytes, and on coloured text, charts and screenshots 5 to 43 points. Black text on white has
    /// no colour edges, and gains nothing.
    package var needFullChroma: Bool { channels >= 3 && (size.pixels <= FullChroma.pixels || exceed(5)) }

    /// Whether the decode is of a drawing, whose variants lose too much as donors; nil if no block of it was read, or if it
    /// is too small to show that. Without colours it has no colour edges.
    ///
    /// - Parameter isShrunk: whether the decode is smaller than its source.
    package func areOfDrawing(isShrunk: Bool) -> Bool? {
        guard channels >= 3 else { return false }
        if exceed(2) { return true }
        return read == 0 || isShrunk && max(size.width, size.height) < Self.leastSide ? nil : false
    }

    private func exceed(_ thousandths: Int) -> Bool { found > 0 && found * 1000 >= read * thousandths }
}
