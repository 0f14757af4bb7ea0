internal import Glibc
package import RenderProtocol

extension ThumbHash {
    /// - Parameters:
    ///   - rgba: four bytes a pixel, not premultiplied.
    ///   - width, height: at most 100.
    package static func bytes(rgba: [UInt8], width: Int, height: Int) -> [UInt8] {
        guard (1...100).contains(width), (1...100).contains(height), rgba.count == width * height * 4 else { return [] }
        var average = SIMD4<Double>()
        for place in stride(from: 0, to: rgba.count, by: 4) {
            let alpha = Double(rgba[place + 3]) / 255
            average += SIMD4(
                alpha / 255 * Double(rgba[place]), alpha / 255 * Double(rgba[place + 1]),
                alpha / 255 * Double(rgba[place + 2]), alpha)
        }
        if average.w > 0 { average = SIMD4(average.x / average.w, average.y / average.w, average.z / average.w, average.w) }

        let hasAlpha = average.w < Double(width * height)
        let limit: Double = hasAlpha ? 5 : 7
        let long = Double(max(width, height))
        let (across, down) = (
            max(1, Int((limit * Double(width) / long).rounded())), max(1, Int((limit * Double(height) / long).rounded()))
        )
        // Luminance, yellow-blue and red-green, over the average colour where pixels are transparent.
        var planes = [[Double]](repeating: [], count: 4)
        for place in stride(from: 0, to: rgba.count, by: 4) {
            let alpha = Double(rgba[place + 3]) / 255
            let red = average.x * (1 - alpha) + alpha / 255 * Double(rgba[place])
            let green = average.y * (1 - alpha) + alpha / 255 * Double(rgba[place + 1])
            let blue = average.z * (1 - alpha) + alpha / 255 * Double(rgba[place + 2])
            planes[0].append((red + green + blue) / 3)
            planes[1].append((red + green) / 2 - blue)
            planes[2].append(red - green)
            planes[3].append(alpha)
        }
        let cosines = Cosines(width: width, height: height, across: max(3, across), down: max(3, down))
        let light = Channel(planes[0], cosines, max(3, across), max(3, down))
        let yellow = Channel(planes[1], cosines, 3, 3)
        let red = Channel(planes[2], cosines, 3, 3)

        let isLandscape = width > height
        let head =
            Int((63 * light.mean).rounded()) | Int((31.5 + 31.5 * yellow.mean).rounded()) << 6
            | Int((31.5 + 31.5 * red.mean).rounded()) << 12 | Int((31 * light.scale).rounded()) << 18
            | (hasAlpha ? 1 << 23 : 0)
        let tail =
            (isLandscape ? down : across) | Int((63 * yellow.scale).rounded()) << 3
            | Int((63 * red.scale).rounded()) << 9 | (isLandscape ? 1 << 15 : 0)
        var hash = [head, head >> 8, head >> 16, tail, tail >> 8].map { UInt8(truncatingIfNeeded: $0) }
        var channels = [light, yellow, red]
        if hasAlpha {
            let alpha = Channel(planes[3], cosines, 5, 5)
            hash.append(UInt8(Int((15 * alpha.mean).rounded()) | Int((15 * alpha.scale).rounded()) << 4))
            channels.append(alpha)
        }
        var isHigh = false
        for factor in channels.flatMap(\.factors) {
            let value = UInt8((15 * factor).rounded())
            if isHigh { hash[hash.count - 1] |= value << 4 } else { hash.append(value) }
            isHigh.toggle()
        }
        return hash
    }

    /// cos(π / side · frequency · (index + ½)), computed once for all channels.
    private struct Cosines {
        let width: Int
        let height: Int
        let across: [[Double]]
        let down: [[Double]]

        init(width: Int, height: Int, across: Int, down: Int) {
            func table(_ count: Int, _ side: Int) -> [[Double]] {
                (0..<max(5, count)).map { frequency in
                    (0..<side).map { cos(.pi / Double(side) * Double(frequency) * (Double($0) + 0.5)) }
                }
            }
            (self.width, self.height) = (width, height)
            (self.across, self.down) = (table(across, width), table(down, height))
        }
    }

    /// A plane's mean, its other low frequencies scaled to 0...1, and the scale.
    private struct Channel {
        var mean: Double = 0
        var factors: [Double] = []
        var scale: Double = 0

        init(_ plane: [Double], _ cosines: Cosines, _ across: Int, _ down: Int) {
            for y in 0..<down {
                // Rows of frequencies below the diagonal.
                for x in 0..<across where x * down < across * (down - y) {
                    var sum: Double = 0
                    // In the published order, or a sum near zero rounds to another of two adjacent numbers.
                    for row in 0..<cosines.height {
                        for column in 0..<cosines.width {
                            sum += plane[row * cosines.width + column] * cosines.across[x][column] * cosines.down[y][row]
                        }
                    }
                    sum /= Double(cosines.width * cosines.height)
                    if x == 0, y == 0 {
                        mean = sum
                    } else {
                        factors.append(sum)
                        scale = max(scale, abs(sum))
                    }
                }
            }
            if scale > 0 { factors = factors.map { 0.5 + 0.5 / scale * $0 } }
        }
    }
}
