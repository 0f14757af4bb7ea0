import Posix

/// Writes a PNG without compressing it: how drawn pixels reach the renderer, which makes proper pictures of them.
enum PlainPNG {
    static func write(_ scene: Scene, to file: OpenFile) throws {
        try append([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], to: file)
        try chunk("IHDR", big(scene.width) + big(scene.height) + [8, 2, 0, 0, 0], to: file)
        // Blocks of the zlib stream as they are, a row each: no row is longer than a stored block may be (65,535).
        var sums = Adler()
        try chunk("IDAT", [0x78, 0x01], to: file)
        for y in 0..<scene.height {
            let row = [0] + scene.row(y)
            let isLast = y == scene.height - 1
            let length = [UInt8(row.count & 255), UInt8(row.count >> 8)]
            sums.add(row)
            try chunk(
                "IDAT", [isLast ? 1 : 0] + length + length.map { ~$0 } + row + (isLast ? big(sums.value) : []), to: file
            )
        }
        try chunk("IEND", [], to: file)
    }

    private static func chunk(_ name: String, _ content: [UInt8], to file: OpenFile) throws {
        let body = Array(name.utf8) + content
        try append(big(content.count) + body + big(Int(crc(body))), to: file)
    }

    private static func append(_ bytes: [UInt8], to file: OpenFile) throws {
        try bytes.withUnsafeBytes { try file.append($0) }
    }

    private static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private struct Adler {
        private var (a, b): (UInt32, UInt32) = (1, 0)
        var value: Int { Int(b << 16 | a) }

        mutating func add(_ bytes: [UInt8]) {
            // As many bytes as the sums can take before they must be reduced.
            for start in stride(from: 0, to: bytes.count, by: 5552) {
                for byte in bytes[start..<min(start + 5552, bytes.count)] {
                    a += UInt32(byte)
                    b += a
                }
                (a, b) = (a % 65521, b % 65521)
            }
        }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 1 ? 0xEDB8_8320 ^ (rest >> 1) : rest >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }
}
