import Ports
import Testing
import VariantSpec

@testable import RenderKit
@testable import RenderProtocol

@Suite("Quality: the best that its bytes allow", .timeLimit(.minutes(1)))
struct QualitySearchTests {
    @Test(
        "A budget is kept at the highest quality that keeps it; a wish lowers quality only as far as it helps",
        arguments: [
            // A hundred bytes for each step of quality.
            (80, nil, 0, 80), (80, 8000, 0, 80), (80, 7999, 0, 79), (80, 300, 0, 3), (80, 100, 0, 1), (80, 99, 0, nil),
            (80, nil, 7500, 75), (80, nil, 7499, 80), (45, nil, 4000, 40), (45, nil, 3999, 45),
            (30, nil, 100, 30), (90, nil, 8900, 90), (92, nil, 9000, 90), (92, nil, 8999, 92), (80, 5000, 4500, 50),
            (80, 3000, 2000, 30),
        ] as [(Int, Int?, Int, Int?)])
    func search(asked: Int, budget: Int?, ceiling: Int, found: Int?) {
        #expect(Self.quality(asked, budget, ceiling, of: .webp) == found)
    }

    @Test(
        "A lossy source's own pixels in its own format never outgrow it, as low as that takes, unless full chroma was asked",
        arguments: [
            (80, nil, 3999, 39), (30, nil, 1200, 12), (80, nil, 99, 80), (80, 3000, 2000, 20), (89, nil, 100, 1),
            (90, nil, 8999, 90), (95, nil, 9300, 93), (95, nil, 9000, 90), (95, nil, 8999, 95),
        ]
            as [(Int, Int?, Int, Int?)])
    func ownFormat(asked: Int, budget: Int?, ceiling: Int, found: Int?) {
        #expect(Self.quality(asked, budget, ceiling, of: .jpeg) == found)
    }

    /// Seen to fail: a lossless WebP of a photograph asked as `full-q90.webp` came out at a quality below 20.
    @Test(
        "A lossless source's own pixels keep the quality that was asked, less five steps at most",
        arguments: [(80, 7500, 75), (80, 3999, 80), (90, 500, 90), (95, 9000, 90), (95, 8999, 95)])
    func lossless(asked: Int, ceiling: Int, found: Int) {
        let memory = PictureCoding.losslessWebP.bytes(of: PixelSize(width: 1, height: 1))
        #expect(Self.quality(asked, nil, ceiling, of: .webp, memory: memory, to: .webp) == found)
        #expect(Self.quality(asked, nil, ceiling, of: .webp, to: .webp) == (asked < 90 ? ceiling / 100 : found))
    }

    /// Seen to fail while an own format was lowered without end: a q80 of half the size came out at q12.
    @Test(
        "Made smaller it keeps the quality that was asked, less five steps at most",
        arguments: [(7500, 75), (6999, 80), (1200, 80)])
    func smaller(ceiling: Int, found: Int) {
        #expect(Self.quality(80, nil, ceiling, of: .jpeg, shown: 2) == found)
    }

    /// What a JPEG of a hundred bytes for each step of quality comes to.
    private static func quality(
        _ asked: Int, _ budget: Int?, _ ceiling: Int, of source: ImageFormat, shown: Double = 1,
        memory: Int = 0, to format: ImageFormat = .jpeg
    ) -> Int? {
        var extras = SpecExtras()
        extras.byteBudget = budget
        var output = RenderOutput(
            format: format, quality: asked, effort: 0, size: PixelSize(width: 1, height: 1),
            crop: Region(x: 0, y: 0, width: shown, height: shown))
        output.spec = VariantSpec(width: 1, height: 1, quality: asked, format: format, extras: extras)
        output.ceiling = ceiling
        var encodes = 0
        let result = QualitySearch(output, of: facts(source, memory: memory)).run { quality in
            encodes += 1
            return [UInt8](repeating: 0, count: quality * 100)
        }
        #expect(result.map { $0.bytes.count == $0.quality * 100 } ?? true)
        #expect(encodes <= 20)
        return result?.quality
    }

    private static func facts(_ format: ImageFormat, memory: Int = 0) -> PictureFacts {
        PictureFacts(
            format: format, size: PixelSize(width: 1, height: 1), orientation: 1, frames: 1, hasAlpha: false,
            memory: memory)
    }

    @Test("A format without quality is written once, whatever is wished")
    func withoutQuality() {
        var output = RenderOutput(
            format: .png, quality: 0, effort: 0, size: PixelSize(width: 1, height: 1),
            crop: Region(x: 0, y: 0, width: 1, height: 1))
        output.ceiling = 1
        #expect(QualitySearch(output, of: Self.facts(.png)).run { _ in [1, 2, 3] }?.bytes == [1, 2, 3])
    }
}
