extension Pixels {
    /// Each pixel says where it is: red runs from 8 to 248 from left to right, green from top to bottom, blue both ways.
    package static func map(width: Int, height: Int) -> Pixels {
        draw(width, height) { x, y in
            let (u, v) = ((Double(x) + 0.5) / Double(width), (Double(y) + 0.5) / Double(height))
            return (8 + 240 * u, 8 + 240 * v, 8 + 120 * (u + v))
        }
    }

    /// What of a map of this size a picture shows: left, top, right and bottom, in the map's pixels.
    package func place(onMap width: Int, _ height: Int) -> [Double] {
        let (across, down) = (edges(of: 0, alongX: true), edges(of: 1, alongX: false))
        func pixels(_ level: Double, _ side: Int) -> Double { (level - 8) / 240 * Double(side) }
        return [pixels(across.0, width), pixels(down.0, height), pixels(across.1, width), pixels(down.1, height)]
    }

    /// Like a photograph to a codec: soft light, edges, and texture down to the pixel.
    package static func photograph(width: Int, height: Int, seed: UInt64) -> Pixels {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(UInt32.max >> 1)
        }
        let side = Double(max(width, height))
        let discs = (0..<40).map { _ in
            (
                random() * Double(width), random() * Double(height), (0.01 + 0.12 * random() * random()) * side,
                random() * 200, random() * 200, random() * 200
            )
        }
        let lattice = (0..<4096).map { _ in random() }
        func noise(_ x: Double, _ y: Double) -> Double {
            let (i, j) = (Int(x), Int(y))
            let (u, v) = (x - Double(i), y - Double(j))
            func at(_ i: Int, _ j: Int) -> Double { lattice[(i &* 73 &+ j &* 1_973) & 4095] }
            let (a, b) = (u * u * (3 - 2 * u), v * v * (3 - 2 * v))
            return (at(i, j) * (1 - a) + at(i + 1, j) * a) * (1 - b) + (at(i, j + 1) * (1 - a) + at(i + 1, j + 1) * a)
                * b
        }
        return draw(width, height) { x, y in
            let (x, y) = (Double(x), Double(y))
            let light = 90 * noise(4 * x / side, 4 * y / side) + 50 * noise(18 * x / side, 18 * y / side)
            let grain = 36 * noise(x / 7, y / 7) + 26 * noise(x / 2.5, y / 2.5) + 12 * noise(x * 1.3, y * 1.3)
            var colour = (light + 30, light + 40 * y / side, light + 40 * x / side)
            for disc in discs {
                let (dx, dy) = (x - disc.0, y - disc.1)
                let inside = max(0, min(1, disc.2 - (dx * dx + dy * dy).squareRoot()))
                guard inside > 0 else { continue }
                colour.0 += (disc.3 - colour.0) * inside
                colour.1 += (disc.4 - colour.1) * inside
                colour.2 += (disc.5 - colour.2) * inside
            }
            return (colour.0 + grain, colour.1 + grain, colour.2 + grain * 0.8)
        }
    }

    private static func draw(_ width: Int, _ height: Int, _ colour: (Int, Int) -> (Double, Double, Double)) -> Pixels {
        var bytes = [UInt8](repeating: 0, count: width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let (red, green, blue) = colour(x, y)
                let place = (y * width + x) * 3
                bytes[place] = UInt8(max(0, min(255, red.rounded())))
                bytes[place + 1] = UInt8(max(0, min(255, green.rounded())))
                bytes[place + 2] = UInt8(max(0, min(255, blue.rounded())))
            }
        }
        return Pixels(width: width, height: height, channels: 3, bytes: bytes)
    }
}
