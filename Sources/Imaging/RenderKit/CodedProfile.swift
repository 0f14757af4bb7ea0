internal import Glibc
package import Images

/// Builds an ICC profile, for LittleCMS, from the colours that a file names by the code points of ITU-T H.273.
///
/// High dynamic range is mapped to a screen's range by the reference white operator of SMPTE ST 2094-50 (annex D of its
/// second candidate draft), as Chromium 156 maps images without their own metadata.
package enum CodedProfile {
    /// The profile; nil if the colours are sRGB's, or no code point names others.
    ///
    /// - Parameter isGrey: whether pixels have one channel.
    package static func bytes(for colours: ColourCodes, isGrey: Bool) -> [UInt8]? {
        if colours.isHDR { return isGrey ? nil : table(colours) }
        let curve = colours.gamma > 0 ? power(100_000 / Double(colours.gamma)) : Self.curve(colours.transfer)
        if isGrey { return curve.map { profile([("wtpt", xyz(white)), ("kTRC", $0)], pixels: "GRAY") } }
        let points = stride(from: 0, to: colours.chromaticities.count - 1, by: 2).map { place in
            (x: Double(colours.chromaticities[place]) / 100_000, y: Double(colours.chromaticities[place + 1]) / 100_000)
        }
        let own = points.count == 4 ? Array(points[1...] + points[..<1]) : chromaticities(colours.primaries)
        guard let primaries = own ?? (curve == nil ? nil : srgb) else { return nil }
        return matrix(primaries, curve ?? table(linear))
    }

    /// The curve of a transfer code; nil for sRGB's.
    private static func curve(_ transfer: Int) -> [UInt8]? {
        switch transfer {
        // BT.1886, the curve of screens for video.
        case 1, 6, 14, 15: power(2.4)
        case 4: power(2.2)
        case 5: power(2.8)
        case 8: power(1)
        // SMPTE ST 428-1: 48 cd/m² is white.
        case 17: table { min(1, pow($0, 2.6) * 52.37 / 48) }
        default: nil
        }
    }

    private typealias Chromaticities = [(x: Double, y: Double)]
    private typealias Matrix = [[Double]]
    private static let d65 = (x: 0.3127, y: 0.3290)
    private static let srgb: Chromaticities = [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060), d65]
    private static let rec2020: Chromaticities = [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046), d65]

    /// Red, green, blue and white of a primaries code; nil for sRGB's.
    private static func chromaticities(_ code: Int) -> Chromaticities? {
        switch code {
        case 5: [(0.640, 0.330), (0.290, 0.600), (0.150, 0.060), d65]
        case 6, 7: [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), d65]
        case 9: rec2020
        case 11: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)]
        case 12: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), d65]
        default: nil
        }
    }

    private static func matrix(_ primaries: Chromaticities, _ curve: [UInt8]) -> [UInt8] {
        let colorants = toD50(primaries)
        let columns = (0..<3).map { column in xyz((0..<3).map { colorants[$0][column] }) }
        return profile([
            ("rXYZ", columns[0]), ("gXYZ", columns[1]), ("bXYZ", columns[2]), ("wtpt", xyz(white)), ("rTRC", curve),
            ("gTRC", curve), ("bTRC", curve),
        ])
    }

    private static let grid = 25

    private static func table(_ colours: ColourCodes) -> [UInt8] {
        // Adapts all to one white, because the cinema white is not D65.
        let to2020 = product(inverse(toD50(rec2020)), toD50(chromaticities(colours.primaries) ?? srgb))
        let toScreen = product(inverse(toD50(srgb)), toD50(rec2020))
        let toPCS = toD50(srgb)
        let levels = (0..<grid).map { Double($0) / Double(grid - 1) }
        var cells: [UInt8] = []
        cells.reserveCapacity(grid * grid * grid * 6)
        let isHLG = colours.transfer == 18
        let light = levels.map { isHLG ? hlg($0) : pq($0) / screenWhite }
        for red in light {
            for green in light {
                for blue in light {
                    var wide = apply(to2020, [red, green, blue])
                    if isHLG { wide = shown(wide) }
                    let screen = apply(toScreen, mapped(wide)).map { min(max($0, 0), 1) }
                    cells += lab(apply(toPCS, screen))
                }
            }
        }
        let line = big(0, 2) + big(65_535, 2)
        let identity: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap { big($0 << 16, 4) }
        let content =
            [3, 3, UInt8(grid), 0] + identity + big(2, 2) + big(2, 2) + line + line + line + cells + line + line + line
        return profile([("A2B0", tag("mft2", content)), ("wtpt", xyz(white))], space: "Lab ")
    }

    /// White, and the highest expected brightness, in candelas per square metre.
    private static let (screenWhite, brightest) = (203.0, 1_000.0)

    /// SMPTE ST 2084: the light of a code value, in candelas per square metre.
    private static func pq(_ value: Double) -> Double {
        let power = pow(value, 32 / 2523.0)
        let (c1, c2, c3) = (3424 / 4096.0, 2413 / 128.0, 2392 / 128.0)
        return 10_000 * pow(max(power - c1, 0) / (c2 - c3 * power), 16_384 / 2610.0)
    }

    /// ARIB STD-B67: the light of the scene, up to 1.
    private static func hlg(_ value: Double) -> Double {
        let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
        return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    /// Light of a screen of 1,000 cd/m² that shows the scene, relative to white as 1.
    private static func shown(_ scene: [Double]) -> [Double] {
        let brightness = max(0, 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2])
        let factor = brightness > 0 ? pow(brightness, 0.2) * brightest / screenWhite : 0
        return scene.map { $0 * factor }
    }

    /// Maps all three colours by one factor, from the largest of them, so that hues stay.
    private static func mapped(_ light: [Double]) -> [Double] {
        let most = light.max() ?? 0
        let factor = most > 1 ? bent(most) / most : whiteShown
        return light.map { $0 * factor }
    }

    /// Light of white on a screen without headroom.
    private static let whiteShown = 0.5

    /// Maps light above white by a Bézier curve from white to the brightest, which starts with the slope below white.
    private static func bent(_ light: Double) -> Double {
        let (kappa, top) = (0.65, brightest / screenWhite)
        guard light < top else { return 1 }
        let middle = (x: 1 - kappa + kappa / whiteShown, y: (1 - kappa) * whiteShown + kappa)
        let (x2, x1) = (1 - 2 * middle.x + top, 2 * (middle.x - 1))
        let (y2, y1) = (whiteShown - 2 * middle.y + 1, 2 * (middle.y - whiteShown))
        let place = (sqrt(x1 * x1 + 4 * x2 * (light - 1)) - x1) / (2 * x2)
        return whiteShown + (y1 + y2 * place) * place
    }

    private static func linear(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// D50, the white of profiles.
    private static let white = [0.9642, 1.0, 0.8249]

    private static func toXYZ(_ of: Chromaticities) -> Matrix {
        func point(_ at: (x: Double, y: Double)) -> [Double] { [at.x / at.y, 1, (1 - at.x - at.y) / at.y] }
        let columns = (0..<3).map { point(of[$0]) }
        let rows = (0..<3).map { row in (0..<3).map { columns[$0][row] } }
        let scale = apply(inverse(rows), point(of[3]))
        return rows.map { row in (0..<3).map { row[$0] * scale[$0] } }
    }

    /// Matrix to XYZ with the profiles' white, by Bradford's adaptation.
    private static func toD50(_ of: Chromaticities) -> Matrix {
        let cone: Matrix = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
        let own = toXYZ(of)
        let (from, to) = (apply(cone, apply(own, [1, 1, 1])), apply(cone, white))
        let scale: Matrix = (0..<3).map { row in (0..<3).map { row == $0 ? to[row] / from[row] : 0 } }
        return product(inverse(cone), product(scale, product(cone, own)))
    }

    private static func apply(_ matrix: Matrix, _ vector: [Double]) -> [Double] {
        matrix.map { $0[0] * vector[0] + $0[1] * vector[1] + $0[2] * vector[2] }
    }

    private static func product(_ a: Matrix, _ b: Matrix) -> Matrix {
        a.map { row in (0..<3).map { column in (0..<3).reduce(0) { $0 + row[$1] * b[$1][column] } } }
    }

    private static func inverse(_ m: Matrix) -> Matrix {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r, c) = ([0, 1, 2].filter { $0 != row }, [0, 1, 2].filter { $0 != column })
            let sign: Double = (row + column) % 2 == 0 ? 1 : -1
            return sign * (m[r[0]][c[0]] * m[r[1]][c[1]] - m[r[0]][c[1]] * m[r[1]][c[0]])
        }
        let determinant = (0..<3).reduce(0) { $0 + m[0][$1] * minor(0, $1) }
        return (0..<3).map { row in (0..<3).map { minor($0, row) / determinant } }
    }

    /// CIELAB in 16 bits, in the encoding of ICC version 2.
    private static func lab(_ xyz: [Double]) -> [UInt8] {
        let f = zip(xyz, white).map { value, white -> Double in
            let part = value / white
            return part > 216 / 24_389.0 ? cbrt(part) : (part * 24_389 / 27 + 16) / 116
        }
        let numbers = [(116 * f[1] - 16) * 652.8, (500 * (f[0] - f[1]) + 128) * 256, (200 * (f[1] - f[2]) + 128) * 256]
        return numbers.flatMap { big(Int(min(max($0, 0), 65_535).rounded()), 2) }
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        tag("XYZ ", values.flatMap { big(Int(($0 * 65_536).rounded()), 4) })
    }

    private static func tag(_ type: String, _ content: [UInt8]) -> [UInt8] { Array(type.utf8) + big(0, 4) + content }

    /// A curve tag, from a function of code values or from an exponent.
    private static func table(_ light: (Double) -> Double) -> [UInt8] {
        let levels = (0..<1024).map { Int((light(Double($0) / 1023) * 65_535).rounded()) }
        return tag("curv", big(levels.count, 4) + levels.flatMap { big($0, 2) })
    }

    private static func power(_ exponent: Double) -> [UInt8] {
        tag("para", big(0, 4) + big(Int((exponent * 65_536).rounded()), 4))
    }

    private static func profile(
        _ own: [(String, [UInt8])], pixels: String = "RGB ", space: String = "XYZ "
    ) -> [UInt8] {
        let name = tag("desc", big(6, 4) + Array("coded\0".utf8) + [UInt8](repeating: 0, count: 78))
        let tags = own + [("desc", name), ("cprt", tag("text", Array("none\0".utf8)))]
        let start = 132 + 12 * tags.count
        var (table, data): ([UInt8], [UInt8]) = (big(tags.count, 4), [])
        for (name, content) in tags {
            table += Array(name.utf8) + big(start + data.count, 4) + big(content.count, 4)
            data += content + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        }
        var header = big(start + data.count, 4) + big(0, 4) + big(0x0210_0000, 4) + Array("mntr\(pixels)\(space)".utf8)
        header += big(2026, 2) + big(1, 2) + big(1, 2) + big(0, 6) + Array("acsp".utf8) + big(0, 28)
        header += white.flatMap { big(Int(($0 * 65_536).rounded()), 4) }
        return header + [UInt8](repeating: 0, count: 128 - header.count) + table + data
    }
}
