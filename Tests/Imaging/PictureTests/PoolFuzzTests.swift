import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
import RenderProtocol
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: damaged at random, each comes to an end that is told", .timeLimit(.minutes(240)))
struct PoolFuzzTests {
    /// As many as MEZZOTINT_MUTATIONS says, from MEZZOTINT_MUTATIONS_FROM on; the decoders are others' work, so a child may die of one, but
    /// nothing else may come of it.
    @Test("Mutated files of every format through the pool: an outcome each, and a pool that still renders")
    func mutations() async throws {
        let count = Effort.count("MEZZOTINT_MUTATIONS", landing: 300, all: 100_000)
        let first = Effort.count("MEZZOTINT_MUTATIONS_FROM", landing: 0, all: 0)
        var configuration = Workshop.configuration(count: 2)
        configuration.limits.formats = Set(ImageFormat.allCases)
        let pool = RendererPool(configuration)
        let seeds = try await Self.seeds(pool)
        var outcomes: [String: Int] = [:]
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in first..<first + count {
                if number >= first + 4 { outcomes[try await group.next() ?? "", default: 0] += 1 }
                group.addTask { try await Self.outcome(of: Self.mutated(seeds, number), number, pool) }
            }
            for try await outcome in group { outcomes[outcome, default: 0] += 1 }
        }
        print("\(count) mutated files: \(outcomes.sorted { $0.value > $1.value }), \(pool.losses) children lost")
        #expect(outcomes.values.reduce(0, +) == count)
        #expect(Set(outcomes.keys).isSubset(of: Self.known))
        let damaged = outcomes["render.malformed", default: 0] + outcomes["render.truncated", default: 0]
        #expect(outcomes["rendered", default: 0] > count / 10 && damaged > count / 10)
        #expect(try await Self.outcome(of: seeds[0], 0, pool) == "rendered")
        await pool.stop()
    }

    private static let known = Set(RenderFailure.catalogue.map(\.code)).subtracting([
        "render.unavailable", "render.no-space",
    ]).union(["rendered"])

    /// One small picture in each way that we write, plain and with all that can be around it.
    private static func seeds(_ pool: RendererPool) async throws -> [[UInt8]] {
        let pixels = Pixels.photograph(width: 120, height: 80, seed: 6)
        let made = try await Workshop.render(try Workshop.file(pixels.png), in: pool) { facts in
            [ImageFormat.jpeg, .webp, .png, .gif, .avif].map { Workshop.order(120, 80, $0, of: facts.size) }
        }
        let files = try made.map { try $0.content.bytes() }
        let heic = Array(try Data(contentsOf: ColourTests.references.appending(path: "gradient.heic")))
        let turned = Sources.avif(files[4], properties: [Sources.transform("irot"), Sources.codes(9, 16)]) {
            links, next in
            links[1] = [next, next + 1] + (links[1] ?? [])
        }
        let big = Sources.tiff(of: Sources.flat([200, 40, 90]), kind: 8, isBig: true)
        let half = try Workshop.file(Sources.flat([200, 40, 90, 120]).png)
        let moving = Sources.gif(
            width: 30, height: 20, colours: [[200, 0, 0], [0, 0, 200]], delays: [5, 20], transparent: true)
        let movingWebP = try await Workshop.make("full.webp", of: try Workshop.file(moving), in: pool)
        let clearHEIC = Array(try Data(contentsOf: ColourTests.references.appending(path: "alpha.heic")))
        let clear = try await Workshop.make("full.avif", of: half, in: pool).content.bytes()
        let grey = try await Workshop.make("full-grey.avif", of: half, in: pool).content.bytes()
        return files + [
            heic, turned, Sources.avif(files[4], brand: "avis", isNamed: false), big,
            Sources.flatGIF(width: 30, height: 20, frames: 3, covered: 10),
            moving, try movingWebP.content.bytes(), clearHEIC, Sources.jxl,
            // Above 16 megapixels a WebP is decoded smaller.
            Sources.lossyWebP(PixelSize(width: 4_400, height: 4_000)),
            Sources.photographed(files[0], orientation: 6), Sources.tagged(files[0], Sources.exchangedProfile),
            Sources.png(pixels, with: [Sources.profileChunk(Sources.exchangedProfile)]),
            Sources.blackPNG(width: 40, height: 30, depth: 16, channels: 4, isInterlaced: true),
            Sources.flatJPEG(PixelSize(width: 70, height: 50), isProgressive: true),
            Sources.stillWebP(PixelSize(width: 70, height: 50)), Sources.burdenedWebP("XMP ", 300),
            Sources.burdenedWebP("ICCP", 300), Array(Self.drawing.utf8),
            Sources.png(
                pixels,
                with: [Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + Array(Self.marked.utf8))]),
            Sources.png(pixels, with: [Pixels.chunk("cICP", [9, 16, 0, 1])]),
            Sources.png(pixels, with: [Pixels.chunk("gAMA", [0, 0, 0x80, 0])]),
            Sources.inks(PixelSize(width: 70, height: 50)), Sources.tiff(of: Sources.flat([9, 90, 30, 60]), kind: 5),
            // One side has no unit, so that the root is written anew.
            Array(Self.drawing.replacing("viewBox", with: "height='90' viewBox").utf8), clear, grey,
        ]
    }

    /// What is asked of each: a row of this. Plain sizes come most often.
    private static let asked = [
        ["50x40.webp", "20x10.jpg"], ["30y30.png", "20y40-focus100_900.jpg"], ["40x40-rotate90.webp", "20x20.gif"],
        ["50x40.webp", "20x10.jpg"], ["30x30-round8.png", "30y30-circle.webp"],
        ["40x30-pad.jpg", "30x40-pad-bg102030.png"],
        ["50x40.webp", "20x10.jpg"], ["60x60-trim.png", "20y20-smart.jpg"], ["50x40-grey.jpg", "30z20-grey.png"],
        ["50x40.webp", "20x10.jpg"], ["16x16.avif", "40x40-profile.jpg"], ["30y20-blur2.webp", "30x30.gif"],
        ["20x20-grey.avif", "40x40-upto900.jpg"],
    ]

    private static let drawing =
        "<?xml version='1.0'?><!-- a --><svg xmlns='http://www.w3.org/2000/svg' width='30mm' viewBox='0 0 60 40'><circle cx='9' cy='9' r='8'/></svg>"
    private static let marked =
        "<x:xmpmeta xmlns:x='adobe:ns:meta/' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/' xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#'><rdf:RDF><rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/' dc:rights='A &amp; B'><mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description mwg-rs:Type='Face'><mwg-rs:Area stArea:x='0.5' stArea:y='0.25' stArea:w='0.1' stArea:h='1e-1' stArea:unit='normalized'/></rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>"

    /// The same for a number, whenever it is asked.
    private static func mutated(_ seeds: [[UInt8]], _ number: Int) -> [UInt8] {
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, bound)
        }
        var bytes = seeds[number % seeds.count]
        for _ in 0...next(4) {
            // Half of them where headers are.
            let place = next(next(2) == 0 ? min(400, bytes.count) : bytes.count)
            switch next(6) {
            case 0: bytes[place] = UInt8(next(256))
            case 1: bytes[place] ^= 1 << next(8)
            case 2: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][next(5)]
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + next(8)))
            case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
            default: bytes.removeLast(next(bytes.count / 8))
            }
        }
        return bytes
    }

    private static func outcome(of bytes: [UInt8], _ number: Int, _ pool: RendererPool) async throws -> String {
        do {
            let picture = try await pool.inspect(try Workshop.file(bytes))
            let orders = try asked[number % asked.count].map { try Workshop.order($0, of: picture.facts.size) }
            _ = try await pool.render(picture, orders, isReuse: false)
            return "rendered"
        } catch let failure as RenderFailure {
            // To be made again from its number.
            if case .crashed = failure { print("mutant \(number): \(failure)") }
            return failure.code
        }
    }
}
