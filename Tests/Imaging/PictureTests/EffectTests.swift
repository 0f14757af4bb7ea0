import Failures
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

@Suite("Pictures: what is asked for beside size, quality and format", .timeLimit(.minutes(2)))
struct EffectTests {
    @Test("A watermark lies where it was asked, as wide and as strong as it was asked")
    func watermark() async throws {
        let folder = try TemporaryFolder()
        try Data(Sources.flat([250, 0, 0, 255], width: 40, height: 20).png).write(
            to: folder.url.appending(path: "logo.png"))
        var configuration = Workshop.configuration(count: 1)
        configuration.watermarks = folder.path
        let pool = RendererPool(configuration)
        let file = try Workshop.file(Sources.flat([0, 0, 250], width: 200, height: 100).png)
        func pixels(_ spec: String) async throws -> Pixels {
            try #require(Pixels(png: try await Workshop.make(spec, of: file, in: pool).content.bytes()))
        }
        let marked = try await pixels("100x100-wmlogo_10_10_100_20.png")
        // 20 by 10 in the lower right corner of 100 by 50.
        #expect(marked.channels == 3 && marked[85, 45, 0] > 240 && marked[98, 48, 0] > 240)
        #expect(marked[75, 45, 0] < 10 && marked[85, 35, 0] < 10)
        let faint = try await pixels("100x100-wmlogo_0_0_50_40.png")
        #expect(abs(Int(faint[10, 5, 0]) - 125) < 6 && abs(Int(faint[10, 5, 2]) - 125) < 6)
        #expect(faint[45, 5, 0] < 10)
        await #expect {
            _ = try await Workshop.make("100x100-wmnone.png", of: file, in: pool)
        } throws: { "\($0)".contains("there is no watermark none: put it at") }
        await #expect {
            _ = try await Workshop.make("100x100-wmlogo.png", of: file)
        } throws: { "\($0)".contains("render.watermarks") }
        await pool.stop()
    }

    @Test("A blur takes the grain, a sharpening adds to it")
    func grain() async throws {
        let file = try Workshop.file(Pixels.photograph(width: 400, height: 300, seed: 9).png)
        func roughness(_ spec: String) async throws -> Double {
            let made = try await Workshop.make(spec, of: file).content.bytes()
            let pixels = try #require(Pixels(png: made))
            return try #require(pixels.difference(from: pixels, movedBy: (1, 0)))
        }
        let plain = try await roughness("200x200.png")
        #expect(try await roughness("200x200-blur3.png") < plain / 2)
        #expect(try await roughness("200x200-sharpen100.png") > plain * 1.1)
    }

    @Test("Edges of one colour are trimmed before anything is measured, and the row says what is shown")
    func trim() async throws {
        var pixels = Sources.flat([255, 255, 255], width: 120, height: 90)
        for y in 20..<60 {
            for x in 30..<110 {
                pixels.bytes.replaceSubrange((y * 120 + x) * 3..<(y * 120 + x) * 3 + 3, with: [0, 90, 0])
            }
        }
        let file = try Workshop.file(pixels.png)
        let whole = try await Workshop.make("full-trim.png", of: file)
        #expect(whole.size == PixelSize(width: 80, height: 40))
        #expect(whole.rendition.crop == Region(x: 30, y: 20, width: 80, height: 40))
        let small = try await Workshop.make("40x40-trim.png", of: file)
        #expect(small.size == PixelSize(width: 40, height: 20))
        #expect(try #require(Pixels(png: try small.content.bytes()))[0, 0, 1] == 90)
        // Nothing would be left: it stays as it is.
        let blank = try await Workshop.make("full-trim.png", of: try Workshop.file(Sources.flat([7, 7, 7]).png))
        #expect(blank.size == PixelSize(width: 60, height: 40))
    }

    /// Seen to fail: what is clear was laid on white, and white that shows was cut off as an edge of it.
    @Test("What shows is no edge, whatever its colour is", arguments: [[255, 255, 255], [0, 0, 0]] as [[UInt8]])
    func trimmedAlpha(clear: [UInt8]) async throws {
        var pixels = Sources.flat(clear + [0], width: 100, height: 80)
        for y in 20..<60 {
            for x in 30..<90 {
                pixels.bytes.replaceSubrange((y * 100 + x) * 4..<(y * 100 + x) * 4 + 4, with: [255, 255, 255, 255])
            }
        }
        let made = try await Workshop.make("full-trim.png", of: try Workshop.file(pixels.png))
        #expect(made.rendition.crop == Region(x: 30, y: 20, width: 60, height: 40))
    }

    @Test(
        "Smart keeps what draws the eye, in every orientation's pixels, and says where that was", arguments: [1, 6, 3])
    func smart(orientation: Int) async throws {
        // Dull, with one lively spot in the right.
        var pixels = Sources.flat([120, 120, 120], width: 300, height: 100)
        for y in 30..<70 {
            for x in 230..<270 {
                let colour: [UInt8] = (x / 5 + y / 5) % 2 == 0 ? [230, 40, 40] : [250, 200, 160]
                pixels.bytes.replaceSubrange((y * 300 + x) * 3..<(y * 300 + x) * 3 + 3, with: colour)
            }
        }
        let stored = Sources.stored(pixels, orientation: orientation)
        let file = try Workshop.file(
            Sources.png(stored, with: [Pixels.chunk("eXIf", Sources.tiff(orientation: orientation))]))
        let made = try await Workshop.make("50y50-smart.png", of: file)
        let crop = try #require(made.rendition.crop)
        #expect(crop.width == 100 && crop.height == 100 && crop.x > 140, "\(crop)")
        let shown = try #require(Pixels(png: try made.content.bytes()))
        #expect((0..<50).contains { shown[$0, 25, 0] > 200 })
        // A donor that was cut so is not looked at again.
        let again = try await Workshop.render(file, isReuse: true) { _ in
            [RenderOrder(spec: made.spec, output: made.size, crop: crop)]
        }
        #expect(again[0].rendition.crop == nil || again[0].rendition.crop == crop)
        #expect(try #require(Pixels(png: try again[0].content.bytes())?.difference(from: shown)) < 1)
    }

    @Test("A byte budget is kept by quality, and the quality is told", arguments: ["jpg", "webp", "avif"])
    func budget(ending: String) async throws {
        let file = try Workshop.file(Pixels.photograph(width: 400, height: 300, seed: 6).png)
        let free = try await Workshop.make("300x300-q85.\(ending)", of: file)
        let limit = free.content.length / 2
        let made = try await Workshop.make("300x300-q85-upto\(limit).\(ending)", of: file)
        #expect(made.content.length <= limit && made.content.length > limit / 2)
        #expect(free.rendition.quality == 85 && (1..<85).contains(made.rendition.quality))
        await #expect {
            _ = try await Workshop.make("300x300-upto256.\(ending)", of: file)
        } throws: { ($0 as? RenderFailure)?.code == "render.output" && "\($0)".contains("256 bytes") }
    }

    @Test("A byte budget is kept where a format has no quality, or the variant fails", arguments: ["png", "gif"])
    func budgetWithoutQuality(ending: String) async throws {
        let file = try Workshop.file(Pixels.photograph(width: 400, height: 300, seed: 6).png)
        let free = try await Workshop.make("300x300.\(ending)", of: file).content.length
        #expect(try await Workshop.make("300x300-upto\(free).\(ending)", of: file).content.length == free)
        await #expect {
            _ = try await Workshop.make("300x300-upto\(free - 1).\(ending)", of: file)
        } throws: { ($0 as? RenderFailure)?.code == "render.output" && "\($0)".contains("\(free - 1) bytes") }
    }

    @Test("No variant is larger than its source where a lower quality helps, unless the settings say so")
    func belowSource() async throws {
        let photograph = try Workshop.file(Pixels.photograph(width: 400, height: 300, seed: 6).png)
        let source = try await Workshop.make("full-q82.jpg", of: photograph).content.bytes()
        let made = try await Workshop.make("full-q85.jpg", of: try Workshop.file(source))
        #expect(made.content.length <= source.count && (80..<85).contains(made.rendition.quality))
        // Who asks for 90 and more gets 90 at least.
        #expect(try await Workshop.make("full-q95.jpg", of: try Workshop.file(source)).rendition.quality >= 90)
        // As asked where five steps do not help, in its own format too.
        let poor = try Workshop.file(try await Workshop.make("full-q15.jpg", of: photograph).content.bytes())
        let kept = try await Workshop.make("full-q85.jpg", of: poor)
        #expect(kept.content.length > poor.length && kept.rendition.quality == 85)
        let other = try await Workshop.make("full-q95.webp", of: poor)
        #expect(other.content.length > poor.length && other.rendition.quality == 95)
        var configuration = Workshop.configuration(count: 1)
        configuration.keepsBelowSource = false
        let pool = RendererPool(configuration)
        let free = try await Workshop.make("full-q95.jpg", of: try Workshop.file(source), in: pool)
        #expect(free.content.length > source.count && free.rendition.quality == 95)
        await pool.stop()
    }

    @Test("What a variant looks like comes with it: the same for all sizes, its own for a crop")
    func looks() async throws {
        let file = try Workshop.file(Pixels.map(width: 300, height: 200).png)
        let made = try await Workshop.render(file) { facts in
            ["240x240.jpg", "60x60.webp", "100y100.png", "90x90-blur9.png"].map {
                (try? Workshop.order($0, of: facts.size)) ?? Workshop.order(1, 1, .png, of: facts.size)
            }
        }
        let hashes = made.map(\.rendition.placeholder)
        #expect(hashes[0] == hashes[1] && hashes[2] != hashes[0] && hashes.allSatisfy { $0.count > 5 })
        #expect(made.allSatisfy { $0.rendition.colour != nil })
    }

    @Test("Where a format holds no alpha, a transparent picture looks as it does on its background")
    func flatLooks() async throws {
        let half = Pixels(
            width: 300, height: 200, channels: 4,
            bytes: (0..<300 * 200).flatMap { [200, 30, 30, $0 % 300 < 150 ? 255 : 0] })
        let file = try Workshop.file(half.png)
        let made = try await Workshop.render(file) { facts in
            ["240x240.webp", "60x60.jpg"].map {
                (try? Workshop.order($0, of: facts.size)) ?? Workshop.order(1, 1, .png, of: facts.size)
            }
        }
        #expect(made[0].rendition.placeholder != made[1].rendition.placeholder)
        let alone = try await Workshop.render(file) { facts in
            [(try? Workshop.order("240x240.webp", of: facts.size)) ?? Workshop.order(1, 1, .png, of: facts.size)]
        }
        #expect(alone[0].rendition.placeholder == made[0].rendition.placeholder)
    }
}
