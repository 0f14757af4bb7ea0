package import VariantSpec

/// The coding of a picture, as far as it decides how much a decoder holds at once, at any scale.
///
/// Each coefficient was measured with a whole pipeline around the decoder: libvips 8.14.1, libjpeg-turbo 2.1.5, libwebp 1.2.4, and
/// libheif 1.15.1 with libde265 1.0.11 and dav1d 1.0.
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
    /// AVIF and HEIC: the codec's planes, libheif's, and pixels. Eight bits of 4:2:0 in tiles take 6.5 bytes a pixel, of an AVIF's
    /// 4:4:4 13.6, ten bits of 4:2:0 14.3; alpha two bytes more. A HEIC takes no more in one frame, in 4:2:2 or 4:4:4: 325
    /// MiB of 49 Mpx with eight bits, 316 of 25 Mpx with ten. `isOneFrame`: an AVIF without tiles. Its decoder's stacks and
    /// freed blocks stay until it ends, which `RLIMIT_DATA` counts: 8.7 bytes a pixel, 10.9 with alpha, 14.8 in 4:4:4 or with ten
    /// bits (slopes of VmData from 12 to 49 Mpx, by avifenc 0.11 with two threads).
    case planes(isSubsampled: Bool, isDeep: Bool, hasAlpha: Bool, isOneFrame: Bool = false)
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
        case .planes(let isSubsampled, let isDeep, let hasAlpha, let isOneFrame):
            // In quarters of a byte.
            size.times(
                isDeep
                    ? (isSubsampled ? (isOneFrame ? 60 : 58) : 108) + (hasAlpha ? 16 : 0)
                    : (isSubsampled ? (isOneFrame ? 34 : 29) : isOneFrame ? 58 : 55) + (hasAlpha ? 9 : 0)) / 4
        case .strips: size.times(6)
        case .floats: size.times(16)
        }
    }
}
