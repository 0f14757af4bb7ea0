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
}
