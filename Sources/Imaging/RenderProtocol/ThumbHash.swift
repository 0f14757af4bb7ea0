internal import Glibc

/// Evan Wallace's ThumbHash: a picture's shape, colours and transparency in at most 25 bytes.
package enum ThumbHash {
    package static let byteLimit = 25

    /// A picture drawn from a hash, on white: rows of RGB without gaps, `side` pixels on the longer side.
    package struct Drawing: Sendable, Hashable {
        package let width: Int
        package let height: Int
        package let rgb: [UInt8]
    }

    /// - Returns: nil if the bytes are no hash.
    package static func drawing(of hash: [UInt8], side: Int) -> Drawing? {
        guard hash.count >= 5, (1...100).contains(side) else { return nil }
        let head = Int(hash[0]) | Int(hash[1]) << 8 | Int(hash[2]) << 16
        let tail = Int(hash[3]) | Int(hash[4]) << 8
        let (hasAlpha, isLandscape) = (head >> 23 == 1, tail >> 15 == 1)
        guard !hasAlpha || hash.count > 5 else { return nil }
        let (long, short) = (hasAlpha ? 5 : 7, max(1, tail & 7))
        let (across, down) = isLandscape ? (long, short) : (short, long)

        var places = hash.dropFirst(hasAlpha ? 6 : 5).flatMap { [$0 & 15, $0 >> 4] }[...]
        func waves(_ across: Int, _ down: Int, _ scale: Double) -> Waves? {
            let waves = Waves(across, down, places, scale)
            places = places.dropFirst(waves?.factors.count ?? 0)
            return waves
        }
        // Colours are boosted, since the hash has few steps for them: the published algorithm does the same.
        guard let light = waves(max(3, across), max(3, down), Double(head >> 18 & 31) / 31),
            let yellow = waves(3, 3, Double(tail >> 3 & 63) / 63 * 1.25),
            let red = waves(3, 3, Double(tail >> 9 & 63) / 63 * 1.25),
            let alpha = hasAlpha ? waves(5, 5, Double(hash[5] >> 4) / 15) : Waves.none
        else { return nil }
        let means = (
            light: Double(head & 63) / 63, yellow: Double(head >> 6 & 63) / 31.5 - 1,
            red: Double(head >> 12 & 63) / 31.5 - 1, alpha: hasAlpha ? Double(hash[5] & 15) / 15 : 1
        )
        let shorter = max(1, Int((Double(side * min(across, down)) / Double(max(across, down))).rounded()))
        let (width, height) = across >= down ? (side, shorter) : (shorter, side)
        var rgb: [UInt8] = []
        for row in 0..<height {
            for column in 0..<width {
                let (x, y) = ((Double(column) + 0.5) / Double(width), (Double(row) + 0.5) / Double(height))
                let (l, p, q) = (means.light + light[x, y], means.yellow + yellow[x, y], means.red + red[x, y])
                let shown = min(max(0, means.alpha + alpha[x, y]), 1)
                let blue = l - p * 2 / 3
                let redder = (3 * l - blue + q) / 2
                for level in [redder, redder - q, blue] {
                    rgb.append(UInt8(((min(max(0, level), 1) * shown + 1 - shown) * 255).rounded()))
                }
            }
        }
        return Drawing(width: width, height: height, rgb: rgb)
    }

    /// A channel's low frequencies, without its mean.
    private struct Waves {
        let factors: [(x: Int, y: Int, value: Double)]
        static let none = Waves(factors: [])

        private init(factors: [(x: Int, y: Int, value: Double)]) { self.factors = factors }

        /// Decodes four bits for each; nil if the bytes end early.
        init?(_ across: Int, _ down: Int, _ places: ArraySlice<UInt8>, _ scale: Double) {
            let frequencies = (0..<down).flatMap { y in
                (0..<across).filter { x in x * down < across * (down - y) && (x > 0 || y > 0) }.map { (x: $0, y: y) }
            }
            guard places.count >= frequencies.count else { return nil }
            factors = zip(frequencies, places).map { ($0.x, $0.y, (Double($1) / 7.5 - 1) * scale) }
        }

        subscript(x: Double, y: Double) -> Double {
            factors.reduce(0) { sum, factor in
                sum + 2 * factor.value * cos(.pi * x * Double(factor.x)) * cos(.pi * y * Double(factor.y))
            }
        }
    }
}
