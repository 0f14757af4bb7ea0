import Images
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
            (80, 3000, 2000, 30), (95, nil, 9300, 93), (95, nil, 8999, 95), (89, nil, 8399, 89), (89, nil, 8400, 84),
        ] as [(Int, Int?, Int, Int?)])
    func search(asked: Int, budget: Int?, ceiling: Int, found: Int?) {
        #expect(Self.quality(asked, budget, ceiling) == found)
    }

    /// What a JPEG of a hundred bytes for each step of quality comes to.
    private static func quality(_ asked: Int, _ budget: Int?, _ ceiling: Int) -> Int? {
        var extras = SpecExtras()
        extras.byteBudget = budget
        var output = RenderOutput(
            format: .jpeg, quality: asked, effort: 0, size: PixelSize(width: 1, height: 1),
            crop: Region(x: 0, y: 0, width: 1, height: 1))
        output.spec = VariantSpec(width: 1, height: 1, quality: asked, format: .jpeg, extras: extras)
        output.ceiling = ceiling
        var encodes = 0
        let result = QualitySearch(output).run { quality in
            encodes += 1
            return [UInt8](repeating: 0, count: quality * 100)
        }
        #expect(result.map { $0.bytes.count == $0.quality * 100 } ?? true)
        #expect(encodes <= output.mostEncodes)
        return result?.quality
    }

    @Test("A format without quality is written once, whatever is wished")
    func withoutQuality() {
        var output = RenderOutput(
            format: .png, quality: 0, effort: 0, size: PixelSize(width: 1, height: 1),
            crop: Region(x: 0, y: 0, width: 1, height: 1))
        output.ceiling = 1
        #expect(QualitySearch(output).run { _ in [1, 2, 3] }?.bytes == [1, 2, 3])
    }
}
