internal import ImageHeaders

extension Pixels {
    /// Reads a PNG of 8 bits a channel, not interlaced: what our renderer writes. nil for any other.
    package init?(png: [UInt8]) {
        func word(_ at: Int) -> Int { png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard png.count > 33, png.starts(with: Pixels.signature), png[24] == 8, png[28] == 0,
            let channels = [0: 1, 2: 3, 4: 2, 6: 4][png[25]]
        else { return nil }
        let (width, height) = (word(16), word(20))
        var (data, place): ([UInt8], Int) = ([], 8)
        while place + 12 <= png.count {
            let length = word(place)
            guard place + 12 + length <= png.count else { return nil }
            if png[place + 4..<place + 8].elementsEqual("IDAT".utf8) { data += png[place + 8..<place + 8 + length] }
            place += 12 + length
        }
        let stride = width * channels
        let count = (stride + 1) * height
        guard let rows = Inflate.prefix(count, ofZlib: data[...], blocks: .max), rows.count == count else { return nil }
        self.init(
            width: width, height: height, channels: channels, bytes: Pixels.unfiltered(rows, stride: stride, channels))
    }

    private static func unfiltered(_ rows: [UInt8], stride: Int, _ channels: Int) -> [UInt8] {
        var pixels = [UInt8](repeating: 0, count: rows.count / (stride + 1) * stride)
        for y in 0..<rows.count / (stride + 1) {
            let (filter, from, to) = (rows[y * (stride + 1)], y * (stride + 1) + 1, y * stride)
            for x in 0..<stride {
                let left = x >= channels ? pixels[to + x - channels] : 0
                let above = y > 0 ? pixels[to + x - stride] : 0
                let corner = x >= channels && y > 0 ? pixels[to + x - stride - channels] : 0
                let guess: UInt8 =
                    switch filter {
                    case 1: left
                    case 2: above
                    case 3: UInt8((Int(left) + Int(above)) / 2)
                    case 4: paeth(Int(left), Int(above), Int(corner))
                    default: 0
                    }
                pixels[to + x] = rows[from + x] &+ guess
            }
        }
        return pixels
    }

    private static func paeth(_ left: Int, _ above: Int, _ corner: Int) -> UInt8 {
        let (a, b, c) = (abs(above - corner), abs(left - corner), abs(left + above - 2 * corner))
        return UInt8(a <= b && a <= c ? left : b <= c ? above : corner)
    }

    /// As a PNG, not compressed: a source of a test's own, or of the demo's.
    package var png: [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity((width * channels + 1) * height)
        for y in 0..<height {
            rows.append(0)
            rows += bytes[y * width * channels..<(y + 1) * width * channels]
        }
        var zlib: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: rows.count, by: 65_535) {
            let part = rows[start..<min(rows.count, start + 65_535)]
            let (low, high) = (UInt8(part.count & 255), UInt8(part.count >> 8))
            zlib += [part.endIndex == rows.count ? 1 : 0, low, high, ~low, ~high]
            zlib += part
        }
        zlib += Pixels.word(Pixels.adler(rows))
        let kind: [UInt8] = [0, 0, 4, 2, 6]
        let header = Pixels.word(UInt32(width)) + Pixels.word(UInt32(height)) + [8, kind[channels], 0, 0, 0]
        return Pixels.signature + Pixels.chunk("IHDR", header) + Pixels.chunk("IDAT", zlib) + Pixels.chunk("IEND", [])
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func word(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// A chunk with its length and checksum.
    package static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        var crc = UInt32.max
        for byte in body { crc = table[Int((crc ^ UInt32(byte)) & 255)] ^ (crc >> 8) }
        return word(UInt32(content.count)) + body + word(~crc)
    }

    private static let table: [UInt32] = (0..<256).map { n in
        (0..<8).reduce(UInt32(n)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        // As many bytes as the sums can take before they must be reduced.
        for start in stride(from: 0, to: bytes.count, by: 5_552) {
            for byte in bytes[start..<min(start + 5_552, bytes.count)] {
                a += UInt32(byte)
                b += a
            }
            (a, b) = (a % 65_521, b % 65_521)
        }
        return b << 16 | a
    }
}
