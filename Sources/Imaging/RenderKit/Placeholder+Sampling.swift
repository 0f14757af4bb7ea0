package import RenderProtocol
internal import VariantSpec

extension Placeholder {
    /// - Parameter pixels: rows without gaps of 1 (grey), 2 (grey and alpha), 3 or 4 bytes per pixel, in sRGB.
    package init(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int, channels: Int) {
        self.init()
        guard width > 0, height > 0, (1...4).contains(channels), pixels.count >= width * height * channels else {
            return
        }
        let sample = Sample(pixels, width, height, channels)
        thumbHash = ThumbHash.bytes(rgba: sample.rgba, width: sample.width, height: sample.height)
        colour = sample.dominant
    }
}

/// A picture of at most 32 pixels a side, four bytes each.
private struct Sample {
    let width: Int
    let height: Int
    private(set) var rgba: [UInt8]
    private static let side = 32
    /// Pixels that are read in each cell, along each axis.
    private static let taken = 4

    init(_ pixels: UnsafeRawBufferPointer, _ fullWidth: Int, _ fullHeight: Int, _ channels: Int) {
        let long = max(fullWidth, fullHeight)
        let side = min(Self.side, long)
        width = max(1, (fullWidth * side + long / 2) / long)
        height = max(1, (fullHeight * side + long / 2) / long)
        rgba = []
        rgba.reserveCapacity(width * height * 4)
        let hasAlpha = channels == 2 || channels == 4
        let colours = hasAlpha ? channels - 1 : channels
        for y in 0..<height {
            let rows = Self.places(y, of: height, in: fullHeight)
            for x in 0..<width {
                var (sums, weight, count) = (SIMD4<Int>(), 0, 0)
                for column in Self.places(x, of: width, in: fullWidth) {
                    for row in rows {
                        let place = (row * fullWidth + column) * channels
                        let alpha = hasAlpha ? Int(pixels[place + colours]) : 255
                        let (green, blue) = colours == 1 ? (0, 0) : (1, 2)
                        sums[0] += Int(pixels[place]) * alpha
                        sums[1] += Int(pixels[place + green]) * alpha
                        sums[2] += Int(pixels[place + blue]) * alpha
                        weight += alpha
                        count += 1
                    }
                }
                for band in 0..<3 { rgba.append(UInt8(weight == 0 ? 0 : sums[band] / weight)) }
                rgba.append(UInt8(weight / count))
            }
        }
    }

    private static func places(_ index: Int, of cells: Int, in side: Int) -> [Int] {
        let (from, to) = (index * side / cells, max(index * side / cells + 1, (index + 1) * side / cells))
        let count = min(taken, to - from)
        return (0..<count).map { from + (2 * $0 + 1) * (to - from) / (2 * count) }
    }

    /// The mean colour of the fullest of 512 boxes of colours, weighted by alpha.
    var dominant: RGB? {
        var boxes = [SIMD4<Int>](repeating: SIMD4(), count: 512)
        for place in stride(from: 0, to: rgba.count, by: 4) {
            let (red, green, blue, alpha) = (
                Int(rgba[place]), Int(rgba[place + 1]), Int(rgba[place + 2]), Int(rgba[place + 3])
            )
            boxes[(red >> 5) << 6 | (green >> 5) << 3 | (blue >> 5)] &+=
                SIMD4(red, green, blue, 1) &* SIMD4(repeating: alpha)
        }
        guard let box = boxes.max(by: { $0[3] < $1[3] }), box[3] > 0 else { return nil }
        return RGB(UInt8(box[0] / box[3]), UInt8(box[1] / box[3]), UInt8(box[2] / box[3]))
    }
}
