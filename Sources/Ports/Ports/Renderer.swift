package import ImageModel
package import Posix
package import VariantSpec

/// What a picture's header says, read before anything decodes it.
package struct PictureFacts: Sendable, Hashable {
    package let format: ImageFormat
    /// After orientation: what people see, and what every size is computed from.
    package let size: PixelSize
    /// EXIF orientation, 1...8; 1 where there is none.
    package let orientation: Int
    package let frames: Int
    package fileprivate(set) var hasAlpha: Bool
    /// Of all frames, in milliseconds; 0 where it stands still.
    package let duration: Int
    /// The file ends before what it says of itself does; whether pixels are lacking, only decoding tells.
    package let isTruncated: Bool
    /// Of its pixels, where the file names them by code points and embeds no profile.
    package let colours: ColourCodes?
    package let rights: PictureRights
    /// Bytes that its decoder holds at once, at any scale: by the estimate of how it is coded.
    package let memory: Int
    /// The middle of the regions that its metadata mark, upright.
    package let focalPoint: FocalPoint?

    package init(
        format: ImageFormat, size: PixelSize, orientation: Int, frames: Int, hasAlpha: Bool, duration: Int = 0,
        isTruncated: Bool = false, colours: ColourCodes? = nil, rights: PictureRights = PictureRights(),
        memory: Int = 0, focalPoint: FocalPoint? = nil
    ) {
        (self.duration, self.isTruncated, self.colours, self.rights) = (duration, isTruncated, colours, rights)
        (self.format, self.size, self.orientation) = (format, size, orientation)
        (self.frames, self.hasAlpha, self.memory, self.focalPoint) = (frames, hasAlpha, memory, focalPoint)
    }
}

extension PictureFacts {
    /// What goes into the rows of variants made of it.
    package var ofSource: SourceFacts {
        SourceFacts(
            format: format, frames: frames, hasAlpha: hasAlpha, orientation: orientation, isTruncated: isTruncated)
    }
}

/// A picture that passed the limits: its facts, and the bytes that may be decoded (hostile chunks taken out).
package struct Picture: Sendable {
    package let facts: PictureFacts
    package let file: OpenFile
    package init(facts: PictureFacts, file: OpenFile) { (self.facts, self.file) = (facts, file) }
}

/// One derivative as it came from the renderer.
package struct RenderedVariant: Sendable {
    package let spec: VariantSpec
    package let rendition: Rendition
    package let content: FileSlice
    package init(spec: VariantSpec, rendition: Rendition, content: FileSlice) {
        (self.spec, self.rendition, self.content) = (spec, rendition, content)
    }

    /// The same picture for another spec that comes to it.
    package func named(_ spec: VariantSpec) -> RenderedVariant {
        RenderedVariant(spec: spec, rendition: rendition, content: content)
    }

    package var size: PixelSize { rendition.size }
    package var hasAlpha: Bool { rendition.hasAlpha }
}

/// Decodes once, makes every variant asked for, outside the worker's process.
package protocol Renderer: Sendable {
    /// Reads the header, outside the worker's process, and holds it against the limits; nothing is decoded.
    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture

    /// Why a picture can't be rendered, whatever follows these first bytes of it; nil: they don't tell.
    func refusal(ofStart file: OpenFile) async -> RenderFailure?

    /// Whether a picture whose header speaks of alpha shows none: its pixels are looked at.
    func isOpaque(_ picture: Picture, lane: Lane, origin: String?) async -> Bool

    /// The orders of each request: a part has a deadline of its own. No orders have no parts.
    func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]]

    /// Renders one part: its deadline covers every decode that `orders` need. `isReuse`: the picture is a stored donor,
    /// decoded in full. `origin`: whose picture it is, so that those of others may be kept from what renders it.
    func render(
        _ picture: Picture, _ orders: [RenderOrder], lane: Lane, isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant]
}

extension Renderer {
    package func refusal(ofStart file: OpenFile) async -> RenderFailure? { nil }
    package func isOpaque(_ picture: Picture, lane: Lane, origin: String?) async -> Bool { !picture.facts.hasAlpha }
    package func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]] {
        RenderPart.all(of: orders, frames: picture.facts.frames)
    }
}

extension Picture {
    /// The same without its alpha, which shows nothing.
    package var opaque: Picture {
        var facts = facts
        facts.hasAlpha = false
        return Picture(facts: facts, file: file)
    }
}

/// What a renderer is asked at once, and has one deadline for.
package enum RenderPart {
    package static let outputLimit = 64
    /// Of four bytes each, as a PNG of noise has, less than a renderer may surely write.
    private static let pixelLimit = 128_000_000

    /// In their order, but for what moves: each of those is a part of its own, after all stills, which do not wait for it.
    package static func all(of orders: [RenderOrder], frames: Int) -> [[RenderOrder]] {
        guard frames > 1 else { return all(of: orders) }
        return all(of: orders.filter { !$0.spec.isAnimated }) + orders.filter(\.spec.isAnimated).map { [$0] }
    }

    /// In their order.
    package static func all(of orders: [RenderOrder]) -> [[RenderOrder]] {
        var (parts, part, pixels): ([[RenderOrder]], [RenderOrder], Int) = ([], [], 0)
        for order in orders {
            let own = order.spec.finished(order.output).pixels
            if !part.isEmpty, part.count == outputLimit || pixels + own > pixelLimit {
                parts.append(part)
                (part, pixels) = ([], 0)
            }
            part.append(order)
            pixels += own
        }
        return part.isEmpty ? parts : parts + [part]
    }
}
