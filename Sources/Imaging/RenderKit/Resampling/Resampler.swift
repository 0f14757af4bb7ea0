internal import CPixels
package import VariantSpec

/// One resize in progress: takes the base's rows from the top, and writes upright output pixels.
///
/// It first combines rows, four at a time, then their pixels. So it needs only the base rows of one output row, and a
/// picture is never held at its decoded size. These are at most about 150 rows: a reduction of more than 16 times is
/// first reduced by whole factors.
package final class Resampler {
    /// Whether this machine has AVX2; detected once, at start.
    package static let hasAVX2 = mz_has_avx2()

    package let canvas: Canvas
    private let across: Axis
    private let down: Axis
    /// Reduction of the base, in pixels, before `across` and `down` apply.
    private let factors: (across: Int, down: Int)
    private let blocks: BlockMeans?
    private let layout: PixelLayout
    private let pairs: [Int16]
    private let firsts: [Int32]
    private let width: Int
    private let height: Int
    private let hasAVX2: Bool
    /// Address of the output's first pixel, and the distances to the next pixel in its row and in its column.
    private let origin: Int
    private let step: Int
    private let rowStep: Int
    private var next = 0
    private let mixed: UnsafeMutablePointer<UInt8>
    private let mixedStride: Int
    private static let rowsAtOnce = 4
    /// Largest reduction by the kernel alone. A larger one begins with means of blocks, and leaves at least half of
    /// this to the kernel.
    private static let largest = 16

    /// - Parameter own: canvas for the output, of its size and layout; by default a new one.
    package init(
        _ across: Extent, _ down: Extent, of base: PixelSize, to size: PixelSize, _ orientation: Orientation = .upright,
        _ layout: PixelLayout = .rgb, avx2: Bool = Resampler.hasAVX2, into own: Canvas? = nil
    ) {
        self.layout = layout
        factors = (Self.factor(across, size.width), Self.factor(down, size.height))
        self.across = Axis(across, of: base.width, by: factors.across, count: size.width, multiple: 4)
        self.down = Axis(down, of: base.height, by: factors.down, count: size.height, multiple: 2)
        pairs = self.across.paired
        let used = self.across.used
        (width, height) = (base.width, base.height)
        blocks =
            factors == (1, 1)
            ? nil
            : BlockMeans(
                by: factors, columns: self.across.pixels(of: base.width, by: factors.across),
                rows: self.down.pixels(of: base.height, by: factors.down), layout,
                window: Self.window(self.down))
        firsts = self.across.first.map { $0 - Int32(used.lowerBound) }
        hasAVX2 = avx2
        canvas = own ?? Canvas(orientation.upright(size), layout)
        let turn = orientation.turn
        let right = turn.mirrorsAcross ? -layout.bytes : layout.bytes
        let below = turn.mirrorsDown ? -canvas.stride : canvas.stride
        origin =
            (turn.mirrorsAcross ? canvas.stride - layout.bytes : 0)
            + (turn.mirrorsDown ? (canvas.size.height - 1) * canvas.stride : 0)
        (step, rowStep) = orientation.swapsSides ? (below, right) : (right, below)
        mixedStride = used.count * layout.bytes + Canvas.slack * 2
        mixed = .allocate(capacity: mixedStride * Self.rowsAtOnce)
        mixed.initialize(repeating: 0, count: mixedStride * Self.rowsAtOnce)
    }
    deinit { mixed.deallocate() }

    /// Base pixels that are averaged into one before the kernel.
    private static func factor(_ extent: Extent, _ count: Int) -> Int {
        let scale = extent.length / Double(count)
        return scale > Double(largest) ? Int(scale) / (largest / 2) : 1
    }

    /// The part of the base that the output uses.
    package var columns: Range<Int> { across.pixels(of: width, by: factors.across) }
    package var rows: Range<Int> { down.pixels(of: height, by: factors.down) }

    /// Base rows that must stay readable together, in addition to those that arrived since `advance`.
    package var window: Int { blocks == nil ? Self.window(down) : 0 }

    private static func window(_ down: Axis) -> Int {
        Swift.stride(from: 0, to: down.count, by: rowsAtOnce).reduce(0) { most, y in
            let last = min(y + rowsAtOnce, down.count) - 1
            return max(most, Int(down.first[last]) + down.taps - Int(down.first[y]))
        }
    }

    /// Writes every output row whose base rows are available: those below `available`, of `bound` rows, by `row`.
    package func advance(_ available: Int, of bound: Int, row: (Int) -> UnsafePointer<UInt8>) {
        guard let blocks else { return mix(available, of: bound, row: row) }
        let count = (bound + factors.down - 1) / factors.down
        while blocks.take(until: available, row: row) { mix(blocks.available, of: count, row: blocks.row) }
    }

    private func mix(_ available: Int, of bound: Int, row: (Int) -> UnsafePointer<UInt8>) {
        let from = across.used.lowerBound * layout.bytes
        while next < down.count {
            let last = min(next + Self.rowsAtOnce, down.count) - 1
            guard min(Int(down.first[last]) + down.taps, bound) <= available else { return }
            withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: down.taps) { rows in
                for y in next...last {
                    for k in 0..<down.taps { rows[k] = row(min(Int(down.first[y]) + k, bound - 1)) + from }
                    mixRows(rows, as: y, to: mixed + (y - next) * mixedStride)
                }
            }
            // At the end, the last row repeats for missing rows.
            let ins = (0..<Self.rowsAtOnce).map {
                UnsafePointer(mixed + min($0, last - next) * mixedStride) as UnsafePointer?
            }
            let outs = (0..<Self.rowsAtOnce).map {
                canvas.bytes + origin + min(next + $0, last) * rowStep as UnsafeMutablePointer?
            }
            mixPixels(ins, outs)
            next = last + 1
        }
    }

    private func mixRows(
        _ rows: UnsafeMutableBufferPointer<UnsafePointer<UInt8>?>, as y: Int, to out: UnsafeMutablePointer<UInt8>
    ) {
        down.weights.withUnsafeBufferPointer { weights in
            let (own, taps) = (weights.baseAddress! + y * down.taps, Int32(down.taps))
            guard layout.isFloat else {
                return mz_mix_rows(hasAVX2, rows.baseAddress!, own, taps, out, across.used.count * layout.bytes)
            }
            rows.withMemoryRebound(to: UnsafePointer<Float>?.self) { rows in
                let count = across.used.count * layout.channels
                out.withMemoryRebound(to: Float.self, capacity: count) {
                    mz_mix_rows_of_floats(rows.baseAddress!, own, taps, $0, count)
                }
            }
        }
    }

    private func mixPixels(_ ins: [UnsafePointer<UInt8>?], _ outs: [UnsafeMutablePointer<UInt8>?]) {
        let (taps, count, channels) = (Int32(across.taps), Int32(across.count), Int32(layout.channels))
        guard layout.isFloat else {
            return mz_mix_pixels(hasAVX2, ins, firsts, pairs, taps, count, outs, step, channels)
        }
        ins.withUnsafeBufferPointer { ins in
            ins.withMemoryRebound(to: UnsafePointer<Float>?.self) { ins in
                outs.withUnsafeBufferPointer { outs in
                    outs.withMemoryRebound(to: UnsafeMutablePointer<Float>?.self) { outs in
                        mz_mix_floats(
                            ins.baseAddress!, firsts, pairs, taps, count, outs.baseAddress!, step / 4, channels)
                    }
                }
            }
        }
    }

    /// Resamples all rows of another canvas.
    package func take(_ base: Canvas) {
        advance(base.size.height, of: base.size.height) { UnsafePointer(base.bytes + $0 * base.stride) }
    }
}

extension Orientation {
    /// Mirrors that turn stored pixels upright: sides are swapped first.
    package var turn: (mirrorsAcross: Bool, mirrorsDown: Bool) {
        switch self {
        case .upright, .transposed: (false, false)
        case .mirrored, .quarterTurn: (true, false)
        case .upsideDown, .transversed: (true, true)
        case .flipped, .threeQuarterTurn: (false, true)
        }
    }
}
