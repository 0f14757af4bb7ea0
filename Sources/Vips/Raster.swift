internal import CVips
internal import ImageModel
internal import Rendering

/// One image inside libvips.
///
/// Work is lazy: pixels are computed only when something pulls them, and of a decoder only once, from top to bottom.
///
/// - Ownership: one GObject reference, given back by `deinit`; several steps may hold one raster.
/// - Concurrency: stays on the renderer's thread.
final class Raster {
    typealias Image = UnsafeMutablePointer<CVips.VipsImage>
    private let image: Image

    private init(taking image: Image) { self.image = image }
    deinit { g_object_unref(image) }

    /// Runs one operation of libvips.
    static func make(_ operation: (UnsafeMutablePointer<Image?>) -> Int32) throws(RasterFailure) -> Raster {
        var out: Image?
        guard operation(&out) == 0, let out else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        return Raster(taking: out)
    }

    func map(_ operation: (Image, UnsafeMutablePointer<Image?>) -> Int32) throws(RasterFailure) -> Raster {
        try Raster.make { operation(image, $0) }
    }

    /// Opens a picture whose format is known; nothing is decoded yet.
    ///
    /// Truncation is refused here, in the loader, since libvips's thumbnail operations ignore it there.
    static func open(
        _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, shrink: Int
    ) throws(RasterFailure) -> Raster {
        try make { out in
            switch format {
            case .jpeg: mz_vips_jpegload(bytes.baseAddress, bytes.count, Int32(shrink), out)
            case .png: mz_vips_pngload(bytes.baseAddress, bytes.count, out)
            default: mz_vips_webpload(bytes.baseAddress, bytes.count, out)
            }
        }
    }

    var size: PixelSize {
        PixelSize(width: Int(vips_image_get_width(image)), height: Int(vips_image_get_height(image)))
    }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var format: VipsBandFormat { vips_image_get_format(image) }
    var interpretation: VipsInterpretation { vips_image_get_interpretation(image) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }

    /// The embedded colour profile, while `body` runs.
    func withProfile<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
        var data: UnsafeRawPointer?
        var bytes = 0
        guard vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0,
            vips_image_get_blob(image, VIPS_META_ICC_NAME, &data, &bytes) == 0
        else { return nil }
        return body(UnsafeRawBufferPointer(start: data, count: bytes))
    }

    /// All pixels computed and held.
    func inMemory() throws(RasterFailure) -> Raster {
        guard let copy = vips_image_copy_memory(image) else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        return Raster(taking: copy)
    }

    /// Without one field of metadata.
    ///
    /// Savers' own `strip` does not do it: 8.14.1 writes EXIF and XMP, GPS included, into WebP all the same.
    func withoutMetadata() throws(RasterFailure) -> Raster {
        let bare = try map(mz_vips_copy)
        guard let names = vips_image_get_fields(bare.image) else { return bare }
        defer { g_strfreev(names) }
        var next = names
        while let name = next.pointee {
            vips_image_remove(bare.image, name)
            next += 1
        }
        return bare
    }

    /// What an encoder of libvips writes.
    func encoded(
        _ save: (Image, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>) -> Int32
    ) throws(RasterFailure) -> [UInt8] {
        var buffer: UnsafeMutableRawPointer?
        var bytes = 0
        guard save(image, &buffer, &bytes) == 0, let buffer else {
            throw RasterFailure(reason: VipsLibrary.takeError())
        }
        defer { g_free(buffer) }
        return Array(UnsafeRawBufferPointer(start: buffer, count: bytes))
    }
}

/// What libvips said when it did not do what was asked.
struct RasterFailure: Error {
    let reason: String
}
