internal import Images
package import RenderKit
package import RenderProtocol
package import VariantSpec

/// Traits from a JPEG's own header that decide which engine decodes it.
package struct JPEGTraits: Sendable, Hashable {
    /// Size before orientation.
    package var stored: PixelSize
    /// Whether it has three components that become RGB, unlike grey and CMYK.
    package var isColour: Bool
    package var profile: ProfileKind

    package init(stored: PixelSize, isColour: Bool, profile: ProfileKind) {
        (self.stored, self.isColour, self.profile) = (stored, isColour, profile)
    }
}

/// Chooses the renders that the direct path takes; libvips renders all others.
package enum DirectChoice {
    /// Formats that the direct path encodes itself.
    static let written: Set<ImageFormat> = [.jpeg, .webp, .png]

    package static func takes(_ request: RenderRequest, _ traits: JPEGTraits) -> Bool {
        request.mayGoDirect && traits.isColour
    }
}
