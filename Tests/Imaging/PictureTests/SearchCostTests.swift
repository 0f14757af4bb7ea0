internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: a search for quality ends within the deadline", .timeLimit(.minutes(5)))
struct SearchCostTests {
    /// In CPU time, since other tests have the machine too, and on the lane that spends more. A busy machine took 0.4 s for
    /// JPEG, 4.5 s for AVIF.
    @Test(
        "At the most pixels that are searched it costs less than the deadline",
        arguments: [(ImageFormat.jpeg, 3_460, 2_310), (.webp, 3_460, 2_310), (.avif, 1_500, 1_000)])
    func cost(format: ImageFormat, width: Int, height: Int) async throws {
        var configuration = RendererConfiguration(program: Built.program("mezzotint-renderer").path, count: 1)
        let deadline = configuration.deadline
        configuration.deadline = deadline * 6
        // The child whose time is counted is there before and after.
        configuration.isolation = .none
        let pool = RendererPool(configuration)
        let seed = try Workshop.file(Pixels.photograph(width: 865, height: 577, seed: 8).png)
        let above = PixelSize(width: width + 40, height: height + 30)
        let poor = try await Workshop.render(seed, in: pool) {
            [Workshop.order(above.width, above.height, .jpeg, of: $0.size, quality: 5)]
        }
        let bytes = try poor[0].content.bytes()
        // As many bytes as the output has at quality 77: an answer that is found at once would cost little.
        let wish = try await Workshop.render(try Workshop.file(bytes), isReuse: true, in: pool) {
            [Workshop.order(width, height, format, of: $0.size, quality: 77)]
        }
        let source = try Workshop.file(Self.padded(bytes, to: wish[0].content.length))
        let before = try #require(pool.processes.first?.cpuTime)
        let searched = try await Workshop.render(source, in: pool) {
            [Workshop.order(width, height, format, of: $0.size)]
        }
        let spent = try #require(pool.processes.first?.cpuTime) - before
        #expect((75..<80).contains(searched[0].rendition.quality))
        #expect(searched[0].content.length <= source.length)
        #expect(spent < deadline)
        await pool.stop()
    }

    /// A JPEG with comments.
    private static func padded(_ jpeg: [UInt8], to length: Int) -> [UInt8] {
        var comments: [UInt8] = []
        while length - jpeg.count - comments.count >= 4 {
            let count = min(length - jpeg.count - comments.count, 60_000)
            comments += [0xff, 0xfe, UInt8((count - 2) >> 8), UInt8((count - 2) & 255)]
            comments += [UInt8](repeating: 0, count: count - 4)
        }
        return Array(jpeg[..<2]) + comments + Array(jpeg[2...])
    }
}
