package import CVips
internal import Glibc
internal import RenderKit
package import VariantSpec

/// One image inside libvips.
///
/// Work is lazy: pixels are computed only when a caller pulls them, and a decoder gives them only once, from top to
/// bottom.
///
/// - Ownership: one GObject reference, released by `deinit`; several steps may hold one raster.
/// - Concurrency: stays on the renderer's thread.
package final class Raster {
    package typealias Image = UnsafeMutablePointer<CVips.VipsImage>
    private let image: Image

    private init(taking image: Image) { self.image = image }
    deinit { g_object_unref(image) }

    /// Runs one operation of libvips.
    package static func make(_ operation: (UnsafeMutablePointer<Image?>) -> Int32) throws(RasterFailure) -> Raster {
        var out: Image?
        guard operation(&out) == 0, let out else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        return Raster(taking: out)
    }

    package func map(_ operation: (Image, UnsafeMutablePointer<Image?>) -> Int32) throws(RasterFailure) -> Raster {
        try Raster.make { operation(image, $0) }
    }

    /// Opens a picture of a known format; nothing is decoded yet.
    ///
    /// The loader refuses truncated files here, since libvips's thumbnail operations ignore truncation later.
    ///
    /// - Parameters:
    ///   - frames: frames of an animation, stacked vertically; -1: all.
    ///   - scale: scale of an SVG.
    static func open(
        _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, shrink: Int, frames: Int = 1,
        scale: Double = 1
    ) throws(RasterFailure) -> Raster {
        let frames = Int32(frames)
        return try make { out in
            switch format {
            case .jpeg: mz_vips_jpegload(bytes.baseAddress, bytes.count, Int32(shrink), out)
            case .png: mz_vips_pngload(bytes.baseAddress, bytes.count, out)
            case .webp: mz_vips_webpload(bytes.baseAddress, bytes.count, frames, 1 / Double(shrink), out)
            case .gif: mz_vips_gifload(bytes.baseAddress, bytes.count, frames, out)
            case .avif, .heic: mz_vips_heifload(bytes.baseAddress, bytes.count, out)
            case .tiff: mz_vips_tiffload(bytes.baseAddress, bytes.count, out)
            case .jxl: mz_vips_jxlload(bytes.baseAddress, bytes.count, out)
            case .svg: mz_vips_svgload(bytes.baseAddress, bytes.count, scale, out)
            }
        }
    }

    /// Wraps rows of sRGB without gaps, which must outlive the raster.
    static func borrowing(_ pixels: UnsafeRawBufferPointer, _ size: PixelSize) throws(RasterFailure) -> Raster {
        try make { out in
            out.pointee = vips_image_new_from_memory(
                pixels.baseAddress, pixels.count, Int32(size.width), Int32(size.height), 3, VIPS_FORMAT_UCHAR)
            return out.pointee == nil ? -1 : 0
        }.map(mz_vips_name_srgb)
    }

    package var size: PixelSize {
        PixelSize(width: Int(vips_image_get_width(image)), height: Int(vips_image_get_height(image)))
    }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var format: VipsBandFormat { vips_image_get_format(image) }
    var interpretation: VipsInterpretation { vips_image_get_interpretation(image) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }

    /// Calls `body` with the embedded colour profile, which is valid only during the call.
    func withProfile<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
        var data: UnsafeRawPointer?
        var bytes = 0
        guard vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0,
            vips_image_get_blob(image, VIPS_META_ICC_NAME, &data, &bytes) == 0
        else { return nil }
        return body(UnsafeRawBufferPointer(start: data, count: bytes))
    }

    /// The picture with this colour profile in place of any other.
    func tagged(_ profile: [UInt8]) throws(RasterFailure) -> Raster {
        let copy = try map(mz_vips_copy)
        vips_image_set_blob_copy(copy.image, VIPS_META_ICC_NAME, profile, profile.count)
        return copy
    }

    /// The picture with all pixels computed and held.
    package func inMemory() throws(RasterFailure) -> Raster {
        guard let copy = vips_image_copy_memory(image) else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        return Raster(taking: copy)
    }

    /// The picture without metadata.
    ///
    /// Savers' own `strip` does not work: 8.14.1 still writes EXIF and XMP, GPS included, into WebP.
    ///
    /// The frames' timing stays: it is no secret, and animations need it. The mark of a decoder that reads from top to
    /// bottom stays, too: only with this mark does libvips keep rows for its threads, and without rows it refuses to go
    /// back.
    func withoutMetadata(keepsProfile: Bool = false) throws(RasterFailure) -> Raster {
        let bare = try map(mz_vips_copy)
        guard let names = vips_image_get_fields(bare.image) else { return bare }
        defer { g_strfreev(names) }
        var next = names
        while let name = next.pointee {
            let field = String(cString: name)
            if !Self.kept.contains(field), !(keepsProfile && field == VIPS_META_ICC_NAME) {
                vips_image_remove(bare.image, name)
            }
            next += 1
        }
        return bare
    }

    private static let kept: Set<String> = ["page-height", "n-pages", "delay", "loop", VIPS_META_SEQUENTIAL]

    /// Whether its loader read a JPEG of 4:2:0; 8.14.1 reports 4:4:4 for 4:2:2.
    var isSubsampledJPEG: Bool {
        var sampling: UnsafePointer<CChar>?
        guard vips_image_get_typeof(image, "jpeg-chroma-subsample") != 0,
            vips_image_get_string(image, "jpeg-chroma-subsample", &sampling) == 0, let sampling
        else { return false }
        return String(cString: sampling) == "4:2:0"
    }

    /// The delays and loops that a loader found.
    var timing: Timing {
        var (delays, count, loops): (UnsafeMutablePointer<Int32>?, Int32, Int32) = (nil, 0, 0)
        if vips_image_get_typeof(image, "delay") == 0 || vips_image_get_array_int(image, "delay", &delays, &count) != 0
        {
            count = 0
        }
        if vips_image_get_typeof(image, "loop") == 0 || vips_image_get_int(image, "loop", &loops) != 0 { loops = 0 }
        return Timing(delays: Array(UnsafeBufferPointer(start: delays, count: Int(count))), loops: loops)
    }

    func setFrames(height: Int, delays: [Int32], loops: Int32) {
        mz_vips_set_frames(image, Int32(height), delays, Int32(delays.count), loops)
    }

    static func joined(_ frames: [Raster]) throws(RasterFailure) -> Raster {
        var images: [Image?] = frames.map(\.image)
        return try make { mz_vips_stack(&images, Int32(images.count), $0) }
    }

    func overlaid(_ top: Raster, x: Int32, y: Int32) throws(RasterFailure) -> Raster {
        try map { image, out in mz_vips_overlay(image, top.image, x, y, out) }
    }

    func cropped(x: Int, y: Int, _ size: PixelSize) throws(RasterFailure) -> Raster {
        try map { image, out in
            mz_vips_extract(image, Int32(x), Int32(y), Int32(size.width), Int32(size.height), out)
        }
    }

    /// Reads rows from top to bottom, a few at a time, so that a decoder's pixels are never all in memory.
    ///
    /// - Parameters:
    ///   - window: number of last rows that stay readable, each followed by `Canvas.slack` readable bytes.
    ///   - take: receives the end of the rows read so far, and a function from a row to the address of its column 0.
    func readRows(
        _ rows: Range<Int>, columns: Range<Int>, window: Int, _ take: (Int, (Int) -> UnsafePointer<UInt8>) -> Void
    ) throws(RasterFailure) {
        guard let region = vips_region_new(image) else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        defer { g_object_unref(region) }
        let (atOnce, pixel) = (16, Int(mz_vips_pixel_bytes(image)))
        let (left, bytes) = (columns.lowerBound * pixel, columns.count * pixel)
        let (stride, count) = (bytes + Canvas.slack, window + atOnce)
        let ring = UnsafeMutablePointer<UInt8>.allocate(capacity: count * stride)
        ring.initialize(repeating: 0, count: count * stride)
        defer { ring.deallocate() }
        for start in Swift.stride(from: rows.lowerBound, to: rows.upperBound, by: atOnce) {
            let end = min(start + atOnce, rows.upperBound)
            let part = (Int32(columns.lowerBound), Int32(start), Int32(columns.count), Int32(end - start))
            guard mz_vips_prepare(region, part.0, part.1, part.2, part.3) == 0 else {
                throw RasterFailure(reason: VipsLibrary.takeError())
            }
            for y in start..<end { memcpy(ring + y % count * stride, mz_vips_row(region, part.0, Int32(y)), bytes) }
            take(end) { UnsafePointer(ring + $0 % count * stride - left) }
        }
    }

    /// A picture with the same colours and metadata, whose pixels `body` writes, row after row without gaps.
    func written(
        as size: PixelSize, _ body: (UnsafeMutablePointer<UInt8>) throws(RasterFailure) -> Void
    ) throws(RasterFailure) -> Raster {
        let out = try map { image, out in mz_vips_memory_like(image, Int32(size.width), Int32(size.height), out) }
        guard let memory = vips_image_get_data(out.image) else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        try body(UnsafeMutableRawPointer(mutating: memory).assumingMemoryBound(to: UInt8.self))
        return out
    }

    /// Bounds of the pixels that differ from the first pixel by more than a threshold.
    func contentBounds(threshold: Double) throws(RasterFailure) -> (x: Int, y: Int, width: Int, height: Int) {
        // Copies only one pixel: a lazy picture would otherwise be computed completely.
        let first = try cropped(x: 0, y: 0, PixelSize(width: 1, height: 1))
        var corner = first.withPixels { pixels in (0..<bands).map { Double(pixels[$0]) } } ?? []
        var (x, y, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard mz_vips_find_trim(image, threshold, &corner, Int32(corner.count), &x, &y, &width, &height) == 0 else {
            throw RasterFailure(reason: VipsLibrary.takeError())
        }
        return (Int(x), Int(y), Int(width), Int(height))
    }

    /// The smallest of all its numbers.
    func least() throws(RasterFailure) -> Double {
        var least = 0.0
        guard mz_vips_least(image, &least) == 0 else { throw RasterFailure(reason: VipsLibrary.takeError()) }
        return least
    }

    /// The point that libvips's attention finds for a crop of this size.
    func attention(_ size: PixelSize) throws(RasterFailure) -> (x: Int, y: Int) {
        var (x, y): (Int32, Int32) = (0, 0)
        guard mz_vips_attention(image, Int32(size.width), Int32(size.height), &x, &y) == 0 else {
            throw RasterFailure(reason: VipsLibrary.takeError())
        }
        return (Int(x), Int(y))
    }

    /// Calls `body` with all pixels, row after row; nil if they do not fit in memory.
    func withPixels<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
        guard let held = vips_image_copy_memory(image) else { return nil }
        defer { g_object_unref(held) }
        guard let data = vips_image_get_data(held) else { return nil }
        return body(UnsafeRawBufferPointer(start: data, count: mz_vips_bytes(held)))
    }

    /// Runs an encoder of libvips and returns its bytes.
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

/// An error message of libvips.
package struct RasterFailure: Error {
    package let reason: String
}
