/// Removes all chunks of a WebP except pixels and their timing.
///
/// libvips 8.14.1 adds an EXIF chunk to every WebP, even after its metadata was removed.
package enum WebPContainer {
    /// The same picture with only its image, alpha and frame chunks, and its colour profile if `keepsProfile`; an
    /// unreadable file is returned unchanged.
    package static func bare(_ file: [UInt8], keepsProfile: Bool = false) -> [UInt8] {
        var kept: [Range<Int>] = []
        var canvas: [UInt8]?
        var flags: UInt8 = 0
        var hasImage = false
        var offset = 12
        while offset + 8 <= file.count {
            let length = number(file, offset + 4, 4)
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
                // Alpha lies inside the frames, so the canvas's flag applies.
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
        return riff(body)
    }

    /// The same picture with an XMP packet after it; an unreadable file is returned unchanged.
    static func with(_ packet: [UInt8], _ file: [UInt8]) -> [UInt8] {
        guard file.count >= 30 else { return file }
        var body = Array(file[8...])
        switch String(decoding: file[12..<16], as: UTF8.self) {
        case "VP8X": body[12] |= 0x04
        // A plain file's first chunk contains its size, and a lossless one's also its transparency.
        case "VP8 ":
            let (width, height) = (number(file, 26, 2) & 0x3fff, number(file, 28, 2) & 0x3fff)
            body.insert(contentsOf: canvas(flags: 0x04, width: width, height: height), at: 4)
        case "VP8L":
            let bits = number(file, 21, 4)
            let flags: UInt8 = bits >> 28 & 1 == 1 ? 0x14 : 0x04
            body.insert(
                contentsOf: canvas(flags: flags, width: bits & 0x3fff + 1, height: bits >> 14 & 0x3fff + 1), at: 4)
        default: return file
        }
        return riff(body + Array("XMP ".utf8) + little(packet.count, 4) + packet + (packet.count % 2 == 1 ? [0] : []))
    }

    private static func canvas(flags: UInt8, width: Int, height: Int) -> [UInt8] {
        Array("VP8X".utf8) + little(10, 4) + [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3)
    }

    private static func riff(_ body: [UInt8]) -> [UInt8] { Array("RIFF".utf8) + little(body.count, 4) + body }

    private static func number(_ file: [UInt8], _ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
    }
}
