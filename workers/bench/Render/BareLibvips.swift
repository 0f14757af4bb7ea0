internal import CVips
internal import ImageModel
internal import RenderProtocol
internal import RendererPool
internal import VariantSpec
internal import Vips

/// libvips as other programs call it: a thumbnail, and smaller ones of it.
enum BareLibvips {
    /// - Failure: libvips's own message.
    static func start(_ formats: [ImageFormat]) throws(BareFailure) {
        do throws(EngineFailure) { try VipsLibrary.start(Set(formats + [.jpeg, .png])) } catch {
            throw BareFailure(reason: "\(error)")
        }
    }

    /// Renders 1280 and 640 inside, 160 cropped, from one decode, each in every format, at our fast lane's effort.
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

/// The reason why the bare loop stopped, in libvips's words.
struct BareFailure: Error {
    let reason: String
}
