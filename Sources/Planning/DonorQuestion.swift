package import ImageModel

/// What every donor of one source is held against.
package struct DonorQuestion: Sendable {
    /// The newest version known.
    package let version: SourceVersion
    /// nil: not known.
    package let sourceHasAlpha: Bool?
    package let now: Int64
    package let rules: ReuseRules

    package init(version: SourceVersion, sourceHasAlpha: Bool?, now: Int64, rules: ReuseRules) {
        (self.version, self.sourceHasAlpha, self.now, self.rules) = (version, sourceHasAlpha, now, rules)
    }
}
