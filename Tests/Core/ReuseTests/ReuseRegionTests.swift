import ImageModel
import Images
import Planning
import Ports
import Posix
import RendererPool
import TestPixels
import TestSupport
import Testing
import VariantSpec

/// The property behind reuse: whoever asks cannot tell the reused picture from the fetched one by its size or by what it
/// shows. Random sources, stored sets and requests, rendered both ways by real children.
@Suite("Reuse: the same size and the same region as from the source", .serialized, .timeLimit(.minutes(10)))
struct ReuseRegionTests {
    private static let sources = UInt64(Effort.count(landing: 3, all: 15))
    private static let casesPerSource = 70

    /// A source of random shape: sides of 600 to 1,600, now and then much longer than wide.
    private static func size(_ random: inout SeededRandom) -> (Int, Int) {
        let isPanorama = Int.random(in: 0...5, using: &random) == 0
        let (long, short) = (
            Int.random(in: 600...1600, using: &random),
            Int.random(in: isPanorama ? 150...300 : 600...1600, using: &random)
        )
        return Bool.random(using: &random) ? (long, short) : (short, long)
    }

    @Test("In a picture that says of each pixel where it is: 70 cases of each", arguments: 1...sources)
    func regions(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let (width, height) = Self.size(&random)
        try await check(Pixels.map(width: width, height: height), &random) { which, direct, reused in
            let region = which.placement.region
            let wanted = [region.x, region.y, region.x + region.width, region.y + region.height]
            // The reader is sure to a third of a pixel of the output and half a level of the map; a donor lossily encoded
            // leaves less than a tenth of its pixel.
            let (across, down) = (region.width / Double(direct.width), region.height / Double(direct.height))
            let level = Double(max(width, height)) / 240
            for (picture, donor, name) in [(reused, which.donorScale, "reused"), (direct, 0, "direct")] {
                let shown = picture.place(onMap: width, height)
                for i in 0..<4 {
                    let slack = 0.1 * donor + 0.33 * (i % 2 == 0 ? across : down) + 0.5 * level
                    #expect(
                        abs(shown[i] - wanted[i]) <= slack,
                        "\(name) \(which.reuse.spec) from \(which.reuse.donor.spec) shows \(shown), not \(wanted)")
                }
            }
        }
    }

    @Test(
        "In pictures like photographs, which agree best where neither is moved: 70 cases of each",
        arguments: 101...(100 + sources))
    func photographs(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let (width, height) = Self.size(&random)
        try await check(Pixels.photograph(width: width, height: height, seed: seed), &random) { which, direct, reused in
            guard min(direct.width, direct.height) >= 16 else { return }
            let here = direct.difference(from: reused)!
            let moved = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)].map { move in
                direct.difference(from: reused, movedBy: move)!
            }
            #expect(
                moved.allSatisfy { here < $0 },
                "\(which.reuse.spec) from \(which.reuse.donor.spec): \(here) apart, \(moved) if moved by a pixel")
        }
    }

    private struct Compared {
        let reuse: ReuseCase
        let placement: Placement
        /// Source pixels for one of the donor's.
        var donorScale: Double { reuse.donor.region.width / Double(reuse.donor.size.width) }
    }

    /// Stores variants of the source at random, asks for others at random, and hands over each that is reused, both ways.
    private func check(
        _ pixels: Pixels, _ random: inout SeededRandom, compare: (Compared, _ direct: Pixels, _ reused: Pixels) -> Void
    ) async throws {
        var studio = try await Studio(pixels)
        let side = max(pixels.width, pixels.height)
        try await studio.store(
            Array(Set((0..<8).map { _ in VariantSpec.randomDonor(upTo: side, using: &random) })).sorted {
                "\($0)" < "\($1)"
            })
        let (cases, asked) = ReuseCase.random(
            studio, count: Self.casesPerSource,
            // Its sources are PNG, and what they show is asked here, not how well.
            losses: LossTables(photographs: .photographs, drawings: .photographs), using: &random)
        #expect(cases.count == Self.casesPerSource, "of \(asked) requests only these were reused")
        // As jobs do it: several variants from one decode, of the source as of a donor.
        for start in stride(from: 0, to: cases.count, by: 14) {
            let part = Array(cases[start..<min(start + 14, cases.count)])
            let direct = try await studio.direct(
                part.flatMap { $0.fromSource($0.spec.placement(of: studio.source.size)) })
            var reused = [[RenderedVariant]](repeating: [], count: part.count)
            for donor in Set(part.map(\.donor)) {
                let own = part.indices.filter { part[$0].donor == donor }
                let variants = try await studio.reused(donor, own.flatMap { part[$0].fromDonor })
                for (i, place) in own.enumerated() { reused[place] = Array(variants[2 * i..<2 * i + 2]) }
            }
            for (i, reuse) in part.enumerated() {
                try await hold(reuse, Array(direct[2 * i..<2 * i + 2]), reused[i], of: studio.source.size, compare)
            }
        }
    }

    private func hold(
        _ reuse: ReuseCase, _ direct: [RenderedVariant], _ reused: [RenderedVariant], of source: PixelSize,
        _ compare: (Compared, _ direct: Pixels, _ reused: Pixels) -> Void
    ) async throws {
        let placement = reuse.spec.placement(of: source)
        for variant in direct + reused {
            #expect(variant.size == placement.output)
            // What the file itself says, not what the renderer says of it.
            let facts = try await Studio.pool.inspect(variant.content.copy()).facts
            #expect(facts.size == placement.output && facts.format == variant.spec.format)
        }
        let from = try #require(Pixels(png: direct[1].content.bytes()))
        let to = try #require(Pixels(png: reused[1].content.bytes()))
        #expect(from.width == placement.output.width && from.height == placement.output.height)
        compare(Compared(reuse: reuse, placement: placement), from, to)
    }
}
