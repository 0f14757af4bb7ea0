package import ImageModel
package import Posix

/// What a picture's header says, read before anything decodes it.
package struct PictureFacts: Sendable, Hashable {
    package let format: ImageFormat
    /// After orientation: what people see, and what every size is computed from.
    package let size: PixelSize
    /// EXIF orientation, 1...8; 1 where there is none.
    package let orientation: Int
    package let frames: Int
    package let hasAlpha: Bool

    package init(format: ImageFormat, size: PixelSize, orientation: Int, frames: Int, hasAlpha: Bool) {
        (self.format, self.size, self.orientation) = (format, size, orientation)
        (self.frames, self.hasAlpha) = (frames, hasAlpha)
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
    package let size: PixelSize
    package let hasAlpha: Bool
    package let content: FileSlice
    package init(spec: VariantSpec, size: PixelSize, hasAlpha: Bool, content: FileSlice) {
        (self.spec, self.size, self.hasAlpha, self.content) = (spec, size, hasAlpha, content)
    }

    /// The same picture for another spec that comes to it.
    package func named(_ spec: VariantSpec) -> RenderedVariant {
        RenderedVariant(spec: spec, size: size, hasAlpha: hasAlpha, content: content)
    }
}

/// Decodes once, makes every variant asked for, outside the worker's process.
package protocol Renderer: Sendable {
    /// Reads the header and holds it against the limits; nothing is decoded.
    func inspect(_ file: OpenFile) throws(RenderFailure) -> Picture

    /// All of `orders` from one decode. `isReuse`: the picture is a stored donor, decoded in full.
    func render(_ picture: Picture, _ orders: [RenderOrder], lane: Lane, isReuse: Bool) async throws(RenderFailure)
        -> [RenderedVariant]
}
