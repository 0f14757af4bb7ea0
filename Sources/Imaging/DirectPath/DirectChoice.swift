internal import Images
package import RenderKit
package import RenderProtocol
package import VariantSpec

/// What a JPEG's own header says that decides who decodes it.
package struct JPEGTraits: Sendable, Hashable {
    /// Before orientation.
    package var stored: PixelSize
    /// Three components that become RGB: neither grey nor CMYK.
    package var isColour: Bool
    package var profile: ProfileKind

    package init(stored: PixelSize, isColour: Bool, profile: ProfileKind) {
        (self.stored, self.isColour, self.profile) = (stored, isColour, profile)
    }
}

/// Which renders the direct path takes; whatever it does not know, libvips does.
package enum DirectChoice {
    /// What it writes itself.
    static let written: Set<ImageFormat> = [.jpeg, .webp, .png]

    package static func takes(_ request: RenderRequest, _ traits: JPEGTraits) -> Bool {
        request.mayGoDirect && traits.isColour
    }
}
