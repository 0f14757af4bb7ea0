import Testing
import VariantSpec

@Suite("Regions: what crops keep", .timeLimit(.minutes(1)))
struct KeptRegionTests {
    @Test(
        "A crop lies around the middle of what its regions span, as far as the source's edges allow, and keeps all that fit",
        arguments: [
            (spec: "100y100.jpg", regions: [[0.7, 0.2, 0.1, 0.2]], from: 550.0, width: 400.0),
            (spec: "100y100.jpg", regions: [[0.9, 0.2, 0.1, 0.2]], from: 600, width: 400),
            (spec: "100y100.jpg", regions: [[0.1, 0.2, 0.1, 0.2], [0.3, 0.5, 0.1, 0.5]], from: 50, width: 400),
            // Too far apart: the largest, of equal ones the first. It was what lies between them.
            (spec: "100y100.jpg", regions: [[0.05, 0.2, 0.05, 0.2], [0.95, 0.2, 0.05, 0.2]], from: 0, width: 400),
            (spec: "100y100.jpg", regions: [[0.05, 0.2, 0.05, 0.2], [0.7, 0.2, 0.1, 0.2]], from: 550, width: 400),
            (spec: "100y100.jpg", regions: [[0.9, 0.2, 0.1, 0.2], [0.05, 0.2, 0.05, 0.2]], from: 600, width: 400),
            // Another lies between them.
            (
                spec: "100y100.jpg", regions: [[0, 0.2, 0.1, 0.2], [0.45, 0.2, 0.1, 0.1], [0.9, 0.2, 0.1, 0.2]],
                from: 300, width: 400
            ),
            (spec: "100y100-west.jpg", regions: [[0.7, 0.2, 0.1, 0.2]], from: 0, width: 400),
            (spec: "100y100-focus500_500.jpg", regions: [[0.7, 0.2, 0.1, 0.2]], from: 300, width: 400),
            (spec: "100z100.jpg", regions: [[0.7, 0.2, 0.1, 0.2]], from: 0, width: 1_000),
            (spec: "100y100.jpg", regions: [], from: 300, width: 400),
        ] as [(spec: String, regions: [[Double]], from: Double, width: Double)])
    func crop(spec: String, regions: [[Double]], from: Double, width: Double) throws {
        let kept = regions.compactMap { KeptRegion(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) }
        let region = try VariantSpec(spec).keeping(kept).placement(of: PixelSize(width: 1_000, height: 400)).region
        #expect(region.x == from && region.width == width && kept.count == regions.count)
    }

    @Test("A region is cut to its source, and is none where nothing is left")
    func cut() throws {
        let region = try #require(KeptRegion(x: -0.2, y: 0.5, width: 0.5, height: 0.9))
        #expect(region.x == 0 && region.y == 0.5 && abs(region.width - 0.3) < 1e-9 && region.height == 0.5)
        for numbers in [
            [1, 0, 0.5, 0.5], [0, 0, 0, 0.5], [0, 0, .nan, 0.5], [0, 0, -1, 0.5], [0, .infinity, 1, 1],
        ] {
            #expect(KeptRegion(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]) == nil)
        }
    }
}
