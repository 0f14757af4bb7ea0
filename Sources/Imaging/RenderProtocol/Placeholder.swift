package import VariantSpec

/// A rough preview of a variant for display before it loads, computed from a few of its pixels in the same render.
///
/// It costs next to nothing: a picture of any size is sampled down to 32 pixels.
package struct Placeholder: Sendable, Hashable {
    /// A ThumbHash; empty if none was computed.
    package var thumbHash: [UInt8] = []
    /// Its most common colour; nil if all pixels are transparent.
    package var colour: RGB?

    package init() {}
}
