internal import VariantSpec

extension Sources {
    /// A JPEG of four inks, as Adobe marks it, each block of one level: nothing here writes inks.
    static func inks(_ size: PixelSize, isProgressive: Bool = false) -> [UInt8] {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            let length = content.count + 2
            return [0xff, marker, UInt8(length >> 8), UInt8(length & 255)] + content
        }
        func big(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
        let components: [UInt8] = [1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0]
        // One code of one bit each: a difference of no bits, and the end of a block.
        let codes: [UInt8] = [1] + [UInt8](repeating: 0, count: 16)
        var bytes: [UInt8] = [0xff, 0xd8]
        bytes += segment(0xee, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])
        bytes += segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
        bytes += segment(isProgressive ? 0xc2 : 0xc0, [8] + big(size.height) + big(size.width) + [4] + components)
        bytes += segment(0xc4, [0] + codes) + segment(0xc4, [0x10] + codes)
        bytes += segment(0xda, [4, 1, 0, 2, 0, 3, 0, 4, 0, 0, isProgressive ? 0 : 63, 0])
        // Two bits for each block of each of the four inks, and one in the first scan of several.
        let blocks = (size.width + 7) / 8 * ((size.height + 7) / 8)
        return bytes + [UInt8](repeating: 0, count: isProgressive ? (blocks + 1) / 2 : blocks) + [0xff, 0xd9]
    }

    /// A grey baseline JPEG, each row of blocks of which ends at a restart marker.
    static func restarting(_ size: PixelSize) -> [UInt8] {
        let plain = flatJPEG(size, isHalved: false)
        guard let scan = plain.firstRange(of: [0xff, 0xda])?.lowerBound else { return [] }
        let (across, down) = ((size.width + 7) / 8, (size.height + 7) / 8)
        // Six bits for each three blocks, filled up with ones.
        let bits = across * 6
        var row = [UInt8](repeating: 0, count: (bits + 7) / 8)
        if bits % 8 > 0 { row[row.count - 1] = UInt8(1 << (8 - bits % 8) - 1) }
        var bytes = Array(plain[..<scan])
        bytes += [0xff, 0xdd, 0, 4, UInt8(across >> 8), UInt8(across & 255)]
        bytes += plain[scan..<scan + 14]
        for y in 0..<down {
            bytes += row
            bytes += y + 1 == down ? [0xff, 0xd9] : [0xff, 0xd0 + UInt8(y % 8)]
        }
        return bytes
    }
}
