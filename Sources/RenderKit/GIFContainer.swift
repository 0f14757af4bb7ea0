/// A GIF's blocks.
package enum GIFContainer {
    /// Of one pixel, of a colour that is transparent: a control extension and an image.
    private static let frame: [UInt8] = [
        0x21, 0xf9, 4, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
    ]

    /// The same picture with a transparent frame after its last; nil where its blocks have no end.
    package static func withTransparentFrame(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard file.count > 13 else { return nil }
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        var offset = 13 + table(file[10])
        while offset < file.count {
            switch file[offset] {
            case 0x21: offset += 2
            case 0x2c where offset + 9 < file.count: offset += 11 + table(file[offset + 9])
            case 0x3b: return Array(file[..<offset]) + frame + [0x3b]
            default: return nil
            }
            while offset < file.count, file[offset] != 0 { offset += 1 + Int(file[offset]) }
            offset += 1
        }
        return nil
    }
}
