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

@Suite("Pictures: what moves", .timeLimit(.minutes(2)))
struct AnimationTests {
    private static let colours: [[UInt8]] = [[200, 0, 0], [0, 200, 0], [0, 0, 200], [200, 200, 0]]
    private static let delays = [5, 20, 100, 30]
    private static func source(loops: Int? = 3) -> [UInt8] {
        Sources.gif(width: 60, height: 40, colours: colours, delays: delays, loops: loops)
    }

    @Test("Frames, delays and loops come out as they went in", arguments: [ImageFormat.webp, .gif], [nil, 0, 3])
    func kept(format: ImageFormat, loops: Int?) async throws {
        let made = try await Workshop.make(
            "30x30-q90.\(format.suffix)", of: try Workshop.file(Self.source(loops: loops)))
        #expect(made.rendition.frames == 4 && made.size == PixelSize(width: 30, height: 20))
        let bytes = try made.content.bytes()
        let facts = try await Workshop.pool.inspect(try Workshop.file(bytes)).facts
        #expect(facts.frames == 4 && facts.duration == 1550 && facts.size == made.size)
        // A GIF counts how often it begins again, a WebP how often it is shown.
        let begins = loops.map { $0 > 0 && format == .webp ? $0 + 1 : $0 }
        #expect(Self.loops(bytes, format) == (begins ?? 1))
        // Once more, as GIF: the same frames.
        let again = try await Workshop.make("full.gif", of: try Workshop.file(bytes))
        #expect(try await Workshop.pool.inspect(try Workshop.file(try again.content.bytes())).facts.duration == 1550)
    }

    @Test(
        "A still shows the first frame, also where the format could move",
        arguments: ["-still.webp", "-still.gif", ".jpg", ".png", ".avif"])
    func still(ending: String) async throws {
        let made = try await Workshop.make("30x30\(ending)", of: try Workshop.file(Self.source()))
        #expect(made.rendition.frames == 1)
        let pixels = try await Workshop.pixels(of: try made.content.bytes())
        #expect(pixels[10, 10, 0] > 180 && pixels[10, 10, 1] < 30, "\(pixels.bytes.prefix(3))")
    }

    @Test("A moving donor gives a still its first frame, and what moves all of them")
    func donor() async throws {
        let donor = try await Workshop.make("full-q90.webp", of: try Workshop.file(Self.source())).content.bytes()
        let still = try await Workshop.make("30x30-still.webp", of: try Workshop.file(donor), isReuse: true)
        let moving = try await Workshop.make("30x30.webp", of: try Workshop.file(donor), isReuse: true)
        #expect(still.rendition.frames == 1 && moving.rendition.frames == 4)
    }

    @Test("No frame is another's: crops, effects and sizes are made of each")
    func frames() async throws {
        let moving = try await Workshop.make("20y20-blur1.gif", of: try Workshop.file(Self.source()))
        let file = try moving.content.bytes()
        #expect(moving.size == PixelSize(width: 20, height: 20) && moving.rendition.frames == 4)
        #expect(try await Workshop.pixels(of: file)[10, 10, 0] > 180)
        // Each frame has its colours in a table of its own.
        for colour in Self.colours { #expect(file.indices.contains { file[$0...].starts(with: colour) }, "\(colour)") }
    }

    @Test("Nothing but pixels and timing is in a moving WebP")
    func metadata() async throws {
        let bytes = try await Workshop.make("30x30.webp", of: try Workshop.file(Self.source())).content.bytes()
        #expect(Set(Self.chunks(bytes)) == ["VP8X", "ANIM", "ANMF"])
    }

    @Test("What has too many pixels or lasts too long comes out still only", arguments: [true, false])
    func caps(byPixels: Bool) async throws {
        var configuration = Workshop.configuration(count: 1)
        if byPixels {
            configuration.limits.animationPixels = 4 * 60 * 40 - 1
        } else {
            configuration.limits.animationDuration = 1549
        }
        let pool = RendererPool(configuration)
        await #expect {
            try await Workshop.make("30x30.webp", of: try Workshop.file(Self.source()), in: pool)
        } throws: { ($0 as? RenderFailure)?.code == "render.output" && "\($0)".contains("-still") }
        let still = try await Workshop.make("30x30-still.webp", of: try Workshop.file(Self.source()), in: pool)
        #expect(still.rendition.frames == 1)
        await pool.stop()
    }

    /// Seen to fail: the header of what had more frames than the limit was refused, whatever was asked of it.
    @Test(
        "Of more frames than the limit a still is made, and what would move is refused with what to do",
        arguments: [1_024, 20_000])
    func manyFrames(count: Int) async throws {
        let source = try Workshop.file(Sources.flatGIF(width: 6, height: 4, frames: count))
        for spec in ["3x3.png", "3x3-still.webp"] {
            #expect(try await Workshop.make(spec, of: source).size == PixelSize(width: 3, height: 2))
        }
        let failure = await #expect(throws: RenderFailure.self) { try await Workshop.make("3x3.webp", of: source) }
        #expect(failure?.code == "render.too-many-frames" && failure?.description.contains("-still") == true)
    }

    /// Seen to fail: what no frame covers was black, with a transparent colour in no frame.
    @Test("Canvas that no frame covers is transparent, still and moving, and white in a JPEG", arguments: [1, 3])
    func bare(frames: Int) async throws {
        let source = try Workshop.file(Sources.flatGIF(width: 60, height: 40, frames: frames, covered: 30))
        #expect(try await Workshop.pool.inspect(source).facts.hasAlpha)
        for spec in ["full.png", "30x20.png", "full-still.webp", "full.webp", "full.gif", "full.jpg"] {
            let made = try await Workshop.make(spec, of: source)
            #expect(made.rendition.frames == (spec == "full.webp" || spec == "full.gif" ? frames : 1), "\(spec)")
            #expect(made.hasAlpha == (spec != "full.jpg"), "\(spec)")
            let pixels = try await Workshop.pixels(of: try made.content.bytes())
            let (left, right) = (pixels.width / 4, pixels.width * 3 / 4)
            #expect(pixels[left, 5, 0] > 180 && pixels[left, 5, 1] < 40, "\(spec)")
            if spec == "full.jpg" {
                #expect(pixels[right, 5, 0] > 250 && pixels[right, 5, 1] > 250)
            } else {
                #expect(pixels[left, 5, 3] == 255 && pixels[right, 5, 3] == 0, "\(spec)")
            }
        }
    }

    /// Seen to fail: the canvas was black for each ending but the last.
    @Test(
        "Bare canvas is transparent whatever follows the frames",
        arguments: [[], [0x38, 0x40], [0x2c, 0, 0], [0x21, 0xf9, 4], [0x3b, 1, 2, 3]] as [[UInt8]])
    func bareBeforeDamage(ending: [UInt8]) async throws {
        let whole = Sources.flatGIF(width: 60, height: 40, frames: 2, covered: 30)
        let source = try Workshop.file(whole.dropLast() + ending)
        for spec in ["full.png", "full-still.webp"] {
            let made = try await Workshop.make(spec, of: source)
            let pixels = try await Workshop.pixels(of: try made.content.bytes())
            #expect(pixels[15, 5, 3] == 255 && pixels[45, 5, 3] == 0, "\(spec)")
        }
    }

    @Test(
        "Real ones keep their time", .enabled(if: Shared.has("images/formats"), Comment(rawValue: Shared.absent)),
        arguments: ["animated-loop-3.gif", "animated-loop-3.webp", "rotating-squares.gif", "rotating-squares.webp"])
    func real(name: String) async throws {
        let url = try #require(Shared.part("images/formats/\(name)"))
        let source = try await Workshop.pool.inspect(try Workshop.file(url)).facts
        for ending in ["webp", "gif"] {
            let made = try await Workshop.make("40x40.\(ending)", of: try Workshop.file(url))
            let facts = try await Workshop.pool.inspect(try Workshop.file(try made.content.bytes())).facts
            // Frames that are the same at this size become one, which lasts as long as they did.
            #expect(facts.frames > 1 && facts.frames <= source.frames, "\(name) to \(ending)")
            #expect(abs(facts.duration - source.duration) <= source.frames * 5, "\(name) to \(ending)")
        }
    }

    private static func loops(_ bytes: [UInt8], _ format: ImageFormat) -> Int? {
        if format == .gif {
            let name = Array("NETSCAPE2.0".utf8)
            guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: name) }) else { return 1 }
            return Int(bytes[place + 13]) | Int(bytes[place + 14]) << 8
        }
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: Array("ANIM".utf8)) }) else {
            return nil
        }
        return Int(bytes[place + 12]) | Int(bytes[place + 13]) << 8
    }

    private static func chunks(_ bytes: [UInt8]) -> [String] {
        var (names, offset): ([String], Int) = ([], 12)
        while offset + 8 <= bytes.count {
            names.append(String(decoding: bytes[offset..<offset + 4], as: UTF8.self))
            let length = bytes[offset + 4..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            offset += 8 + length + length % 2
        }
        return names
    }
}
