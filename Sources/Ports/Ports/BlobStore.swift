package import Canonical
package import Digest
package import ImageModel
package import Posix
package import Records
package import VariantSpec

/// The deterministic name of a stored blob: source key / version / leaf, never URL text.
///
/// The same name always means the same source bytes, so a put that finds it there has succeeded.
package struct BlobName: Sendable, Hashable {
    package let source: SourceKey
    package let version: SourceVersion
    /// A spec's text, or `original.` and the format's suffix.
    package let leaf: String

    package init(_ source: SourceKey, _ version: SourceVersion, _ spec: VariantSpec) {
        self.init(source, version, leaf: spec.description)
    }
    package init(original source: SourceKey, _ version: SourceVersion, _ format: ImageFormat) {
        self.init(source, version, leaf: "original.\(format.suffix)")
    }
    /// Where stores put the blob, relative to their root. Rows of indexes leave out a location that follows from this, so
    /// that it stays as it is.
    package var location: String {
        var leaf = leaf
        return leaf.withUTF8 { leaf in
            Self.location(source, version, limit: leaf.count) { out in
                out.update(fromContentsOf: leaf)
            }
        }
    }

    /// The same of a variant: read for each variant that is looked up, and interpolation is slow.
    package static func location(_ source: SourceKey, _ version: SourceVersion, _ spec: VariantSpec) -> String {
        location(source, version, limit: spec.byteLimit) { spec.write(to: $0.baseAddress!) }
    }

    /// Two levels of folders by the key's first digits, so that none holds millions.
    private static func location(
        _ source: SourceKey, _ version: SourceVersion, limit: Int,
        leaf: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) -> String {
        String(unsafeUninitializedCapacity: 88 + limit) { out in
            let slash = UInt8(ascii: "/")
            let start = out.baseAddress!
            source.digest.writeHex(to: start + 6)
            (out[0], out[1], out[2], out[3], out[4], out[5]) = (out[6], out[7], slash, out[8], out[9], slash)
            out[70] = slash
            Hex.write(version.word, to: start + 71)
            out[87] = slash
            return 88 + leaf(UnsafeMutableBufferPointer(rebasing: out[88...]))
        }
    }

    package var isOriginal: Bool { leaf.hasPrefix("original.") }
    private init(_ source: SourceKey, _ version: SourceVersion, leaf: String) {
        (self.source, self.version, self.leaf) = (source, version, leaf)
    }
}

/// A blob as it lies in the store: what its row records of it.
package struct StoredBlob: Sendable, Hashable {
    /// Relative to the store's root.
    package let location: String
    package let bytes: Int
    package let digest: SHA256Digest
    /// Other bytes than were put stood under the name already, and stay: all that is known of them is the name.
    package let isAnothers: Bool
    package init(location: String, bytes: Int, digest: SHA256Digest, isAnothers: Bool = false) {
        (self.location, self.bytes, self.digest, self.isAnothers) = (location, bytes, digest, isAnothers)
    }
}

/// One blob to put.
package struct NewBlob: Sendable {
    package let content: FileSlice
    package let name: BlobName
    package init(_ content: FileSlice, as name: BlobName) { (self.content, self.name) = (content, name) }
}

/// What a store shows of itself, before it is taken for the one that rows are bound to.
package struct StoreSight: Sendable, Hashable {
    package let place: StorePlace
    /// nil: it is fresh, from before identities, or not the store at all.
    package let identity: StoreIdentity?
    package let isEmpty: Bool
    /// A folder of its own that another store's, or none, stands in for; nil: it is whole.
    package let foreignPart: Part?

    package struct Part: Sendable, Hashable {
        package let place: StorePlace
        package let identity: StoreIdentity?
        package init(place: StorePlace, identity: StoreIdentity?) { (self.place, self.identity) = (place, identity) }
    }

    package init(place: StorePlace, identity: StoreIdentity?, isEmpty: Bool, foreignPart: Part? = nil) {
        (self.place, self.identity, self.isEmpty, self.foreignPart) = (place, identity, isEmpty, foreignPart)
    }
}

/// Where variants and originals are kept.
package protocol BlobStore: Sendable {
    func sight() async throws(StoreFailure) -> StoreSight
    /// The store's identity, made if it has none. From now on a store that does not show it is refused (`foreign`) by every
    /// verb. Of many that make one at once, one wins and all hear the same.
    func adopt() async throws(StoreFailure) -> StoreIdentity
    /// Why what is there is not the store that was adopted; nil if it is, or none was.
    var absence: StoreFailure? { get }
    /// Puts blobs, each whole or not at all, and returns when they would survive a crash. What is already there under a
    /// name stays, and is what is returned for it. All that a job makes goes in one put: it becomes durable together.
    func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob]
    /// The blob, open for reading; nil if it is gone.
    func open(_ location: String) async throws(StoreFailure) -> OpenFile?
    /// The blob, open for reading, if `isExpected` knows the digest of its bytes; nil if they are others, cannot be read,
    /// or are gone.
    func open(_ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool) async throws(StoreFailure)
        -> OpenFile?
    /// Whether a blob is gone. One of another length than was stored is damaged, and taken out of the way: a put would find it
    /// under its name and keep it. nil: this store cannot tell at the price of one system call, so that whoever reads the blob
    /// finds out.
    func isGone(_ location: String, bytes: Int) -> Bool?
    /// Of many blobs, the places of those that are known to be gone.
    func gone(among blobs: [(location: String, bytes: Int)]) async -> [Int]
    /// Removes a blob; it is no error if it is gone.
    func remove(_ location: String) async throws(StoreFailure)
}

extension BlobStore {
    package func gone(among blobs: [(location: String, bytes: Int)]) async -> [Int] {
        blobs.indices.filter { isGone(blobs[$0].location, bytes: blobs[$0].bytes) == true }
    }

    package func put(_ content: FileSlice, as name: BlobName) async throws(StoreFailure) -> StoredBlob {
        try await put([NewBlob(content, as: name)])[0]
    }
}
