/// What the numbers of a row may be: rows come from a changelog and from index files, which others can write.
///
/// Times have the bounds of records (`RecordLimits.times`). The index takes whatever the changelog's reader takes, or it would be found damaged for ever.
package enum RowLimits {
    package static let bytes = 0...1 << 50
    package static let frames = 1...Int(Int32.max)
    package static let orientation = 1...8
    package static let quality = 0...100
    /// Of a spec, as `VariantSpec(written:)` reads it: five digits.
    package static let side = 0...99_999
    package static let axis = 0...10
}
