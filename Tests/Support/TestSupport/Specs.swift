internal import Canonical
package import VariantSpec

/// A spec as tables of tests write it; a table that misspells one is a mistake in the test.
package func spec(_ text: String) -> VariantSpec {
    do throws(SpecFailure) {
        return try VariantSpec(text)
    } catch {
        preconditionFailure("\(text) in a test's table: \(error.description)")
    }
}
