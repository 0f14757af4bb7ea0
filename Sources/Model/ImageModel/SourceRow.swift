package import Canonical
package import Clocks
package import Digest
package import HTTPCache
package import VariantSpec

/// What is known of a source since it was last fetched, and where its original is kept if it is.
package struct SourceRow: Sendable, Hashable {
    package var source: SourceKey
    package var url: String
    package var version: SourceVersion
    /// After orientation.
    package var size: PixelSize
    package var format: ImageFormat
    package var bytes: Int
    package var digest: SHA256Digest
    package var hasAlpha: Bool
    /// Whether `hasAlpha` is the header's word alone: nobody looked at the pixels.
    package var isAlphaUnchecked: Bool
    package var frames: Int
    /// Where the fetched bytes are kept, relative to the store's root; nil if they were too large to keep.
    package var original: String?
    package var fetchedAt: WallTime
    package var expires: WallTime
    /// What is kept of its answer's headers.
    package var policy: CachePolicy
    /// What its metadata mark, such as faces: crops that name no place lie around it. An earlier program kept a point alone.
    package var regions: [KeptRegion]
    /// Without it no regions are known, and there may be some: the row is of a program that does not look for it.
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
