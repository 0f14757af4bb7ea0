/// The variants that always have chroma at the full resolution (4:4:4). The renderer decides about the others by their
/// pixels (`ChromaDetail`).
package enum FullChroma {
    /// The lowest quality of JPEG and AVIF that always has full chroma.
    package static let quality = 90
    /// JPEG and AVIF of at most this many pixels have full chroma at any quality: at q80 as JPEG it wins 27 points
    /// (SSIMULACRA2) for 16 % more bytes in photographs of 64 px, 13 points at 96 px, and 5 points at 160 px (18 photographs,
    /// libvips's JPEG).
    package static let pixels = 128 * 128
}
