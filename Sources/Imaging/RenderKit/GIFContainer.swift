/// Repairs of a GIF's blocks.
package enum GIFContainer {
    /// A frame of one transparent pixel: a control extension and an image.
    private static let frame: [UInt8] = [
        0x21, 0xf9, 4, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
    ]

    /// Changes a file so that libnsgif and libvips 8.14.1 show its bare canvas as transparent.
    ///
    /// libvips drops the alpha of a file without a transparent colour, so the file gets one more frame, after its last,
    /// that has such a colour. libnsgif clears a frame to the background's colour unless the frame has a transparent
    /// colour. Such a frame gets one that none of its pixels has.
    ///
    /// - Parameters:
    ///   - addsFrame: whether the file has no transparent colour.
    ///   - isMoving: whether frames after the first are shown, too.
    /// - Returns: nil if nothing needs a change, or if the file ends inside its blocks. A still needs no block after
    ///   its first image, and no decoder reads past the trailer or past bytes that start no block.
    package static func bareShown(_ file: UnsafeRawBufferPointer, addsFrame: Bool, isMoving: Bool) -> [UInt8]? {
        guard file.count > 13 else { return nil }
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        var offset = 13 + table(file[10])
        var control: Int?
        var colours: [(control: Int, index: UInt8)] = []
        func changed() -> [UInt8]? {
            guard addsFrame || !colours.isEmpty else { return nil }
            var result = Array(file[..<offset])
            for (control, index) in colours {
                result[control + 3] |= 1
                result[control + 6] = index
            }
            return result + (addsFrame ? frame : []) + [0x3b]
        }
        while offset < file.count {
            let isImage = file[offset] == 0x2c
            switch file[offset] {
            case 0x21:
                if offset + 7 < file.count, file[offset + 1] == 0xf9, file[offset + 2] == 4 { control = offset }
                offset += 2
            case 0x2c where offset + 9 < file.count:
                offset += 11 + table(file[offset + 9])
                // The frame is cleared after it was shown, and has no transparent colour.
                if isMoving, let control, file[control + 3] & 0x1d == 0x08, offset <= file.count,
                    let index = unused(file, at: offset)
                {
                    colours.append((control, index))
                }
                control = nil
            default: return changed()
            }
            while offset < file.count, file[offset] != 0 { offset += 1 + Int(file[offset]) }
            offset += 1
            if isImage, !isMoving, offset <= file.count { return changed() }
        }
        return offset == file.count ? changed() : nil
    }

    /// A colour index that no pixel of an image has; nil if it has all 256.
    ///
    /// An image uses a colour first by the colour's own code: all other codes stand for sequences of earlier colours.
    /// So only the codes' widths must be known.
    private static func unused(_ file: UnsafeRawBufferPointer, at blocks: Int) -> UInt8? {
        let bits = Int(file[blocks - 1])
        guard bits == 8 else { return bits < 8 ? 255 : nil }
        var isUsed = [Bool](repeating: false, count: 256)
        var (width, known, buffer, held) = (9, 257, 0, 0)
        var (offset, left) = (blocks, 0)
        while true {
            while held < width {
                if left == 0 {
                    guard offset < file.count, file[offset] != 0 else {
                        return isUsed.lastIndex(of: false).map(UInt8.init)
                    }
                    (left, offset) = (Int(file[offset]), offset + 1)
                }
                guard offset < file.count else { return nil }
                buffer |= Int(file[offset]) << held
                (offset, left, held) = (offset + 1, left - 1, held + 8)
            }
            let code = buffer & (1 << width - 1)
            (buffer, held) = (buffer >> width, held - width)
            switch code {
            case 256: (width, known) = (9, 257)
            case 257: return isUsed.lastIndex(of: false).map(UInt8.init)
            default:
                if code < 256 { isUsed[code] = true }
                // The first code after a clear adds no entry.
                known += 1
                if known == 1 << width, width < 12 { width += 1 }
                known = min(known, 4096)
            }
        }
    }
}
