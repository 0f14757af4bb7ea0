/// A still WebP's chunks, less everything that is not pixels.
///
/// libvips 8.14.1 adds an EXIF chunk to every WebP, also to one whose metadata was removed.
package enum WebPContainer {
    /// The same picture with its image and alpha chunks only; what can't be read comes back as it was.
    package static func bare(_ file: [UInt8]) -> [UInt8] {
        var image: [Range<Int>] = []
        var canvas: [UInt8]?
        var hasAlpha = false
        var offset = 12
        while offset + 8 <= file.count {
            let length = (0..<4).reduce(0) { $0 | Int(file[offset + 4 + $1]) << (8 * $1) }
            let end = offset + 8 + length + length % 2
            guard end <= file.count else { return file }
            switch String(decoding: file[offset..<offset + 4], as: UTF8.self) {
            case "VP8X" where length >= 10: canvas = Array(file[offset..<offset + 18])
            case "ALPH":
                hasAlpha = true
                image.append(offset..<end)
            case "VP8 ", "VP8L": image.append(offset..<end)
            case "ANIM", "ANMF": return file
            default: break
            }
            offset = end
        }
        guard !image.isEmpty else { return file }
        var body = Array("WEBP".utf8)
        if hasAlpha, var canvas {
            canvas[8] = 0x10
            body += canvas
        }
        for range in image { body += file[range] }
        let size = UInt32(truncatingIfNeeded: body.count)
        return Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * UInt32($0))) } + body
    }
}
