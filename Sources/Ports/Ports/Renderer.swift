package import ImageModel
package import Images
package import Posix
package import VariantSpec

/// A picture that passed the limits: its facts, and the bytes that may be decoded (hostile chunks taken out).
package struct Picture: Sendable {
    package let facts: PictureFacts
    package let file: OpenFile
    package init(facts: PictureFacts, file: OpenFile) { (self.facts, self.file) = (facts, file) }

    /// The same without its alpha, which shows nothing.
    package var opaque: Picture { Picture(facts: facts.opaque, file: file) }
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
    func isOpaque(_ picture: Picture, origin: String?) async -> Bool

    /// The orders of each request: a part has a deadline of its own. No orders have no parts.
    func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]]

    /// Renders one part: its deadline covers every decode that `orders` need. `isReuse`: the picture is a stored donor,
    /// decoded in full. `origin`: whose picture it is, so that those of others may be kept from what renders it.
    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant]
}

extension Renderer {
    package func refusal(ofStart file: OpenFile) async -> RenderFailure? { nil }
    package func isOpaque(_ picture: Picture, origin: String?) async -> Bool { !picture.facts.hasAlpha }
    package func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]] {
        RenderPart.all(of: orders, frames: picture.facts.frames)
    }
}
