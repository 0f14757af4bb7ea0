internal import Foundation

extension Pixels {
    /// Mean CIEDE2000 between two pictures in sRGB, over the pixels that show in both; nil if sizes differ.
    package func meanDeltaE(from other: Pixels) -> Double? {
        guard width == other.width, height == other.height else { return nil }
        var (sum, count) = (0.0, 0)
        for y in 0..<height {
            for x in 0..<width where shows(x, y) && other.shows(x, y) {
                sum += Lab(colour(x, y)).difference(from: Lab(other.colour(x, y)))
                count += 1
            }
        }
        return count == 0 ? nil : sum / Double(count)
    }

    private func shows(_ x: Int, _ y: Int) -> Bool { channels % 2 == 1 || self[x, y, channels - 1] > 0 }

    private func colour(_ x: Int, _ y: Int) -> [Double] {
        (0..<3).map { Double(self[x, y, channels < 3 ? 0 : $0]) / 255 }
    }
}

/// A colour in CIELAB, D65.
package struct Lab {
    package let lightness: Double
    package let a: Double
    package let b: Double

    package init(_ lightness: Double, _ a: Double, _ b: Double) { (self.lightness, self.a, self.b) = (lightness, a, b) }

    /// From sRGB, each channel 0...1.
    init(_ colour: [Double]) {
        let light: [Double] = colour.map { (level: Double) -> Double in
            level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
        }
        func row(_ r: Double, _ g: Double, _ b: Double) -> Double { r * light[0] + g * light[1] + b * light[2] }
        func scaled(_ value: Double) -> Double { value > 216.0 / 24389 ? cbrt(value) : (24389.0 / 27 * value + 16) / 116 }
        let x: Double = row(0.4124564, 0.3575761, 0.1804375) / 0.95047
        let y: Double = row(0.2126729, 0.7151522, 0.0721750)
        let z: Double = row(0.0193339, 0.1191920, 0.9503041) / 1.08883
        let xyz: [Double] = [scaled(x), scaled(y), scaled(z)]
        self.init(116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2]))
    }

    /// CIEDE2000 as Sharma, Wu and Dalal (2005) write it.
    package func difference(from other: Lab) -> Double {
        let meanChroma = (hypot(a, b) + hypot(other.a, other.b)) / 2
        let share: Double = pow(meanChroma, 7) / (pow(meanChroma, 7) + pow(25, 7))
        let grey: Double = 0.5 * (1 - sqrt(share))
        let (a1, a2) = (a * (1 + grey), other.a * (1 + grey))
        let (c1, c2) = (hypot(a1, b), hypot(a2, other.b))
        func hue(_ a: Double, _ b: Double) -> Double {
            a == 0 && b == 0 ? 0 : (atan2(b, a) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
        }
        let (h1, h2) = (hue(a1, b), hue(a2, other.b))
        let isGrey = c1 * c2 == 0
        var turn = isGrey ? 0 : h2 - h1
        if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
        var meanHue = isGrey || abs(h1 - h2) <= 180 ? (h1 + h2) / (isGrey ? 1 : 2) : (h1 + h2 + 360) / 2
        if !isGrey, abs(h1 - h2) > 180, h1 + h2 >= 360 { meanHue = (h1 + h2 - 360) / 2 }
        func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
        let (meanL, meanC) = ((lightness + other.lightness) / 2, (c1 + c2) / 2)
        var t: Double = 1 - 0.17 * cosine(meanHue - 30)
        t += 0.24 * cosine(2 * meanHue)
        t += 0.32 * cosine(3 * meanHue + 6)
        t -= 0.20 * cosine(4 * meanHue - 63)
        let offMiddle: Double = pow(meanL - 50, 2)
        let sl: Double = 1 + 0.015 * offMiddle / sqrt(20 + offMiddle)
        let (sc, sh) = (1 + 0.045 * meanC, 1 + 0.015 * meanC * t)
        let chroma: Double = sqrt(pow(meanC, 7) / (pow(meanC, 7) + pow(25, 7)))
        let bend: Double = 60 * exp(-pow((meanHue - 275) / 25, 2))
        let rotation: Double = -2 * chroma * sin(bend * .pi / 180)
        let l = (other.lightness - lightness) / sl
        let c = (c2 - c1) / sc
        let h: Double = 2 * sqrt(c1 * c2) * sin(turn / 2 * .pi / 180) / sh
        let squares: Double = l * l + c * c + h * h
        return sqrt(max(0, squares + rotation * c * h))
    }
}
