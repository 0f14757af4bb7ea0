package import ImageModel
package import VariantSpec

extension VariantSpec {
    /// The spec with the format of an `auto` variant, once the source's animation and transparency are known; until then
    /// it stays open. A header alone does not show transparency.
    package func chosen(by source: SourceRow, _ defaults: DefaultQualities) -> VariantSpec {
        guard isAuto, !(source.isAlphaUnchecked && isChosenByAlpha) else { return self }
        return chosen(frames: source.frames, hasAlpha: source.hasAlpha, defaults: defaults)
    }
}
