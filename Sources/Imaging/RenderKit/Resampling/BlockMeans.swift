internal import CPixels

/// Reduces the base of a large reduction by whole factors as its rows arrive, to means of pixel blocks.
///
/// The kernel's need of base rows grows with the reduction. At a thousandth it would be 9,000 rows, and each pixel's
/// weight would be too small to represent.
final class BlockMeans {
    /// Number of complete rows of blocks, from the top.
    private(set) var available = 0
    private let factors: (across: Int, down: Int)
    private let columns: Range<Int>
    private let rows: Range<Int>
    private let layout: PixelLayout
    /// The base's next row.
    private var next: Int
    private let sums: UnsafeMutableRawPointer
    private let ring: UnsafeMutablePointer<UInt8>
    private let window: Int
    private let stride: Int

    /// - Parameters:
    ///   - columns: of the base, from the first of a block on; so are its `rows`.
    ///   - window: rows of blocks that stay readable.
    init(
        by factors: (across: Int, down: Int), columns: Range<Int>, rows: Range<Int>, _ layout: PixelLayout, window: Int
    ) {
        (self.factors, self.columns, self.rows, self.layout) = (factors, columns, rows, layout)
        (next, self.window) = (rows.lowerBound, window)
        let bytes = columns.count * layout.channels * (layout.isFloat ? 8 : 4)
        sums = .allocate(byteCount: bytes, alignment: 16)
        sums.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        stride = (columns.count + factors.across - 1) / factors.across * layout.bytes + Canvas.slack
        ring = .allocate(capacity: window * stride)
        ring.initialize(repeating: 0, count: window * stride)
    }
    deinit {
        sums.deallocate()
        ring.deallocate()
    }

    /// Takes the base's rows below `end`, as far as they complete blocks; returns whether they completed any.
    ///
    /// - Parameter row: returns the address of column 0 of a row.
    func take(until end: Int, row: (Int) -> UnsafePointer<UInt8>) -> Bool {
        let end = min(end, rows.upperBound)
        while next < end {
            mz_add_row(
                layout.isFloat, row(next) + columns.lowerBound * layout.bytes, sums, columns.count * layout.channels)
            next += 1
            // Blocks at the edge may be smaller.
            guard next % factors.down == 0 || next == rows.upperBound else { continue }
            let y = (next - 1) / factors.down
            mz_take_means(
                layout.isFloat, sums, columns.count, layout.channels, factors.across, next - y * factors.down,
                ring + y % window * stride)
            available = y + 1
            return true
        }
        return false
    }

    /// Address of column 0 of a row of blocks.
    func row(_ y: Int) -> UnsafePointer<UInt8> {
        UnsafePointer(ring + y % window * stride - columns.lowerBound / factors.across * layout.bytes)
    }
}
