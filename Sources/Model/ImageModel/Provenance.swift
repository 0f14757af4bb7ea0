package import VariantSpec

/// From what a variant was made.
package enum Provenance: Sendable, Hashable {
    case origin
    /// The donor's spec; the donor itself was made from the origin. Its own spec: it stood in the store already, without a
    /// row that says from what it was made.
    case donor(VariantSpec)
}
