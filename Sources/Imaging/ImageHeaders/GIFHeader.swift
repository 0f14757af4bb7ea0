internal import Images
internal import RenderProtocol
internal import VariantSpec

/// A GIF's canvas, frames and duration, from its blocks.
enum GIFHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        guard let width = try bytes.little(6, 2), let height = try bytes.little(8, 2), let flags = try bytes[10] else {
            throw .malformed(.gif, reason: "it ends inside its screen descriptor")
        }
        var rights = FoundRights()
        var (frames, duration, isTruncated) = (0, 0, true)
        var (isTransparent, isBare, isRestored) = (false, false, false)
        var canvas = Self.isBelieved(width, height) ? (width: width, height: height) : (width: 1, height: 1)
        var offset = 13 + Self.tableBytes(flags)
        var end: Int?
        var disposal: UInt8 = 0
        // Area that the last frame clears after it was shown.
        var cleared: (x: Int, y: Int, right: Int, bottom: Int)?
        while let kind = try bytes[offset] {
            switch kind {
            case 0x21:
                if try bytes.has([0x21, 0xff, 11] + Array("XMP DataXMP".utf8), at: offset) {
                    try rights.read(xmp: offset + 14..<bytes.length, &bytes)
                } else if try bytes[offset + 1] == 0xf9, let control = try bytes[offset + 3] {
                    // All viewers show a frame with a delay of zero for a tenth of a second.
                    let delay = try bytes.little(offset + 4, 2) ?? 0
                    duration += delay <= 1 ? 100 : delay * 10
                    if control & 1 == 1 { isTransparent = true }
                    disposal = control >> 2 & 7
                    if frames == 0, disposal == 3 { isRestored = true }
                }
                guard let next = try Self.end(&bytes, ofBlocksAt: offset + 2) else { break }
                offset = next
                continue
            case 0x2c:
                guard let frame = try rectangle(&bytes, at: offset + 1), let local = try bytes[offset + 9] else {
                    break
                }
                if frames == 0 {
                    canvas.width = max(canvas.width, frame.right)
                    canvas.height = max(canvas.height, frame.bottom)
                    if frame.width < canvas.width || frame.height < canvas.height { isBare = true }
                }
                if let cleared,
                    frame.x > cleared.x || frame.y > cleared.y || frame.right < cleared.right
                        || frame.bottom < cleared.bottom
                {
                    isBare = true
                }
                // Restoring the canvas from before the first frame leaves it bare, too.
                let clears = disposal == 2 || disposal == 3 && frames == 0
                cleared = clears ? (frame.x, frame.y, frame.right, frame.bottom) : nil
                disposal = 0
                frames += 1
                // A still needs no further frames, and counting all may cost more than a header may.
                if frames > limits.frames {
                    isTruncated = false
                    break
                }
                guard let next = try Self.end(&bytes, ofBlocksAt: offset + 11 + Self.tableBytes(local)) else { break }
                offset = next
                continue
            // The trailer, or bytes that stop every decoder.
            default: (isTruncated, end) = (false, kind == 0x3b ? offset + 1 : nil)
            }
            break
        }
        guard frames > 0 else { throw .malformed(.gif, reason: "it has no frame") }
        var header = PictureHeader(stored: try PixelSize(canvas.width, canvas.height, of: .gif))
        (header.frames, header.hasAlpha, header.isTruncated) = (frames, isTransparent || isBare, isTruncated)
        // A bare canvas is decoded once more with transparency, and kept. The first part of a file does not show
        // whether transparency follows.
        let canvases = 1 + (isRestored ? 1 : 0) + (isBare && !isTransparent && !isTruncated ? 2 : 0)
        header.memory = PictureCoding.gif(canvases: canvases).bytes(of: header.stored)
        header.duration = frames > 1 ? duration : 0
        (header.end, header.rights, header.marked) = (end, rights.all, rights.marked)
        return header
    }

    /// Whether the canvas size is plausible. libnsgif, the decoder, distrusts screen sizes and then uses the first
    /// frame's size.
    private static func isBelieved(_ width: Int, _ height: Int) -> Bool {
        let screens = [(640, 480), (640, 512), (800, 600), (1024, 768), (1280, 1024), (1600, 1200)]
        return width > 0 && height > 0 && max(width, height) <= 2048 && !screens.contains { $0 == (width, height) }
    }

    private static func tableBytes(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    private static func rectangle(
        _ bytes: inout PictureBytes, at offset: Int
    ) throws(RenderFailure) -> (x: Int, y: Int, width: Int, height: Int, right: Int, bottom: Int)? {
        guard let x = try bytes.little(offset, 2), let y = try bytes.little(offset + 2, 2),
            let width = try bytes.little(offset + 4, 2), let height = try bytes.little(offset + 6, 2)
        else { return nil }
        return (x, y, width, height, x + width, y + height)
    }

    /// Position after the empty block that ends a series of blocks; nil if the file ends before.
    private static func end(_ bytes: inout PictureBytes, ofBlocksAt start: Int) throws(RenderFailure) -> Int? {
        var offset = start
        while let length = try bytes[offset] {
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
        return nil
    }
}
