internal import Glibc
internal import VariantSpec

/// One axis of a resize: the pixels of the base that each output pixel combines, and their weights.
///
/// The kernel is Lanczos3, or Catmull-Rom for enlargements. Beyond an edge, its last pixel repeats.
struct Axis {
    let count: Int
    /// Number of weights for each output, rounded up to the inner loop's step; surplus weights are 0.
    let taps: Int
    /// Index of the first pixel for each output.
    private(set) var first: [Int32]
    /// Weights for each output, in 1/16384; their sum is 16384.
    private(set) var weights: [Int16]

    private static let one = 16384

    /// Maps `length` pixels from `start`, of a base of `bound` pixels, to `count` pixels.
    init(start: Double, length: Double, bound: Int, count: Int, multiple: Int) {
        self.count = count
        let scale = length / Double(count)
        let stretch = max(1, scale)
        let kernel = scale >= 1 ? Kernel.lanczos3 : .catmullRom
        let support = kernel.support * stretch
        let most = min(Int((2 * support).rounded(.down)) + 1, bound)
        let taps = (most + multiple - 1) / multiple * multiple
        self.taps = taps
        first = [Int32](repeating: 0, count: count)
        weights = [Int16](repeating: 0, count: count * taps)
        var parts = [Double](repeating: 0, count: taps)
        for i in 0..<count {
            let centre = start + (Double(i) + 0.5) * scale
            let low = Int((centre - support - 0.5).rounded(.up))
            let high = max(low, Int((centre + support - 0.5).rounded(.down)))
            let from = max(0, min(low, bound - most))
            for k in 0..<taps { parts[k] = 0 }
            var sum = 0.0
            for pixel in low...high {
                let part = kernel.weight((Double(pixel) + 0.5 - centre) / stretch)
                parts[max(0, min(pixel, bound - 1, from + taps - 1) - from)] += part
                sum += part
            }
            first[i] = Int32(from)
            var left = Self.one
            var largest = i * taps
            for k in 0..<taps where parts[k] != 0 {
                let weight = Int((parts[k] / sum * Double(Self.one)).rounded())
                weights[i * taps + k] = Int16(weight)
                left -= weight
                if parts[k] > parts[largest - i * taps] { largest = i * taps + k }
            }
            // Keeps a flat colour unchanged.
            weights[largest] += Int16(left)
        }
    }

    /// Maps an extent of a side of `length` pixels, after a reduction of that side by `factor`.
    init(_ extent: Extent, of length: Int, by factor: Int, count: Int, multiple: Int) {
        self.init(
            start: extent.start / Double(factor), length: extent.length / Double(factor),
            bound: (length + factor - 1) / factor, count: count, multiple: multiple)
    }

    /// The pixels of the base that any output uses.
    var used: Range<Int> { Int(first.first ?? 0)..<Int(first.last ?? 0) + taps }

    /// The same in pixels of a side of `length`, before a reduction by `factor`.
    func pixels(of length: Int, by factor: Int) -> Range<Int> {
        (used.lowerBound * factor..<used.upperBound * factor).clamped(to: 0..<length)
    }

    /// `weights` in the layout of `mz_mix_pixels`.
    var paired: [Int16] {
        [Int16](unsafeUninitializedCapacity: weights.count * 4) { out, filled in
            for k in stride(from: 0, to: weights.count, by: 4) {
                for lane in 0..<4 {
                    (out[k * 4 + lane * 2], out[k * 4 + lane * 2 + 1]) = (weights[k], weights[k + 1])
                    (out[k * 4 + 8 + lane * 2], out[k * 4 + 8 + lane * 2 + 1]) = (weights[k + 2], weights[k + 3])
                }
            }
            filled = weights.count * 4
        }
    }
}

/// Weight of a pixel by its distance from the output pixel's centre.
private enum Kernel {
    case lanczos3, catmullRom

    var support: Double { self == .lanczos3 ? 3 : 2 }

    func weight(_ distance: Double) -> Double {
        let x = abs(distance)
        guard x < support else { return 0 }
        switch self {
        case .lanczos3:
            let place = x * Double(Self.steps)
            let i = Int(place)
            return Self.lanczos[i] + (Self.lanczos[i + 1] - Self.lanczos[i]) * (place - Double(i))
        case .catmullRom:
            return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((2.5 - 0.5 * x) * x - 4) * x + 2
        }
    }

    /// Table of the kernel, because computing sines would take a tenth of a small resize.
    private static let steps = 1024
    private static let lanczos: [Double] = (0...3 * steps + 1).map { i in
        let x = Double(i) / Double(steps) * .pi
        return i == 0 ? 1 : 3 * sin(x) * sin(x / 3) / (x * x)
    }
}
