import Clocks
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
import RenderProtocol
internal import RendererPool
internal import TestPixels
import TestSupport
internal import VariantSpec

/// Pools of real renderers for the tests of this target, and short ways to ask it for pictures.
struct Workshop {
    static let pool = RendererPool(configuration(count: 2))
    /// One child each, that reads all formats: the direct path where it can, and libvips alone.
    static let (everything, libvips) = (ofAllFormats(.direct), ofAllFormats(.libvips))

    /// With time for a machine that other tests keep busy: those of a deadline set it.
    static func configuration(count: Int) -> RendererConfiguration {
        RendererConfiguration(
            program: Built.program("mezzotint-renderer").path, count: count, deadline: .minutes(1),
            startLimit: .minutes(1))
    }

    private static func ofAllFormats(_ engine: EngineChoice) -> RendererPool {
        var configuration = configuration(count: 1)
        (configuration.limits.formats, configuration.engine) = (Set(ImageFormat.allCases), engine)
        return RendererPool(configuration)
    }

    /// An open file with these bytes.
    static func file(_ bytes: [UInt8]) throws -> OpenFile {
        let file = try OpenFile(anonymous: "test")
        try bytes.withUnsafeBytes { try file.append($0) }
        return file
    }

    static func file(_ url: URL) throws -> OpenFile { try file(Array(Data(contentsOf: url))) }

    /// An order for the whole picture, or a cut of it, in exactly this size.
    static func order(
        _ width: Int, _ height: Int, _ format: ImageFormat, of size: PixelSize, crop: Region? = nil, quality: Int = 80
    ) -> RenderOrder {
        RenderOrder(
            spec: VariantSpec(width: width, height: height, quality: quality, format: format),
            output: PixelSize(width: width, height: height), crop: crop ?? Region(whole: size))
    }

    /// What a spec means for a picture.
    static func order(_ text: String, of size: PixelSize) throws -> RenderOrder {
        let spec = try VariantSpec(text)
        let placement = spec.placement(of: size)
        return RenderOrder(spec: spec, output: placement.output, crop: placement.region)
    }

    /// One variant by its spec.
    static func make(
        _ text: String, of file: OpenFile, in pool: RendererPool = pool, isReuse: Bool = false
    ) async throws -> RenderedVariant {
        let picture = try await pool.inspect(file)
        return try await pool.render(
            picture, [try order(text, of: picture.facts.size)], isReuse: isReuse)[0]
    }

    /// Any picture that we make, as pixels of its own size.
    static func pixels(of content: [UInt8]) async throws -> Pixels {
        let made = try await make("full.png", of: try file(content))
        guard let pixels = Pixels(png: try made.content.bytes()) else { throw Unreadable() }
        return pixels
    }

    /// Inspects and renders.
    static func render(
        _ file: OpenFile, isReuse: Bool = false, in pool: RendererPool = pool,
        _ orders: (PictureFacts) -> [RenderOrder]
    ) async throws -> [RenderedVariant] {
        let picture = try await pool.inspect(file)
        return try await pool.render(picture, orders(picture.facts), isReuse: isReuse)
    }

    /// One PNG of the whole picture, read back.
    static func pixels(_ file: OpenFile, _ width: Int, _ height: Int, crop: Region? = nil) async throws -> Pixels {
        let variants = try await render(file) { [order(width, height, .png, of: $0.size, crop: crop)] }
        guard let pixels = Pixels(png: try variants[0].content.bytes()) else { throw Unreadable() }
        return pixels
    }

    struct Unreadable: Error {}
}
