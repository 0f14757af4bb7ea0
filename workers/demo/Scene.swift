/// A drawn, photograph-like picture: hazy mountains by day or dusk, with clouds, woods, often a lake, and the grain of
/// a sensor. Its statistics (soft gradients, detail at every scale, hard edges) resemble those of photographs for
/// encoders and resamplers.
struct Scene: Sendable {
    typealias Colour = SIMD3<Float>

    let width: Int
    let height: Int
    private let noise: Noise
    private let grain: Noise
    private let zenith: Colour
    private let horizon: Colour
    private let ground: Colour
    private let sun: SIMD2<Float>
    private let shore: Float
    /// The crest of each ridge by column, the farthest ridge first: the same for every row.
    private let crests: [[Float]]

    init(width: Int, height: Int, seed: UInt64) {
        (self.width, self.height) = (width, height)
        noise = Noise(seed: seed &* 0x2545_F491_4F6C_DD1D)
        grain = Noise(seed: seed ^ 0xA5A5_A5A5)
        let palettes: [(Colour, Colour, Colour)] = [
            ([0.16, 0.38, 0.72], [0.78, 0.87, 0.95], [0.18, 0.34, 0.14]),
            ([0.12, 0.14, 0.34], [0.98, 0.62, 0.36], [0.16, 0.13, 0.12]),
            ([0.30, 0.47, 0.62], [0.90, 0.90, 0.86], [0.36, 0.31, 0.20]),
            ([0.22, 0.20, 0.42], [0.94, 0.74, 0.78], [0.12, 0.22, 0.24]),
        ]
        (zenith, horizon, ground) = palettes[Int(seed % 4)]
        sun = [noise.value(1, 7), 0.10 + 0.22 * noise.value(2, 7)]
        shore = seed % 3 == 0 ? 2 : 0.74 + 0.1 * noise.value(3, 7)
        let (noise, ridges, aspect) = (noise, 3 + Int(seed % 3), Float(width) / Float(min(width, height)))
        crests = (0..<ridges).map { ridge in
            let (nearness, offset) = (Float(ridge + 1) / Float(ridges), Float(ridge) * 31.7)
            return (0..<width).map { column in
                let x = (Float(column) + 0.5) / Float(width) * aspect
                let rough = noise.fractal(x * (1.1 + 1.6 * nearness) + offset, offset, octaves: 8)
                return 0.30 + 0.34 * nearness - 0.42 * (rough - 0.35) * (1.15 - 0.5 * nearness)
            }
        }
    }

    /// One row as 8-bit RGB.
    func row(_ y: Int) -> [UInt8] {
        let scale = Float(min(width, height))
        let (aspectX, aspectY) = (Float(width) / scale, Float(height) / scale)
        return [UInt8](unsafeUninitializedCapacity: width * 3) { out, count in
            for x in 0..<width {
                let point = SIMD2((Float(x) + 0.5) / Float(width), (Float(y) + 0.5) / Float(height))
                var colour = colour(at: point, aspectX, aspectY)
                colour += (grain.value(x, y) - 0.5) * 0.06
                let levels = (colour.clamped(lowerBound: .zero, upperBound: .one) * 255).rounded(.toNearestOrEven)
                for channel in 0..<3 { out[x * 3 + channel] = UInt8(levels[channel]) }
            }
            count = width * 3
        }
    }

    private func colour(at point: SIMD2<Float>, _ aspectX: Float, _ aspectY: Float) -> Colour {
        guard point.y > shore else { return land(point.x * aspectX, point.y, aspectX, aspectY) }
        // The lake mirrors the scene above the shore, broken by waves that grow towards us.
        let depth = (point.y - shore) / (1 - shore)
        let wave = noise.fractal(point.x * 14, point.y * aspectY * 90, octaves: 3) - 0.45
        let mirrored = max(0, 2 * shore - point.y + wave * 0.05 * (0.3 + depth))
        let seen = land((point.x + wave * 0.012) * aspectX, mirrored, aspectX, aspectY)
        return mix(seen * 0.82, zenith * 0.45, 0.18 + 0.35 * depth)
    }

    private func land(_ x: Float, _ y: Float, _ aspectX: Float, _ aspectY: Float) -> Colour {
        let column = min(max(Int(x / aspectX * Float(width)), 0), width - 1)
        guard let ridge = crests.lastIndex(where: { y > $0[column] }) else { return sky(x, y, aspectX, aspectY) }
        let (nearness, offset) = (Float(ridge + 1) / Float(crests.count), Float(ridge) * 31.7)
        let scale = 5 + 22 * nearness
        let texture = noise.fractal(x * scale + offset, y * aspectY * scale, octaves: 6)
        // Light from the sun's side: the slope of the texture towards it.
        let lit = texture - noise.fractal((x + 0.004) * scale + offset, (y * aspectY - 0.003) * scale, octaves: 3)
        let body = ground * (0.55 + 0.9 * texture) + lit * 0.35
        return mix(body, horizon, max(0, 0.86 - nearness) * 0.9)
    }

    private func sky(_ x: Float, _ y: Float, _ aspectX: Float, _ aspectY: Float) -> Colour {
        var colour = mix(zenith, horizon, min(1, max(0, y * 1.7)))
        let away = SIMD2(x - sun.x * aspectX, (y - sun.y) * aspectY)
        let distance = (away * away).sum().squareRoot()
        colour += Colour(1, 0.86, 0.62) * (distance < 0.028 ? 0.9 : 0.028 * 0.5 / distance)
        let cloud = noise.fractal(x * 2.4 + 90, y * aspectY * 5.5, octaves: 7)
        return mix(colour, mix(horizon, Colour(1, 1, 1), 0.6), min(0.9, max(0, (cloud - 0.46) * 3.2)))
    }

    private func mix(_ a: Colour, _ b: Colour, _ t: Float) -> Colour { a + (b - a) * t }
}
