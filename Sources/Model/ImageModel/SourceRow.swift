package import Canonical
package import Clocks
package import Digest
package import HTTPCache
package import VariantSpec

/// State of a source as of its last fetch, and the path of its kept original if there is one.
package struct SourceRow: Sendable, Hashable {
    package var source: SourceKey
    package var url: String
    package var version: SourceVersion
    /// Size after orientation.
    package var size: PixelSize
    package var format: ImageFormat
    package var bytes: Int
    package var digest: SHA256Digest
    package var hasAlpha: Bool
    /// Whether `hasAlpha` comes from the header alone, without a look at the pixels.
    package var isAlphaUnchecked: Bool
    package var frames: Int
    /// Path of the kept bytes, relative to the store's root; nil if the bytes were too large to keep.
    package var original: String?
    package var fetchedAt: WallTime
    package var expires: WallTime
    /// Caching headers of the last response.
    package var policy: CachePolicy
    /// Regions that the metadata mark, such as faces. A crop without a position of its own keeps them. Rows written
    /// before the field existed hold one point at most.
    package var regions: [KeptRegion]
    /// Whether the regions were looked for. If false, `regions` is empty, but the source may still mark some: the
    /// program that wrote the row did not look.
    package var isFocusKnown: Bool

    package init(
        source: SourceKey, url: String, version: SourceVersion, size: PixelSize, format: ImageFormat, bytes: Int,
        digest: SHA256Digest, hasAlpha: Bool, frames: Int = 1, original: String?, fetchedAt: WallTime,
        expires: WallTime,
        policy: CachePolicy = CachePolicy(), regions: [KeptRegion] = [], isFocusKnown: Bool = true,
        isAlphaUnchecked: Bool = false
    ) {
        self.isAlphaUnchecked = isAlphaUnchecked
        (self.frames, self.isFocusKnown) = (frames, isFocusKnown)
        (self.source, self.url, self.version, self.size, self.format) = (source, url, version, size, format)
        (self.bytes, self.digest, self.hasAlpha, self.original) = (bytes, digest, hasAlpha, original)
        (self.fetchedAt, self.expires, self.policy, self.regions) = (fetchedAt, expires, policy, regions)
    }
}
