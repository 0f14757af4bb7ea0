package import ImageModel

/// A spec as tables of tests write it; a table that misspells one is a mistake in the test.
package func spec(_ text: String) -> VariantSpec {
    do throws(CanonicalFailure) {
        return try VariantSpec(text)
    } catch {
        preconditionFailure("\(text) in a test's table: \(error.description)")
    }
}
