package import Canonical
package import Clocks
package import Digest
package import VariantSpec

/// Changelog row of one stored variant of one version of a source.
package struct VariantRow: Sendable, Hashable {
    package var source: SourceKey
    package var spec: VariantSpec
    package var version: SourceVersion
    package var size: PixelSize
    package var bytes: Int
    package var digest: SHA256Digest
    /// Path of the file, relative to the store's root.
    package var location: String
    package var derivedFrom: Provenance
    /// Whether it was rendered from the kept original, without a fetch; `derivedFrom` is then `origin`.
    package var isFromKept = false
    /// Size of the source after orientation, from which every variant's size is computed.
    package var sourceSize: PixelSize
    /// Part of the source that is shown, in source pixels.
    package var region: Region
    package var hasAlpha: Bool
    package var storedAt: WallTime
    /// Time at which the variant stops counting as fresh.
    package var expires: WallTime
    /// Number of the source's frames that an animated variant shows. The file may hold fewer, because encoders write
    /// equal frames once.
    package var frames: Int
    /// Quality that was written; lower than the spec's if the spec has a byte budget.
    package var quality: Int
    /// ThumbHash of the variant, at most 25 bytes; empty if none was computed.
    package var placeholder: [UInt8]
    /// Colour of most of the variant.
    package var colour: RGB?
    /// Properties of the source that it was rendered from; nil in rows written before the field existed.
    package var facts: SourceFacts?

    package init(
        source: SourceKey, spec: VariantSpec, version: SourceVersion, size: PixelSize, bytes: Int,
        digest: SHA256Digest, location: String, derivedFrom: Provenance, sourceSize: PixelSize, region: Region,
        hasAlpha: Bool, storedAt: WallTime, expires: WallTime, frames: Int = 1, quality: Int? = nil,
        placeholder: [UInt8] = [], colour: RGB? = nil, facts: SourceFacts? = nil
    ) {
        (self.frames, self.quality, self.placeholder) = (frames, quality ?? spec.quality, placeholder)
        (self.colour, self.facts) = (colour, facts)
        (self.source, self.spec, self.version, self.size, self.bytes) = (source, spec, version, size, bytes)
        (self.digest, self.location, self.derivedFrom, self.sourceSize) = (digest, location, derivedFrom, sourceSize)
        (self.region, self.hasAlpha, self.storedAt, self.expires) = (region, hasAlpha, storedAt, expires)
    }

    /// 1 if rendered from the origin's bytes, 2 if rendered from a donor.
    package var generation: Int { derivedFrom == .origin ? 1 : 2 }
}
