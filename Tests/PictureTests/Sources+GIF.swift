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
