internal import Foundation

extension Drawing {
    /// What the numbered drawings show, four of each.
    package enum Kind: CaseIterable, Sendable {
        case page, colouredText, lines, chart, screen

        package static func of(_ number: Int) -> Kind { allCases[number % allCases.count] }
    }

    package static let count = 20

    /// One of twenty text and line drawings; the same pixels in each run and on each machine.
    package static func numbered(_ number: Int, width: Int, height: Int) -> Pixels {
        var random = DrawingRandom(seed: UInt64(number))
        return switch Kind.of(number) {
        case .page: page(width, height, &random)
        case .colouredText: colouredText(width, height, &random)
        case .lines: lines(width, height, &random)
        case .chart: chart(width, height, &random)
        case .screen: screen(width, height, &random)
        }
    }

    private static func page(_ width: Int, _ height: Int, _ random: inout DrawingRandom) -> Pixels {
        var drawing = Drawing(width: width, height: height)
        var y = 20.0
        while y < Double(height) - 40 {
            let size = [11.0, 13, 16, 22, 34][random.below(5)]
            for _ in 0..<(1 + random.below(5)) {
                drawing.text(random.words(Int(Double(width - 40) / (0.675 * size))), 20, y, size: size, (20, 20, 24))
                y += size * 1.35
            }
            y += 12
        }
        return drawing.pixels
    }

    private static func colouredText(_ width: Int, _ height: Int, _ random: inout DrawingRandom) -> Pixels {
        var drawing = Drawing(width: width, height: height)
        let band = height / 6
        for i in 0...6 {
            let (paper, ink) = (random.colour(), random.colour())
            drawing.fill(0, i * band, width, band, paper)
            var y = Double(i * band) + 6
            while y < Double((i + 1) * band) - 20 {
                let size = Double(12 + random.below(20))
                drawing.text(random.words(Int(Double(width) / (0.675 * size))), 10, y, size: size, ink)
                y += size * 1.3
            }
        }
        return drawing.pixels
    }

    private static func lines(_ width: Int, _ height: Int, _ random: inout DrawingRandom) -> Pixels {
        var drawing = Drawing(width: width, height: height)
        let (w, h) = (Double(width), Double(height))
        for _ in 0..<70 {
            drawing.line(
                (random.unit() * w, random.unit() * h), (random.unit() * w, random.unit() * h),
                thick: 1 + 2 * random.unit() * random.unit(), random.below(3) == 0 ? random.colour() : (0, 0, 0))
        }
        for _ in 0..<25 {
            drawing.circle(
                random.unit() * w, random.unit() * h, radius: 8 + random.unit() * w / 6, thick: 1 + random.unit(),
                random.below(3) == 0 ? random.colour() : (0, 0, 0))
        }
        for i in 0..<30 { drawing.fill(width / 2 + 3 * i, height / 2, 1 + i % 2, height / 4, (0, 0, 0)) }
        return drawing.pixels
    }

    private static func chart(_ width: Int, _ height: Int, _ random: inout DrawingRandom) -> Pixels {
        var drawing = Drawing(width: width, height: height)
        let (left, bottom) = (60, height - 50)
        for i in 0..<10 {
            let y = bottom - i * (bottom - 30) / 10
            drawing.fill(left, y, width - left - 20, 1, (210, 210, 214))
            drawing.text("\(i * 25)", 16, Double(y - 7), size: 14, (70, 70, 74))
        }
        let bar = max(8, (width - left - 40) / 16)
        for i in 0..<15 {
            let tall = 20 + random.below(max(1, bottom - 60))
            drawing.fill(left + 10 + i * bar, bottom - tall, bar * 2 / 3, tall, random.colour())
            drawing.text(random.words(4), Double(left + 8 + i * bar), Double(bottom + 10), size: 12, (40, 40, 44))
        }
        for _ in 0..<3 {
            let ink = random.colour()
            var last = (x: Double(left), y: Double(bottom) / 2)
            for i in 1...40 {
                let next = (
                    x: Double(left + i * (width - left - 30) / 40),
                    y: last.y + (random.unit() - 0.5) * Double(height) / 8
                )
                drawing.line(last, next, thick: 2, ink)
                last = next
            }
        }
        return drawing.pixels
    }

    private static func screen(_ width: Int, _ height: Int, _ random: inout DrawingRandom) -> Pixels {
        var drawing = Drawing(width: width, height: height, paper: (246, 247, 249))
        drawing.fill(0, 0, width, 44, (36, 41, 52))
        drawing.text(random.words(40), 16, 14, size: 17, (240, 240, 244))
        drawing.fill(0, 44, width / 5, height, (230, 233, 238))
        var y = 64
        while y < height - 30 {
            drawing.text(random.words(width / 60), 14, Double(y), size: 14, (50, 60, 160))
            y += 26
        }
        y = 64
        while y < height - 120 {
            drawing.fill(width / 5 + 20, y, width * 4 / 5 - 40, 100, (255, 255, 255))
            drawing.fill(width / 5 + 20, y, 4, 100, random.colour())
            for row in 0..<4 {
                drawing.text(
                    random.words(width / 12), Double(width / 5 + 36), Double(y + 10 + row * 22),
                    size: row == 0 ? 18 : 13,
                    thick: row == 0 ? 0.15 : 0.1, row == 3 ? random.colour() : (30, 32, 38))
            }
            y += 116
        }
        return drawing.pixels
    }
}

/// A generator of its own, so that the drawings stay what they are whatever Swift's own does.
private struct DrawingRandom {
    private var state: UInt64

    init(seed: UInt64) { state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func unit() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 33) / Double(1 << 31)
    }

    mutating func below(_ count: Int) -> Int { min(count - 1, Int(unit() * Double(count))) }

    mutating func colour() -> Drawing.Colour {
        let saturated: [Drawing.Colour] = [
            (220, 20, 40), (20, 60, 220), (10, 140, 60), (250, 200, 0), (120, 0, 160), (255, 255, 255), (0, 0, 0),
            (0, 160, 200), (255, 110, 0),
        ]
        return saturated[below(saturated.count)]
    }

    mutating func words(_ deadLetters: Int) -> String {
        let alphabet = Array("etaoinshrdlucmfwypvbgkjqxz.0123456789-AEMRT")
        var text = ""
        while text.count < deadLetters {
            for _ in 0..<(2 + below(8)) where text.count < deadLetters {
                text.append(alphabet[below(2) == 0 ? below(12) : below(alphabet.count)])
            }
            text.append(" ")
        }
        return text
    }
}
