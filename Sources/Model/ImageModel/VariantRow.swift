package import Canonical
package import Clocks
package import Digest
package import VariantSpec

/// A stored derivative of one version of a source, as the changelog announces it.
package struct VariantRow: Sendable, Hashable {
    package var source: SourceKey
    package var spec: VariantSpec
    package var version: SourceVersion
    package var size: PixelSize
    package var bytes: Int
    package var digest: SHA256Digest
    /// Relative to the store's root.
    package var location: String
    package var madeFrom: Provenance
    /// Rendered from the original that the store kept, without a fetch; `madeFrom` is the origin then.
    package var isFromKept = false
    /// The source's size after orientation: what every size is computed from.
    package var sourceSize: PixelSize
    /// What of the source it shows, in source pixels.
    package var region: Region
    package var hasAlpha: Bool
    package var storedAt: WallTime
    /// When it stops counting as fresh.
    package var expires: WallTime
    /// Of a picture that moves: how many of its source's it shows. A file may hold fewer, since encoders write equal ones
    /// once.
    package var frames: Int
    /// What it was written at; less than its spec's where a byte budget asked for it.
    package var quality: Int
    /// A ThumbHash of what it shows, at most 25 bytes; empty where none was made.
    package var placeholder: [UInt8]
    /// The colour that most of it has.
    package var colour: RGB?
    /// What the source was found to be; nil in rows of earlier programs.
    package var facts: SourceFacts?

    package init(
        source: SourceKey, spec: VariantSpec, version: SourceVersion, size: PixelSize, bytes: Int,
        digest: SHA256Digest, location: String, madeFrom: Provenance, sourceSize: PixelSize, region: Region,
        hasAlpha: Bool, storedAt: WallTime, expires: WallTime, frames: Int = 1, quality: Int? = nil,
        placeholder: [UInt8] = [], colour: RGB? = nil, facts: SourceFacts? = nil
    ) {
        (self.frames, self.quality, self.placeholder) = (frames, quality ?? spec.quality, placeholder)
        (self.colour, self.facts) = (colour, facts)
        (self.source, self.spec, self.version, self.size, self.bytes) = (source, spec, version, size, bytes)
        (self.digest, self.location, self.madeFrom, self.sourceSize) = (digest, location, madeFrom, sourceSize)
        (self.region, self.hasAlpha, self.storedAt, self.expires) = (region, hasAlpha, storedAt, expires)
    }

    /// 1 if made from the origin's bytes, 2 if from a donor.
    package var generation: Int { madeFrom == .origin ? 1 : 2 }
}
