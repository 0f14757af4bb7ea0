package import Clocks
package import ImageModel
package import VariantSpec

/// What every donor of one source is held against.
package struct DonorQuestion: Sendable {
    /// The newest version known.
    package let version: SourceVersion
    /// nil: not known.
    package let sourceHasAlpha: Bool?
    /// What crops lie around that name no place.
    package let regions: [KeptRegion]
    /// Without the source's row nobody knows that, nor by a row of a program that did not look.
    package let isFocusKnown: Bool
    package let now: WallTime
    package let rules: ReuseRules

    package init(
        version: SourceVersion, sourceHasAlpha: Bool?, regions: [KeptRegion] = [], isFocusKnown: Bool = true,
        now: WallTime, rules: ReuseRules
    ) {
        (self.regions, self.isFocusKnown) = (regions, isFocusKnown)
        (self.version, self.sourceHasAlpha, self.now, self.rules) = (version, sourceHasAlpha, now, rules)
    }

    /// - Parameter version: the snapshot's.
    package init(_ snapshot: SourceSnapshot, _ version: SourceVersion, now: WallTime, rules: ReuseRules) {
        let source = snapshot.source
        self.init(
            version: version, sourceHasAlpha: source?.hasAlpha, regions: source?.regions ?? [],
            isFocusKnown: source?.isFocusKnown ?? false, now: now, rules: rules)
    }
}
