extension Sources {
    /// A GIF of red frames, each of so many columns of its canvas, without a transparent colour.
    static func flatGIF(width: Int, height: Int, frames: Int, covered: Int? = nil) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        let columns = covered ?? width
        // Codes of three bits are never more: each pixel clears the table first.
        var (bits, count, data): (Int, Int, [UInt8]) = (0, 0, [])
        func put(_ code: Int) {
            bits |= code << count
            count += 3
            while count >= 8 {
                data.append(UInt8(bits & 255))
                (bits, count) = (bits >> 8, count - 8)
            }
        }
        for _ in 0..<columns * height {
            put(4)
            put(1)
        }
        put(5)
        data.append(UInt8(bits & 255))
        var frame = [0x21, 0xf9, 4, 0] + word(10) + [0, 0, 0x2c, 0, 0, 0, 0] + word(columns) + word(height) + [0, 2]
        for start in stride(from: 0, to: data.count, by: 255) {
            let part = data[start..<min(data.count, start + 255)]
            frame += [UInt8(part.count)] + part
        }
        frame.append(0)
        let head = Array("GIF89a".utf8) + word(width) + word(height) + [0x80 | 1, 0, 0]
        let colours: [UInt8] = [0, 0, 0, 200, 0, 0, 0, 0, 200, 255, 255, 255]
        return head + colours + (0..<frames).flatMap { _ in frame } + [0x3b]
    }

    /// A frame of a GIF: its place, its disposal, and the numbers of its pixels' colours.
    struct GIFFrame {
        var (x, y, width, height): (Int, Int, Int, Int)
        var disposal: UInt8
        var colour: (Int) -> UInt8
    }

    /// A GIF of frames without a transparent colour, on a canvas whose background has the last of so many colours.
    static func gif(width: Int, height: Int, frames: [GIFFrame], bits: Int = 3) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        let last = 1 << bits - 1
        var bytes = Array("GIF89a".utf8) + word(width) + word(height) + [0x80 | UInt8(bits - 1), UInt8(last), 0]
        for index in 0..<last { bytes += [UInt8(index * 255 / last), 90, 40] }
        bytes += background
        for frame in frames {
            bytes += [0x21, 0xf9, 4, frame.disposal << 2] + word(10) + [0, 0, 0x2c] + word(frame.x) + word(frame.y)
            bytes += word(frame.width) + word(frame.height) + [0, UInt8(bits)]
            let data = packed((0..<frame.width * frame.height).map(frame.colour), bits)
            for start in stride(from: 0, to: data.count, by: 255) {
                let part = data[start..<min(data.count, start + 255)]
                bytes += [UInt8(part.count)] + part
            }
            bytes.append(0)
        }
        return bytes + [0x3b]
    }
    static let background: [UInt8] = [1, 200, 3]

    /// The codes of LZW, which become wider while the table grows.
    private static func packed(_ pixels: [UInt8], _ bits: Int) -> [UInt8] {
        let clear = 1 << bits
        var (data, buffer, held, width): ([UInt8], Int, Int, Int) = ([], 0, 0, bits + 1)
        func put(_ code: Int) {
            buffer |= code << held
            held += width
            while held >= 8 {
                data.append(UInt8(buffer & 255))
                (buffer, held) = (buffer >> 8, held - 8)
            }
        }
        var rows: [[UInt8]: Int] = [:]
        var row: [UInt8] = []
        func code() -> Int { row.count == 1 ? Int(row[0]) : rows[row]! }
        put(clear)
        for pixel in pixels {
            if row.isEmpty || rows[row + [pixel]] != nil {
                row.append(pixel)
                continue
            }
            put(code())
            let next = clear + 2 + rows.count
            if next == 4096 {
                put(clear)
                (rows, width) = ([:], bits + 1)
            } else {
                rows[row + [pixel]] = next
                if next == 1 << width { width += 1 }
            }
            row = [pixel]
        }
        put(code())
        put(clear + 1)
        data.append(UInt8(buffer & 255))
        return data
    }

    /// A GIF of frames of one colour each, with their delays in hundredths of a second; nil loops: no word of looping.
    static func gif(
        width: Int, height: Int, colours: [[UInt8]], delays: [Int], loops: Int? = 0, transparent: Bool = false
    ) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        var bytes = Array("GIF89a".utf8) + word(width) + word(height) + [0x80 | 6, 0, 0]
        for index in 0..<128 { bytes += index < colours.count ? colours[index] : [0, 0, 0] }
        if let loops { bytes += [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + word(loops) + [0] }
        for index in colours.indices {
            bytes += [0x21, 0xf9, 4, transparent ? 1 : 0] + word(delays[index]) + [127, 0]
            bytes += [0x2c, 0, 0, 0, 0] + word(width) + word(height) + [0, 7]
            // Codes of eight bits: 128 clears the table, so that they never grow; 129 ends.
            var codes: [UInt8] = []
            for place in 0..<width * height {
                if place % 100 == 0 { codes.append(128) }
                codes.append(UInt8(index))
            }
            codes.append(129)
            for start in stride(from: 0, to: codes.count, by: 255) {
                let part = codes[start..<min(codes.count, start + 255)]
                bytes += [UInt8(part.count)] + part
            }
            bytes.append(0)
        }
        return bytes + [0x3b]
    }
}
