import TestSupport
import Testing
import VariantSpec

@Suite("Placement: what a spec means for a source", .timeLimit(.minutes(1)))
struct PlacementTests {
    typealias Case = (spec: String, source: (Int, Int), output: (Int, Int), region: (Double, Double, Double, Double))

    @Test(
        "Sizes come from the source's own, rounded half up, and at least one pixel",
        arguments: [
            // Inside: the tighter side decides.
            ("1280x1280", (4000, 3000), (1280, 960)), ("640x480", (1000, 749), (640, 479)),
            ("640x480", (749, 1000), (360, 480)), ("640x480", (640, 480), (640, 480)),
            // Half a pixel goes up: 5 × 100 / 200 = 2.5, 33 × 50 / 100 = 16.5.
            ("100x100", (200, 5), (100, 3)), ("50x50", (100, 33), (50, 17)), ("50x50", (33, 100), (17, 50)),
            ("160x160", (10_000, 10), (160, 1)), ("160x160", (10, 10_000), (1, 160)),
            // Cover: the other side decides, and nothing is cut.
            ("320z240", (4000, 1000), (960, 240)), ("320z240", (1000, 4000), (320, 1280)),
            ("320z240", (1600, 1200), (320, 240)),
            // A free side follows.
            ("640x0", (4000, 3000), (640, 480)), ("0x480", (4000, 3000), (640, 480)), ("640x0", (1281, 1), (640, 1)),
            ("full", (4001, 2999), (4001, 2999)),
            // A smaller source is not enlarged …
            ("1280x1280", (500, 400), (500, 400)), ("640x0", (500, 400), (500, 400)), ("0x640", (500, 400), (500, 400)),
            ("640z640", (800, 500), (800, 500)), ("640x640", (800, 500), (640, 400)),
            // … unless it is asked for.
            ("1280x1280-enlarge", (500, 400), (1280, 1024)), ("640x0-enlarge", (500, 333), (640, 426)),
            ("640z640-enlarge", (800, 500), (1024, 640)), ("300x300-enlarge", (1, 1), (300, 300)),
        ] as [(String, (Int, Int), (Int, Int))])
    func whole(spec: String, source: (Int, Int), output: (Int, Int)) {
        let source = PixelSize(width: source.0, height: source.1)
        let placement = TestSupport.spec(spec + ".jpg").placement(of: source)
        #expect(placement.output == PixelSize(width: output.0, height: output.1))
        #expect(placement.region == Region(whole: source))
    }

    @Test(
        "A crop shows as much of the source as the wanted shape lets it, where the axis says",
        arguments: [
            ("160y160", (400, 300), (160, 160), (50, 0, 300, 300)),
            ("160y160", (300, 400), (160, 160), (0, 50, 300, 300)),
            ("160y160-axis0_0", (400, 300), (160, 160), (0, 0, 300, 300)),
            ("160y160-axis10_10", (400, 300), (160, 160), (100, 0, 300, 300)),
            ("160y160-axis2_9", (300, 400), (160, 160), (0, 90, 300, 300)),
            ("200y100", (900, 300), (200, 100), (150, 0, 600, 300)),
            // 300.3 high from 0.35 to 300.65, 50.7 wide from 149.7 to 200.3: whole pixels, the nearest.
            ("300y100", (901, 301), (300, 100), (0, 0, 901, 301)), ("16y30", (350, 95), (16, 30), (150, 0, 50, 95)),
            // The same in less: rounding moves both edges alike, or neither.
            ("100y100-axis3_3", (400, 303), (100, 100), (29, 0, 303, 303)),
            ("10y1-enlarge", (3, 3), (10, 1), (0, 1, 3, 1)), ("1y1000-enlarge", (5, 5), (1, 1000), (2, 0, 1, 5)),
            ("640y480", (640, 480), (640, 480), (0, 0, 640, 480)),
            // Smaller than wanted on the side that decides: pixel for pixel, as much of the wanted size as there is.
            ("400y400", (900, 300), (400, 300), (250, 0, 400, 300)),
            ("400y400", (300, 200), (300, 200), (0, 0, 300, 200)),
            ("400y400-axis0_0", (900, 300), (400, 300), (0, 0, 400, 300)),
            ("400y400-enlarge", (900, 300), (400, 400), (300, 0, 300, 300)),
            ("400y200-enlarge", (100, 100), (400, 200), (0, 25, 100, 50)),
        ] as [Case])
    func crop(_ row: Case) {
        let placement = TestSupport.spec(row.spec + ".jpg").placement(
            of: PixelSize(width: row.source.0, height: row.source.1))
        #expect(placement.output == PixelSize(width: row.output.0, height: row.output.1))
        let (x, y, width, height) = row.region
        let off = [
            placement.region.x - x, placement.region.y - y, placement.region.width - width,
            placement.region.height - height,
        ]
        #expect(off.allSatisfy { abs($0) < 1e-9 })
    }

    @Test(
        "A crop lies around its focus, as far as the source's edges allow",
        arguments: [
            ("100y100-focus500_500", (300, 100), (100, 0, 100, 100)),
            ("100y100-focus0_500", (300, 100), (0, 0, 100, 100)),
            ("100y100-focus1000_0", (300, 100), (200, 0, 100, 100)),
            ("100y100-focus250_900", (400, 200), (0, 0, 200, 200)),
            ("100y100-focus400_900", (400, 200), (60, 0, 200, 200)),
            ("100y50-focus500_300", (200, 400), (0, 70, 200, 100)), ("100y100-north", (100, 300), (0, 0, 100, 100)),
            ("100y100-southeast", (100, 300), (0, 200, 100, 100)), ("100y100-smart", (300, 100), (100, 0, 100, 100)),
            // Not scaled, since nothing is enlarged: cut pixel for pixel.
            ("400y80-focus0_900", (300, 100), (0, 20, 300, 80)),
        ] as [(String, (Int, Int), (Double, Double, Double, Double))])
    func focus(text: String, source: (Int, Int), shown: (Double, Double, Double, Double)) {
        let region = TestSupport.spec(text + ".jpg").placement(of: PixelSize(width: source.0, height: source.1)).region
        #expect(region == Region(x: shown.0, y: shown.1, width: shown.2, height: shown.3), "\(region)")
    }

    @Test(
        "A turned source is measured and cut as it is shown, and the region is one of the source as it lies",
        arguments: [
            ("640x480-rotate90", (3000, 4000), (480, 640), (0, 0, 3000, 4000)),
            ("640x480-rotate180", (4000, 3000), (640, 480), (0, 0, 4000, 3000)),
            ("full-rotate270", (30, 40), (30, 40), (0, 0, 30, 40)),
            // The left of what is shown is the bottom of the source, its right, its top.
            ("100y100-rotate90-west", (100, 300), (100, 100), (0, 200, 100, 100)),
            ("100y100-rotate180-west", (300, 100), (100, 100), (200, 0, 100, 100)),
            ("100y100-rotate270-west", (100, 300), (100, 100), (0, 0, 100, 100)),
            // A focus is a point of the source.
            ("100y100-rotate90-focus500_0", (100, 300), (100, 100), (0, 0, 100, 100)),
            ("100y100-rotate270-focus500_1000", (100, 300), (100, 100), (0, 200, 100, 100)),
            ("100y100-rotate180-focus1000_500", (300, 100), (100, 100), (200, 0, 100, 100)),
        ] as [Case])
    func turned(_ row: Case) {
        let spec = TestSupport.spec(row.spec + ".jpg")
        let placement = spec.placement(of: PixelSize(width: row.source.0, height: row.source.1))
        #expect(placement.output == PixelSize(width: row.output.0, height: row.output.1))
        let (x, y, width, height) = row.region
        #expect(placement.region == Region(x: x, y: y, width: width, height: height))
    }

    @Test(
        "What is finished is turned, and fills its box if it is padded",
        arguments: [
            ("640x480-rotate90", (480, 640), (640, 480)), ("640x480-pad", (480, 320), (640, 480)),
            ("640x480-rotate270-pad", (300, 640), (640, 480)), ("640x480-rotate180", (640, 300), (640, 300)),
        ] as [(String, (Int, Int), (Int, Int))])
    func finished(text: String, output: (Int, Int), size: (Int, Int)) {
        let finished = TestSupport.spec(text + ".jpg").finished(PixelSize(width: output.0, height: output.1))
        #expect(finished == PixelSize(width: size.0, height: size.1))
    }

    @Test("Whatever the source and the spec, the region lies inside it and the picture is neither empty nor beyond it")
    func always() {
        var random = SeededRandom(seed: 4)
        for _ in 0..<20_000 {
            let source = PixelSize(
                width: .random(in: 1...3000, using: &random), height: .random(in: 1...3000, using: &random))
            let spec = VariantSpec(
                width: .random(in: 0...2000, using: &random), height: .random(in: 0...2000, using: &random),
                mode: FitMode.allCases.randomElement(using: &random)!, format: .jpeg, enlarge: .random(using: &random),
                axis: CropAxis(x: .random(in: 0...10, using: &random), y: .random(in: 0...10, using: &random)),
                extras: Self.focus(using: &random))
            let placement = spec.placement(of: source)
            #expect(Region(whole: source).covers(placement.region))
            #expect(placement.output.width >= 1 && placement.output.height >= 1)
            if !spec.enlarge {
                #expect(placement.output.width <= source.width && placement.output.height <= source.height)
            }
            if spec.mode == .inside, spec.width > 0, spec.height > 0 {
                #expect(placement.output.width <= spec.width && placement.output.height <= spec.height)
            }
        }
    }

    private static func focus(using random: inout SeededRandom) -> SpecExtras {
        var extras = SpecExtras()
        let regions = (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in
            KeptRegion(
                x: .random(in: 0...1, using: &random), y: .random(in: 0...1, using: &random),
                width: .random(in: 0...0.5, using: &random), height: .random(in: 0...0.5, using: &random))
        }
        if !regions.isEmpty { extras.focus = .regions(regions) }
        return extras
    }

    @Test(
        "A cut is the wanted region in the pixels of what shows it, or none",
        arguments: [
            ("160y160", (0, 0, 400, 300), (200, 150), (25, 0, 150, 150)),
            ("160y160", (50, 0, 300, 300), (200, 200), (0, 0, 200, 200)),
            ("80x80", (0, 0, 400, 300), (133, 100), (0, 0, 133, 100)),
            ("160y160", (51, 0, 300, 300), (200, 200), nil),
            ("80x80", (50, 0, 300, 300), (200, 200), nil),
        ] as [(String, (Double, Double, Double, Double), (Int, Int), (Double, Double, Double, Double)?)])
    func crop(
        spec: String, shown: (Double, Double, Double, Double), size: (Int, Int),
        crop: (Double, Double, Double, Double)?
    ) {
        let placement = TestSupport.spec(spec + ".jpg").placement(of: PixelSize(width: 400, height: 300))
        let shown = Region(x: shown.0, y: shown.1, width: shown.2, height: shown.3)
        #expect(
            placement.crop(from: PixelSize(width: size.0, height: size.1), showing: shown)
                == crop.map { Region(x: $0.0, y: $0.1, width: $0.2, height: $0.3) })
    }
}
