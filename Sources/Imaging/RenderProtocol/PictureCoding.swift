package import VariantSpec

/// The coding of a picture, as far as it decides how much a decoder holds at once, at any scale.
///
/// Each coefficient was measured with a whole pipeline around the decoder: libvips 8.14.1, libjpeg-turbo 2.1.5, libwebp
/// 1.2.4, and libheif 1.15.1 with libde265 1.0.11 and libaom 3.6.
package enum PictureCoding: Sendable, Hashable {
    /// Row by row: a JPEG of one scan, a PNG without interlacing.
    case rows
    /// A JPEG of several scans. All of its coefficients stay until the last scan, two bytes each: 201 MB for 67 Mpx in
    /// 4:2:0, 403 MB in 4:4:4. `samples`: of all components, for each `pixels`.
    case coefficients(samples: Int, pixels: Int)
    /// Seven passes over all pixels: 155 MiB for 49 Mpx with three bytes each.
    case interlaced(bytesPerPixel: Int)
    /// VP8: rows of blocks, but a whole plane of alpha and its filter.
    case lossyWebP(hasAlpha: Bool)
    /// VP8L: all pixels in 32 bits, with a cache of colours: 4.7 bytes for each of 16.8 Mpx.
    case losslessWebP
    /// All pixels of the canvas in 32 bits: 4.4 bytes for each of 67 Mpx. The same again if frames are restored, or if
    /// a canvas is bare.
    case gif(canvases: Int)
    /// AVIF and HEIC: the codec's planes, libheif's, and pixels. Eight bits in 4:2:0 take 6.5 bytes a pixel, in an
    /// AVIF's 4:4:4 12.5, and ten bits in 4:2:0 14.3; alpha takes two bytes more. A HEIC takes no more in 4:2:2 or
    /// 4:4:4: 325 MiB for 49 Mpx with eight bits, 316 MiB for 25 Mpx with ten.
    case planes(isSubsampled: Bool, isDeep: Bool, hasAlpha: Bool)
    /// Strips and tiles of a TIFF may be as large as the picture.
    case strips
    /// JPEG XL, whose decoder computes in floating-point numbers.
    case floats

    /// Bytes that the decoder of a picture of this size holds at once.
    package func bytes(of size: PixelSize) -> Int {
        switch self {
        case .rows, .lossyWebP(hasAlpha: false): 0
        case .coefficients(let samples, let pixels): size.times(2 * samples) / max(1, pixels)
        case .interlaced(let bytes): size.times(bytes)
        case .lossyWebP: size.times(2)
        case .losslessWebP: size.times(5)
        case .gif(let canvases): size.times(4 * canvases)
        case .planes(let isSubsampled, let isDeep, let hasAlpha):
            // In halves of a byte.
            size.times(
                isDeep
                    ? (isSubsampled ? 29 : 54) + (hasAlpha ? 8 : 0) : (isSubsampled ? 13 : 25) + (hasAlpha ? 4 : 0)) / 2
        case .strips: size.times(6)
        case .floats: size.times(16)
        }
    }
}
