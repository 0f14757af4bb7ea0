internal import CVips
internal import ImageModel
internal import RenderProtocol
internal import RendererPool
internal import VariantSpec
internal import Vips

/// libvips as one would call it without us: a thumbnail, and smaller ones of it.
enum BareLibvips {
    /// - Failure: libvips's own sentence.
    static func start(_ formats: [ImageFormat]) throws(BareFailure) {
        do throws(EngineFailure) { try VipsLibrary.start(Set(formats + [.jpeg, .png])) } catch {
            throw BareFailure(reason: "\(error)")
        }
    }

    /// 1280 and 640 inside, 160 cropped, of one decode, each in every format, at the effort of our fast lane.
    static func render(
        _ source: UnsafeRawBufferPointer, _ formats: [ImageFormat], quality: Int
    ) throws(BareFailure) -> [[UInt8]] {
        do throws(RasterFailure) {
            let large = try Raster.make { mz_vips_thumbnail(source.baseAddress, source.count, 1280, 1280, 0, $0) }
                .inMemory()
            let middle = try large.map { image, out in mz_vips_thumbnail_image(image, 640, 640, 0, out) }.inMemory()
            let small = try middle.map { image, out in mz_vips_thumbnail_image(image, 160, 160, 1, out) }.inMemory()
            var files: [[UInt8]] = []
            for raster in [large, middle, small] {
                for format in formats {
                    let output = RenderOutput(
                        format: format, quality: quality, effort: format.output?.effort ?? 0,
                        size: raster.size, crop: Region(whole: raster.size))
                    files.append(try raster.encoded(as: output))
                }
            }
            return files
        } catch {
            throw BareFailure(reason: error.reason)
        }
    }
}

/// Why the bare loop stopped, in libvips's words.
struct BareFailure: Error {
    let reason: String
}
