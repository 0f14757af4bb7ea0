internal import CJPEG
internal import CWebP
internal import Glibc
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

extension Canvas {
    func encoded(as output: RenderOutput) throws(CodecFailure) -> [UInt8] {
        switch output.format {
        case .jpeg: try jpeg(output)
        case .webp: try webp(output)
        case .png: try PNGWriter.file(of: self)
        default: throw CodecFailure(reason: "\(output.format.rawValue) is not written here")
        }
    }

    private func jpeg(_ output: RenderOutput) throws(CodecFailure) -> [UInt8] {
        var file: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        var reason = [CChar](repeating: 0, count: Int(JMSG_LENGTH_MAX))
        defer { free(file) }
        guard
            mz_jpeg_write(
                bytes, Int32(size.width), Int32(size.height), Int32(output.quality), output.hasFullChroma ? 1 : 0,
                output.isProgressive ? 1 : 0, &file, &count, &reason) == 0,
            let file
        else {
            throw CodecFailure(
                reason: String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return Array(UnsafeBufferPointer(start: file, count: Int(count)))
    }

    private func webp(_ output: RenderOutput) throws(CodecFailure) -> [UInt8] {
        var config = WebPConfig()
        var picture = WebPPicture()
        guard WebPConfigInit(&config) != 0, WebPPictureInit(&picture) != 0 else {
            throw CodecFailure(reason: "libwebp is of another version than it was built against")
        }
        (config.quality, config.method) = (Float(output.quality), Int32(output.effort))
        // Lossy WebP supports only 4:2:0. Sharp YUV loses the least by it.
        config.use_sharp_yuv = output.hasChromaDetail ? 1 : 0
        (picture.width, picture.height) = (Int32(size.width), Int32(size.height))
        defer { WebPPictureFree(&picture) }
        guard WebPPictureImportRGB(&picture, bytes, Int32(stride)) != 0 else {
            throw CodecFailure(reason: "not enough memory to encode it")
        }
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        return try withUnsafeMutablePointer(to: &writer) { writer throws(CodecFailure) in
            picture.writer = { WebPMemoryWrite($0, $1, $2) }
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            guard WebPEncode(&config, &picture) != 0 else {
                throw CodecFailure(reason: "libwebp gave error \(picture.error_code.rawValue)")
            }
            return Array(UnsafeBufferPointer(start: writer.pointee.mem, count: writer.pointee.size))
        }
    }
}
