/// A WebP's chunks, less everything that is not pixels, or their timing.
///
/// libvips 8.14.1 adds an EXIF chunk to every WebP, also to one whose metadata was removed.
package enum WebPContainer {
    /// The same picture with its image, alpha and frame chunks only, and its colour profile if that is to be kept; what
    /// can't be read comes back as it was.
    package static func bare(_ file: [UInt8], keepsProfile: Bool = false) -> [UInt8] {
        var kept: [Range<Int>] = []
        var canvas: [UInt8]?
        var flags: UInt8 = 0
        var hasImage = false
        var offset = 12
        while offset + 8 <= file.count {
            let length = (0..<4).reduce(0) { $0 | Int(file[offset + 4 + $1]) << (8 * $1) }
            let end = offset + 8 + length + length % 2
            guard end <= file.count else { return file }
            var isKept = true
            switch String(decoding: file[offset..<offset + 4], as: UTF8.self) {
            case "VP8X" where length >= 10:
                canvas = Array(file[offset..<offset + 18])
                isKept = false
            case "ALPH": flags |= 0x10
            case "VP8 ", "VP8L": hasImage = true
            case "ANIM":
                // Alpha lies inside the frames: what the canvas says of it holds.
                flags |= 0x02 | (canvas.map { $0[8] & 0x10 } ?? 0)
            case "ANMF":
                hasImage = true
                flags |= 0x02 | (canvas.map { $0[8] & 0x10 } ?? 0)
            case "ICCP" where keepsProfile: flags |= 0x20
            default: isKept = false
            }
            if isKept { kept.append(offset..<end) }
            offset = end
        }
        guard hasImage else { return file }
        var body = Array("WEBP".utf8)
        if flags != 0, var canvas {
            canvas[8] = flags | (keepsProfile ? canvas[8] & 0x10 : 0)
            body += canvas
        }
        for range in kept { body += file[range] }
        let size = UInt32(truncatingIfNeeded: body.count)
        return Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * UInt32($0))) } + body
    }
}
