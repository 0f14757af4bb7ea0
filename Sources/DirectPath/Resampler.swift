internal import CPixels
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

/// One resize on its way: takes the base's rows from the top, and writes what comes out turned as people see it.
///
/// Rows are mixed first, four at a time, and their pixels after that: so only the rows that one output row is made of are
/// ever needed, and a picture is never held at the size that it is decoded in.
final class Resampler {
    let canvas: Canvas
    private let across: Axis
    private let down: Axis
    private let pairs: [Int16]
    private let columns: [Int32]
    private let hasAVX2: Bool
    /// Where the output's first pixel goes, and how far its next in the row and in the column lie from it.
    private let origin: Int
    private let step: Int
    private let rowStep: Int
    private var next = 0
    private let mixed: UnsafeMutablePointer<UInt8>
    private let mixedStride: Int
    private static let rowsAtOnce = 4

    init(_ across: Extent, _ down: Extent, of base: PixelSize, to size: PixelSize, _ orientation: Orientation, avx2: Bool) {
        self.across = Axis(
            start: across.start, length: across.length, bound: base.width, count: size.width, multiple: 4)
        self.down = Axis(start: down.start, length: down.length, bound: base.height, count: size.height, multiple: 2)
        pairs = self.across.paired
        let used = self.across.used
        columns = self.across.first.map { $0 - Int32(used.lowerBound) }
        hasAVX2 = avx2
        canvas = Canvas(orientation.upright(size))
        let turn = orientation.turn
        let right = turn.mirrorsAcross ? -3 : 3
        let below = turn.mirrorsDown ? -canvas.stride : canvas.stride
        origin =
            (turn.mirrorsAcross ? canvas.stride - 3 : 0) + (turn.mirrorsDown ? (canvas.size.height - 1) * canvas.stride : 0)
        (step, rowStep) = orientation.swapsSides ? (below, right) : (right, below)
        mixedStride = used.count * 3 + Canvas.slack * 2
        mixed = .allocate(capacity: mixedStride * Self.rowsAtOnce)
        mixed.initialize(repeating: 0, count: mixedStride * Self.rowsAtOnce)
    }
    deinit { mixed.deallocate() }

    /// The rows of the base that must be at hand together.
    var window: Int {
        Swift.stride(from: 0, to: down.count, by: Self.rowsAtOnce).reduce(0) { most, y in
            let last = min(y + Self.rowsAtOnce, down.count) - 1
            return max(most, Int(down.first[last]) + down.taps - Int(down.first[y]))
        }
    }

    /// Makes every output row whose base rows are there: those below `available`, by `row`, `bound` in all.
    func advance(_ available: Int, of bound: Int, row: (Int) -> UnsafePointer<UInt8>) {
        let from = across.used.lowerBound * 3
        let bytes = across.used.count * 3
        while next < down.count {
            let last = min(next + Self.rowsAtOnce, down.count) - 1
            guard min(Int(down.first[last]) + down.taps, bound) <= available else { return }
            withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: down.taps) { rows in
                for y in next...last {
                    for k in 0..<down.taps { rows[k] = row(min(Int(down.first[y]) + k, bound - 1)) + from }
                    down.weights.withUnsafeBufferPointer { weights in
                        mz_mix_rows(
                            hasAVX2, rows.baseAddress!, weights.baseAddress! + y * down.taps, Int32(down.taps),
                            mixed + (y - next) * mixedStride, bytes)
                    }
                }
            }
            // At the end the last row is made as often as rows are lacking.
            let ins = (0..<Self.rowsAtOnce).map { UnsafePointer(mixed + min($0, last - next) * mixedStride) as UnsafePointer? }
            let outs = (0..<Self.rowsAtOnce).map {
                canvas.bytes + origin + min(next + $0, last) * rowStep as UnsafeMutablePointer?
            }
            mz_mix_pixels(hasAVX2, ins, columns, pairs, Int32(across.taps), Int32(across.count), outs, step)
            next = last + 1
        }
    }

    /// The whole of another canvas's rows.
    func take(_ base: Canvas) {
        advance(base.size.height, of: base.size.height) { UnsafePointer(base.bytes + $0 * base.stride) }
    }
}

/// What of a base is shown along one axis, in its pixels.
struct Extent {
    var start: Double
    var length: Double

    init(_ crop: RenderPlan.AxisCrop) { (start, length) = (crop.exactStart, crop.exactLength) }

    /// The same from the other end of a side of `bound` pixels.
    func mirrored(in bound: Int) -> Extent {
        var other = self
        other.start = Double(bound) - start - length
        return other
    }
}

extension Orientation {
    /// How stored pixels become upright: sides are swapped first.
    var turn: (mirrorsAcross: Bool, mirrorsDown: Bool) {
        switch self {
        case .upright, .transposed: (false, false)
        case .mirrored, .quarterTurn: (true, false)
        case .upsideDown, .transversed: (true, true)
        case .flipped, .threeQuarterTurn: (false, true)
        }
    }
}
