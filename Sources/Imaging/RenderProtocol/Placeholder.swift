package import VariantSpec

/// What a variant looks like before it is loaded, made from a few of its pixels in the same render.
///
/// It costs next to nothing: the picture is sampled down to 32 pixels, whatever it was.
package struct Placeholder: Sendable, Hashable {
    /// A ThumbHash; empty where none was made.
    package var thumbHash: [UInt8] = []
    /// The colour that most of it has; nil where all is transparent.
    package var colour: RGB?

    package init() {}
}
