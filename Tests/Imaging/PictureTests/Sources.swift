internal import Foundation
internal import Posix
internal import TestPixels

/// Sources that no library of ours writes: with orientation, profile, 16 bits, or made to hurt.
enum Sources {
    /// 60 by 40 pixels of one colour, by libjxl.
    static let jxl = Array(Data(base64Encoded: "/woJQSQIAgEAaABLGIsVANQfY4wf4/8FIgAAJAUoCCCA3DI0NQ==") ?? Data())

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    /// A PNG with chunks put in after its header.
    static func png(_ pixels: Pixels, with chunks: [[UInt8]]) -> [UInt8] {
        let bytes = pixels.png
        return Array(bytes[..<33]) + chunks.flatMap { $0 } + Array(bytes[33...])
    }

    /// EXIF's TIFF structure with one field, and a GPS tag that must never come out again.
    static func tiff(orientation: Int) -> [UInt8] {
        var bytes = Array("MM".utf8)
        let fields = [
            (42, 2), (8, 4), (2, 2), (0x0112, 2), (3, 2), (1, 4), (orientation, 2), (0, 2), (0x8825, 2), (4, 2), (1, 4),
            (38, 4),
            (0, 4), (1, 2), (1, 2), (2, 2), (2, 4), (0x4e00_0000, 4), (0, 4),
        ]
        for (value, count) in fields { bytes += big(value, count) }
        return bytes
    }

    /// A JPEG as a camera writes it: EXIF with GPS, XMP, IPTC and a comment after the first marker.
    ///
    /// - Parameter padding: bytes more of each.
    static func photographed(_ jpeg: [UInt8], orientation: Int = 1, padding: Int = 0) -> [UInt8] {
        let more = [UInt8](repeating: 0x3c, count: padding)
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xff, marker] + big(content.count + 2, 2) + content
        }
        let xmp = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>secret</x:xmpmeta>"
        return Array(jpeg[..<2]) + segment(0xe1, Array("Exif\0\0".utf8) + tiff(orientation: orientation) + more)
            + segment(0xe1, Array(xmp.utf8) + more) + segment(0xed, Array("Photoshop 3.0\0secret".utf8) + more)
            + segment(0xfe, Array("secret".utf8))
            + Array(jpeg[2...])
    }

    /// Pixels stored so that an orientation shows them as they are.
    static func stored(_ pixels: Pixels, orientation: Int) -> Pixels {
        let isSwapped = orientation >= 5
        let (width, height) = isSwapped ? (pixels.height, pixels.width) : (pixels.width, pixels.height)
        var result = Pixels(width: width, height: height, channels: pixels.channels, bytes: [])
        for y in 0..<height {
            for x in 0..<width {
                let (column, row) =
                    switch orientation {
                    case 2: (width - 1 - x, y)
                    case 3: (width - 1 - x, height - 1 - y)
                    case 4: (x, height - 1 - y)
                    case 5: (y, x)
                    case 6: (height - 1 - y, x)
                    case 7: (height - 1 - y, width - 1 - x)
                    case 8: (y, width - 1 - x)
                    default: (x, y)
                    }
                for channel in 0..<pixels.channels { result.bytes.append(pixels[column, row, channel]) }
            }
        }
        return result
    }

    /// A matrix profile with the primaries of sRGB, red and green exchanged: what it says red is, is green.
    static let exchangedProfile = exchanged(curve: [0x0233])
    /// The same, of a device whose darkest reflects two hundredths of its light.
    static let paleProfile = exchanged(curve: [1311, 65_535])

    private static func exchanged(curve: [Int]) -> [UInt8] {
        let primaries: [(String, [Double])] = [
            ("rXYZ", [0.3851, 0.7169, 0.0971]), ("gXYZ", [0.4361, 0.2225, 0.0139]), ("bXYZ", [0.1431, 0.0606, 0.7141]),
            ("wtpt", [0.9642, 1, 0.8249]),
        ]
        var data: [UInt8] = []
        var tags: [UInt8] = []
        let names = primaries.map(\.0) + ["rTRC", "gTRC", "bTRC", "desc", "cprt"]
        let start = 128 + 4 + 12 * names.count
        func add(_ name: String, _ content: [UInt8]) {
            tags += Array(name.utf8) + big(start + data.count, 4) + big(content.count, 4)
            data += content + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        }
        for (name, xyz) in primaries {
            add(name, Array("XYZ ".utf8) + big(0, 4) + xyz.flatMap { big(Int(($0 * 65536).rounded()), 4) })
        }
        let levels = Array("curv".utf8) + big(0, 4) + big(curve.count, 4) + curve.flatMap { big($0, 2) }
        for name in ["rTRC", "gTRC", "bTRC"] { add(name, levels) }
        add("desc", Array("desc".utf8) + big(0, 4) + big(2, 4) + Array("x\0".utf8) + [UInt8](repeating: 0, count: 78))
        add("cprt", Array("text".utf8) + big(0, 4) + Array("none\0".utf8))
        var header = big(start + data.count, 4) + big(0, 4) + big(0x0210_0000, 4) + Array("mntrRGB XYZ ".utf8)
        header += big(2026, 2) + big(1, 2) + big(1, 2) + big(0, 6) + Array("acsp".utf8) + big(0, 28)
        header += big(0xf6d6, 4) + big(0x10000, 4) + big(0xd32d, 4)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + big(names.count, 4) + tags + data
    }

    /// Of grey pixels, whose light is the square of their level.
    static let squareProfile: [UInt8] = {
        let curve = Array("curv".utf8) + big(0, 4) + big(1, 4) + big(0x0200, 2) + big(0, 2)
        let white = Array("XYZ ".utf8) + big(0, 4) + big(0xf6d6, 4) + big(0x10000, 4) + big(0xd32d, 4)
        let name = Array("desc".utf8) + big(0, 4) + big(2, 4) + Array("x\0".utf8) + [UInt8](repeating: 0, count: 80)
        let tags = [
            ("kTRC", curve), ("wtpt", white), ("desc", name),
            ("cprt", Array("text".utf8) + big(0, 4) + Array("no\0\0".utf8)),
        ]
        var (table, data): ([UInt8], [UInt8]) = (big(tags.count, 4), [])
        for (name, content) in tags {
            table += Array(name.utf8) + big(132 + 12 * tags.count + data.count, 4) + big(content.count, 4)
            data += content + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        }
        let length = 128 + table.count + data.count
        var header = big(length, 4) + big(0, 4) + big(0x0210_0000, 4) + Array("mntrGRAY".utf8) + Array("XYZ ".utf8)
        header += big(2026, 2) + big(1, 2) + big(1, 2) + big(0, 6) + Array("acsp".utf8) + big(0, 28)
        header += big(0xf6d6, 4) + big(0x10000, 4) + big(0xd32d, 4)
        return header + [UInt8](repeating: 0, count: 128 - header.count) + table + data
    }()

    /// The same, said to be of grey pixels.
    static let greyProfile = Array(exchangedProfile[..<16]) + Array("GRAY".utf8) + Array(exchangedProfile[20...])

    /// A JPEG with an embedded profile, in as many parts as it needs.
    static func tagged(_ jpeg: [UInt8], _ profile: [UInt8]) -> [UInt8] {
        let parts = stride(from: 0, to: profile.count, by: 65_000).map { profile[$0..<min($0 + 65_000, profile.count)] }
        let segments = parts.enumerated().map { number, part in
            [0xff, 0xe2] + big(part.count + 16, 2) + Array("ICC_PROFILE\0".utf8) + [
                UInt8(number + 1), UInt8(parts.count),
            ]
                + part
        }
        return Array(jpeg[..<2]) + segments.flatMap { $0 } + Array(jpeg[2...])
    }

    /// A profile made larger by bytes that belong to no tag.
    static func padded(_ profile: [UInt8], to count: Int) -> [UInt8] {
        big(count, 4) + profile[4...] + [UInt8](repeating: 0, count: count - profile.count)
    }

    /// An iCCP chunk.
    static func profileChunk(_ profile: [UInt8]) -> [UInt8] {
        Pixels.chunk("iCCP", Array("profile\0\0".utf8) + stored(profile))
    }

    /// A zlib stream that stores what it is given, at most 65,535 bytes.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let count = [UInt8(bytes.count & 255), UInt8(bytes.count >> 8)]
        var (a, b) = (1, 0)
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return [0x78, 0x01, 1] + count + count.map { ~$0 } + bytes + big(b << 16 | a, 4)
    }

    /// A zlib stream of a few small bytes and so many zeros, one bit for twenty of them: what bombs are made of.
    static func zeros(_ count: Int, after first: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = [0x78, 0x01]
        var (bits, held) = (UInt64(0), UInt64(0))
        func put(_ value: UInt64, _ width: UInt64) {
            bits |= value << held
            held += width
            while held >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                (bits, held) = (bits >> 8, held - 8)
            }
        }
        put(0b011, 3)
        // The fixed code, most significant bit first: literal 0 is 00110000, 258 bytes from 1 back is 11000101 00000.
        for byte in first { put(UInt64((0..<8).reduce(0) { $0 << 1 | (Int(byte) + 0x30) >> $1 & 1 }), 8) }
        var left = count
        while left % 258 != 0 {
            put(0b0000_1100, 8)
            left -= 1
        }
        if left == count, left > 0 {
            for _ in 0..<258 { put(0b0000_1100, 8) }
            left -= 258
        }
        for _ in 0..<left / 258 { put(0b0_0000_1010_0011, 13) }
        put(0, 7)
        put(0, 7)
        var (a, b) = (1, 0)
        for byte in first {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return bytes + big(((b + count % 65_521 * a) % 65_521) << 16 | a, 4)
    }

    /// A black PNG of any size, kind and interlacing.
    ///
    /// - Parameter first: what its rows begin with, filters included; bytes below 144.
    static func blackPNG(
        width: Int, height: Int, depth: Int = 8, channels: Int = 3, isInterlaced: Bool = false, chunks: [[UInt8]] = [],
        first: [UInt8] = []
    ) -> [UInt8] {
        let kind: [UInt8] = [0, 0, 4, 2, 6]
        let header = big(width, 4) + big(height, 4) + [UInt8(depth), kind[channels], 0, 0, isInterlaced ? 1 : 0]
        let passes =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        let length = passes.reduce(0) { sum, pass in
            let columns = (width - pass.0 + pass.2 - 1) / pass.2
            let rows = (height - pass.1 + pass.3 - 1) / pass.3
            return sum + (columns > 0 ? rows * (1 + (columns * channels * depth + 7) / 8) : 0)
        }
        var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        bytes += Pixels.chunk("IHDR", header)
        for chunk in chunks { bytes += chunk }
        bytes += Pixels.chunk("IDAT", zeros(length - first.count, after: first))
        return bytes + Pixels.chunk("IEND", [])
    }

    /// A picture of one colour.
    static func flat(_ colour: [UInt8], width: Int = 60, height: Int = 40) -> Pixels {
        Pixels(
            width: width, height: height, channels: colour.count, bytes: (0..<width * height).flatMap { _ in colour })
    }
}
