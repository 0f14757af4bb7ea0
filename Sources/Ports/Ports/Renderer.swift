package import ImageModel
package import Images
package import Posix
package import VariantSpec

/// An image that passed the limits: its facts, and its bytes for decoding, with hostile chunks removed.
package struct Picture: Sendable {
    package let facts: PictureFacts
    package let file: OpenFile
    package init(facts: PictureFacts, file: OpenFile) { (self.facts, self.file) = (facts, file) }

    /// The same image without alpha, for an image whose alpha is opaque throughout.
    package var opaque: Picture { Picture(facts: facts.opaque, file: file) }
}

/// One variant as the renderer returned it.
package struct RenderedVariant: Sendable {
    package let spec: VariantSpec
    package let rendition: Rendition
    package let content: FileSlice
    package init(spec: VariantSpec, rendition: Rendition, content: FileSlice) {
        (self.spec, self.rendition, self.content) = (spec, rendition, content)
    }

    /// The same rendered image for another spec with the same result.
    package func named(_ spec: VariantSpec) -> RenderedVariant {
        RenderedVariant(spec: spec, rendition: rendition, content: content)
    }

    package var size: PixelSize { rendition.size }
    package var hasAlpha: Bool { rendition.hasAlpha }
}

/// Result of a look at the first bytes of an image.
package enum StartFinding: Sendable, Hashable {
    case useful
    /// The image cannot be rendered with any rest of its data.
    case useless(RenderFailure)
    /// The bytes end before they show the size.
    case unknown
}

/// Port that renders images outside the worker's process: it decodes once and renders every requested variant.
package protocol Renderer: Sendable {
    /// Reads the header outside the worker's process and checks it against the limits, without decoding.
    func inspect(_ file: OpenFile) async throws(RenderFailure) -> Picture

    /// Whether the first bytes of an image decide that it cannot be rendered.
    func finding(ofStart file: OpenFile) async -> StartFinding

    /// Whether an image whose header declares alpha is opaque, by a look at its pixels.
    func isOpaque(_ picture: Picture, origin: String?) async -> Bool

    /// Splits orders into parts, one for each request and each with a deadline of its own. Without orders there are no
    /// parts.
    func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]]

    /// Renders one part; its deadline covers every decode that `orders` need.
    ///
    /// - Parameters:
    /// - isReuse: whether the image is a stored donor, which is decoded in full.
    /// - origin: origin of the image, so that images of other origins can be kept away from the process that renders
    ///     it.
    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant]
}

extension Renderer {
    package func finding(ofStart file: OpenFile) async -> StartFinding { .useful }
    package func isOpaque(_ picture: Picture, origin: String?) async -> Bool { !picture.facts.hasAlpha }
    package func parts(of orders: [RenderOrder], from picture: Picture, isReuse: Bool) -> [[RenderOrder]] {
        RenderPart.all(of: orders, frames: picture.facts.frames)
    }
}
