package import VariantSpec

/// Input that a variant was rendered from.
package enum Provenance: Sendable, Hashable {
    case origin
    /// Spec of the donor; the donor itself was rendered from the origin's bytes. If it is the variant's own spec, the
    /// file was found in the store without a row that names its input.
    case donor(VariantSpec)
}
