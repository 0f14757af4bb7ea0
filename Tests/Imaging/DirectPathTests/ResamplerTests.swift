internal import Glibc
internal import Testing
internal import VariantSpec

@testable internal import DirectPath
@testable internal import RenderKit
@testable internal import RenderProtocol

/// Every width up to what four blocks of the inner loops take, made smaller, larger, cut and turned.
@Suite("The resampler: within its rows, and the same on every processor", .timeLimit(.minutes(5)))
struct ResamplerTests {
    /// Rows without gaps that end `slack` bytes before a page that nobody may touch.
    private struct Base {
        let size: PixelSize
        let bytes: UnsafeMutablePointer<UInt8>
        private let pages: UnsafeMutableRawPointer
        private let length: Int

        init(_ size: PixelSize, slack: Int = Canvas.slack) {
            self.size = size
            let page = 4096
            let count = size.pixels * 3 + slack
            let whole = (count + page - 1) / page * page
            length = whole + page
            pages = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            precondition(pages != MAP_FAILED && mprotect(pages + whole, page, PROT_NONE) == 0)
            bytes = (pages + whole - count).assumingMemoryBound(to: UInt8.self)
            for i in 0..<count { bytes[i] = UInt8(truncatingIfNeeded: i &* 37 ^ i >> 3) }
        }

        func release() { munmap(pages, length) }

        func resized(to size: PixelSize, crop: Double, _ orientation: Orientation, avx2: Bool) -> [UInt8] {
            func extent(_ length: Int) -> Extent {
                Extent(start: crop, length: Double(length) - 2 * crop)
            }
            let resampler = Resampler(
                extent(self.size.width), extent(self.size.height), of: self.size, to: size, orientation, avx2: avx2)
            let stride = self.size.width * 3
            resampler.advance(self.size.height, of: self.size.height) { UnsafePointer(bytes + $0 * stride) }
            return Array(resampler.canvas.content)
        }
    }

    /// What comes of a base of this width, in several sizes and ways, by either code.
    private static func results(width: Int, slack: Int = Canvas.slack, avx2: Bool) -> [[UInt8]] {
        let base = Base(PixelSize(width: width, height: 5), slack: slack)
        defer { base.release() }
        return [(1, 1), (max(1, width / 3), 2), (width, 5), (max(1, width - 1), 3), (width + 7, 9)].flatMap {
            across, down in
            [(0, Orientation.upright), (0.3, .mirrored), (0.4, .quarterTurn), (-0.2, .upright)].map {
                crop, orientation in
                base.resized(
                    to: PixelSize(width: across, height: down), crop: crop, orientation, avx2: avx2)
            }
        }
    }

    /// Seen to fail with a slack of 64 bytes, which is a block without the pixels behind the last that have no weight.
    @Test("No row is read past what a canvas has behind it, by either code, at any width")
    func bounds() async {
        await #expect(processExitsWith: .success) {
            for width in 1...140 { for avx2 in [false, true] { _ = Self.results(width: width, avx2: avx2) } }
        }
    }

    @Test("A page that nobody may touch is really there: with less behind the rows it is touched")
    func guarded() async {
        await #expect(processExitsWith: .failure) {
            for width in 1...140 { _ = Self.results(width: width, slack: 0, avx2: false) }
        }
    }

    @Test("With AVX2 and without, the very same pixels come out at every width")
    func same() {
        for width in 1...140 {
            #expect(
                Self.results(width: width, slack: 4096, avx2: true)
                    == Self.results(width: width, slack: 4096, avx2: false),
                "\(width)")
        }
    }

    private static func whole(_ size: PixelSize, to output: PixelSize, _ layout: PixelLayout = .rgb) -> Resampler {
        Resampler(
            Extent(start: 0, length: Double(size.width)), Extent(start: 0, length: Double(size.height)), of: size,
            to: output, .upright, layout)
    }

    private static func canvas(_ width: Int, _ height: Int, _ value: (Int, Int) -> UInt8) -> Canvas {
        let canvas = Canvas(PixelSize(width: width, height: height))
        for y in 0..<height {
            for i in 0..<width * 3 { canvas.bytes[y * canvas.stride + i] = value(i / 3, y) }
        }
        return canvas
    }

    /// They were nine times as many as pixels of the base become one.
    @Test(
        "Few rows of the base are held, however small the output is",
        arguments: [(16_384, 16), (10_000, 1), (4_000, 250), (2_400, 149), (65_500, 1)])
    func window(side: Int, count: Int) {
        let size = PixelSize(width: 20, height: side)
        #expect(Self.whole(size, to: PixelSize(width: 20, height: count)).window <= 150)
    }

    /// Every weight was rounded to nought, and one pixel had all.
    @Test("The largest reduction is the mean of its pixels", arguments: [(65_500, 1), (1, 65_500)])
    func mean(width: Int, height: Int) {
        let base = Self.canvas(width, height) { x, y in (x + y) % 2 == 0 ? 0 : 255 }
        let resampler = Self.whole(base.size, to: PixelSize(width: 1, height: 1))
        resampler.take(base)
        #expect(resampler.canvas.content.allSatisfy { (126...129).contains($0) }, "\(Array(resampler.canvas.content))")
    }

    @Test("What becomes much smaller stays in its place")
    func place() {
        let base = Self.canvas(1_000, 1_000) { x, y in UInt8((x + y) / 8) }
        let resampler = Self.whole(base.size, to: PixelSize(width: 20, height: 20))
        resampler.take(base)
        // Towards the edges their last pixels count for those beyond.
        for y in 3..<17 {
            for x in 3..<17 {
                let found = Double(resampler.canvas.bytes[y * resampler.canvas.stride + x * 3])
                #expect(abs(found - Double(50 * (x + y + 1)) / 8) < 1.5, "\(x), \(y)")
            }
        }
    }

    @Test("Rows that come a few at a time, and go, make what all of them make", arguments: [(9, 5), (300, 5), (9, 999)])
    func pieces(width: Int, height: Int) {
        let base = Self.canvas(300, 999) { x, y in UInt8(truncatingIfNeeded: x &* 37 ^ y &* 11) }
        let size = PixelSize(width: width, height: height)
        let (pieces, once) = (Self.whole(base.size, to: size), Self.whole(base.size, to: size))
        once.take(base)
        let (atOnce, stride) = (7, base.stride)
        let count = pieces.window + atOnce
        let ring = UnsafeMutablePointer<UInt8>.allocate(capacity: count * stride + Canvas.slack)
        ring.initialize(repeating: 0, count: count * stride + Canvas.slack)
        defer { ring.deallocate() }
        for start in Swift.stride(from: 0, to: base.size.height, by: atOnce) {
            let end = min(start + atOnce, base.size.height)
            for y in start..<end { (ring + y % count * stride).update(from: base.bytes + y * stride, count: stride) }
            pieces.advance(end, of: base.size.height) { UnsafePointer(ring + $0 % count * stride) }
        }
        #expect(pieces.canvas.content.elementsEqual(once.canvas.content))
    }

    @Test("A flat colour of more than 8 bits stays what it is")
    func floats() {
        let layout = PixelLayout(channels: 4, isFloat: true)
        let base = Canvas(PixelSize(width: 500, height: 333), layout)
        base.bytes.initialize(repeating: 0, count: base.size.pixels * layout.bytes + Canvas.slack)
        let count = base.size.pixels * 4
        base.bytes.withMemoryRebound(to: Float.self, capacity: count) { $0.update(repeating: 40_000.5, count: count) }
        let resampler = Self.whole(base.size, to: PixelSize(width: 7, height: 3), layout)
        resampler.take(base)
        let numbers = resampler.canvas.content.bindMemory(to: Float.self)
        #expect(numbers.count == 7 * 3 * 4 && numbers.allSatisfy { abs($0 - 40_000.5) < 1 })
    }
}
