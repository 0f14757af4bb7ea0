package import Clocks
package import ImageModel
package import VariantSpec

/// What every donor of one source is held against.
package struct DonorQuestion: Sendable {
    /// The newest version known.
    package let version: SourceVersion
    /// nil: not known.
    package let sourceHasAlpha: Bool?
    /// Where crops lie that name no place.
    package let focalPoint: FocalPoint?
    /// Without the source's row nobody knows that, nor by a row of a program that did not look.
    package let isFocusKnown: Bool
    package let now: WallTime
    package let rules: ReuseRules

    package init(
        version: SourceVersion, sourceHasAlpha: Bool?, focalPoint: FocalPoint? = nil, isFocusKnown: Bool = true,
        now: WallTime, rules: ReuseRules
    ) {
        (self.focalPoint, self.isFocusKnown) = (focalPoint, isFocusKnown)
        (self.version, self.sourceHasAlpha, self.now, self.rules) = (version, sourceHasAlpha, now, rules)
    }
}
