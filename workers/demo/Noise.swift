/// Smooth noise from a seed: stateless and the same for each point, so that rows can be drawn in any order.
struct Noise: Sendable {
    let seed: UInt64

    /// A value in 0..<1 for a point of the lattice.
    func value(_ x: Int, _ y: Int) -> Float {
        var z =
            seed &+ UInt64(bitPattern: Int64(x)) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(bitPattern: Int64(y))
            &* 0xC2B2_AE3D_27D4_EB4F
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Float((z ^ (z >> 31)) >> 40) / Float(1 << 24)
    }

    /// A value between the points of the lattice.
    func smooth(_ x: Float, _ y: Float) -> Float {
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (i, j) = (Int(left), Int(top))
        let (u, v) = (Self.ease(x - left), Self.ease(y - top))
        let above = value(i, j) + (value(i + 1, j) - value(i, j)) * u
        let below = value(i, j + 1) + (value(i + 1, j + 1) - value(i, j + 1)) * u
        return above + (below - above) * v
    }

    /// A sum of octaves, each twice as fine and half as strong, like the detail of photographs.
    func fractal(_ x: Float, _ y: Float, octaves: Int) -> Float {
        var (sum, weight, scale): (Float, Float, Float) = (0, 0.5, 1)
        for octave in 0..<octaves {
            // Shifted, so that the octaves' lattices do not coincide.
            sum += weight * smooth(x * scale + Float(octave) * 17.3, y * scale + Float(octave) * 9.7)
            weight *= 0.5
            scale *= 2
        }
        return sum
    }

    private static func ease(_ t: Float) -> Float { t * t * (3 - 2 * t) }
}
