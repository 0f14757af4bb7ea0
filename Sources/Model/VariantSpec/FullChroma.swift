/// Limits above and below which a variant always has full chroma resolution (4:4:4). For other variants the renderer
/// decides by their pixels (`ColourEdges`).
package enum FullChroma {
    /// Lowest quality at which JPEG and AVIF always have full chroma.
    package static let quality = 90
    /// JPEG and AVIF of at most this many pixels have full chroma at any quality. Measured with JPEG at q80 (18
    /// photographs, libvips's JPEG): 27 points of SSIMULACRA2 for 16 % more bytes at 64 px, 13 points at 96 px, and 5
    /// points at 160 px.
    package static let pixels = 128 * 128
}
