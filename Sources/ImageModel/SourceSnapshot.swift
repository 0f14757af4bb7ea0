/// All that is stored for one source: what planning decides upon.
package struct SourceSnapshot: Sendable, Hashable {
    package var source: SourceRow?
    package var variants: [VariantRow]
    package init(source: SourceRow? = nil, variants: [VariantRow] = []) { (self.source, self.variants) = (source, variants) }
}
