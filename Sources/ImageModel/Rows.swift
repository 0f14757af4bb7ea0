package import Digest

/// From what a variant was made.
package enum Provenance: Sendable, Hashable {
    case origin
    /// The donor's spec; the donor itself was made from the origin. Its own spec: it stood in the store already, without a
    /// row that says from what it was made.
    case donor(VariantSpec)
}

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
    /// The source's size after orientation: what every size is computed from.
    package var sourceSize: PixelSize
    /// What of the source it shows, in source pixels.
    package var region: Region
    package var hasAlpha: Bool
    /// Milliseconds since 1970.
    package var storedAt: Int64
    /// When it stops counting as fresh, milliseconds since 1970.
    package var expires: Int64

    package init(
        source: SourceKey, spec: VariantSpec, version: SourceVersion, size: PixelSize, bytes: Int,
        digest: SHA256Digest, location: String, madeFrom: Provenance, sourceSize: PixelSize, region: Region,
        hasAlpha: Bool, storedAt: Int64, expires: Int64
    ) {
        (self.source, self.spec, self.version, self.size, self.bytes) = (source, spec, version, size, bytes)
        (self.digest, self.location, self.madeFrom, self.sourceSize) = (digest, location, madeFrom, sourceSize)
        (self.region, self.hasAlpha, self.storedAt, self.expires) = (region, hasAlpha, storedAt, expires)
    }

    /// 1 if made from the origin's bytes, 2 if from a donor.
    package var generation: Int { madeFrom == .origin ? 1 : 2 }
}

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
    /// Where the fetched bytes are kept, relative to the store's root; nil if they were too large to keep.
    package var original: String?
    package var fetchedAt: Int64
    package var expires: Int64

    package init(
        source: SourceKey, url: String, version: SourceVersion, size: PixelSize, format: ImageFormat, bytes: Int,
        digest: SHA256Digest, hasAlpha: Bool, original: String?, fetchedAt: Int64, expires: Int64
    ) {
        (self.source, self.url, self.version, self.size, self.format) = (source, url, version, size, format)
        (self.bytes, self.digest, self.hasAlpha, self.original) = (bytes, digest, hasAlpha, original)
        (self.fetchedAt, self.expires) = (fetchedAt, expires)
    }
}

/// All that is stored for one source: what planning decides upon.
package struct SourceSnapshot: Sendable, Hashable {
    package var source: SourceRow?
    package var variants: [VariantRow]
    package init(source: SourceRow? = nil, variants: [VariantRow] = []) { (self.source, self.variants) = (source, variants) }
}

/// One step of the changelog: a row to keep, or one to drop (a tombstone).
package enum IndexChange: Sendable, Hashable {
    case source(SourceRow)
    case variant(VariantRow)
    case dropSource(SourceKey)
    case dropVariant(SourceKey, VariantSpec)

    /// Whose rows it changes.
    package var source: SourceKey {
        switch self {
        case .source(let row): row.source
        case .variant(let row): row.source
        case .dropSource(let source), .dropVariant(let source, _): source
        }
    }
}
