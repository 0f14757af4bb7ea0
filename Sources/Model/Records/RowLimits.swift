/// Ranges of a row's numbers. Rows come from a changelog and from index files, which others can write.
///
/// Times have the range of records (`RecordLimits.times`). The index must accept every value that the changelog's
/// reader accepts. Otherwise it would count as damaged after each rebuild.
package enum RowLimits {
    package static let bytes = 0...1 << 50
    package static let frames = 1...Int(Int32.max)
    package static let orientation = 1...8
    package static let quality = 0...100
    /// Sides of a spec, as `VariantSpec(written:)` reads them: five digits.
    package static let side = 0...99_999
    package static let axis = 0...10
}
