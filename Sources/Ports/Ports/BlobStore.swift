package import Canonical
package import Digest
package import ImageModel
package import Posix
package import Records
package import VariantSpec

/// Deterministic name of a stored blob: source key / version / leaf. It never contains URL text.
///
/// One name always means the same source bytes, so a put that finds the name already there has succeeded.
package struct BlobName: Sendable, Hashable {
    package let source: SourceKey
    package let version: SourceVersion
    /// Text of a spec, or `original.` and the format's suffix.
    package let leaf: String

    package init(_ source: SourceKey, _ version: SourceVersion, _ spec: VariantSpec) {
        self.init(source, version, leaf: spec.description)
    }
    package init(original source: SourceKey, _ version: SourceVersion, _ format: ImageFormat) {
        self.init(source, version, leaf: "original.\(format.suffix)")
    }
    /// Path of the blob, relative to the store's root. It must never change: rows of indexes leave out a location that
    /// this function gives.
    package var location: String {
        var leaf = leaf
        return leaf.withUTF8 { leaf in
            Self.location(source, version, limit: leaf.count) { out in
                out.update(fromContentsOf: leaf)
            }
        }
    }

    /// Path of a variant's blob. Written without interpolation, which is slow, because it is computed for each variant
    /// that is looked up.
    package static func location(_ source: SourceKey, _ version: SourceVersion, _ spec: VariantSpec) -> String {
        location(source, version, limit: spec.byteLimit) { spec.write(to: $0.baseAddress!) }
    }

    /// Path with two levels of folders by the key's first digits, so that no folder holds millions.
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

/// A stored blob, as its row records it.
package struct StoredBlob: Sendable, Hashable {
    /// Path relative to the store's root.
    package let location: String
    package let bytes: Int
    package let digest: SHA256Digest
    /// Whether the name was already taken by other bytes than the new ones. Those bytes stay; only their name is known.
    package let isAnothers: Bool
    package init(location: String, bytes: Int, digest: SHA256Digest, isAnothers: Bool = false) {
        (self.location, self.bytes, self.digest, self.isAnothers) = (location, bytes, digest, isAnothers)
    }
}

/// One blob to store.
package struct NewBlob: Sendable {
    package let content: FileSlice
    package let name: BlobName
    package init(_ content: FileSlice, as name: BlobName) { (self.content, self.name) = (content, name) }
}

/// Observation of a store, before it is accepted as the store that rows are bound to.
package struct StoreSight: Sendable, Hashable {
    package let place: StorePlace
    /// nil if the store is new, is older than identities, or is not the store at all.
    package let identity: StoreIdentity?
    package let isEmpty: Bool
    /// Folder of the store that has another store's identity, or none; nil if all folders belong together.
    package let mismatchedPart: Part?

    package struct Part: Sendable, Hashable {
        package let place: StorePlace
        package let identity: StoreIdentity?
        package init(place: StorePlace, identity: StoreIdentity?) { (self.place, self.identity) = (place, identity) }
    }

    package init(place: StorePlace, identity: StoreIdentity?, isEmpty: Bool, mismatchedPart: Part? = nil) {
        (self.place, self.identity, self.isEmpty, self.mismatchedPart) = (place, identity, isEmpty, mismatchedPart)
    }
}

/// Storage of variants and originals.
package protocol BlobStore: Sendable {
    func sight() async throws(StoreFailure) -> StoreSight
    /// Returns the store's identity, and creates one if there is none. From then on every verb refuses a store with
    /// another identity (`mismatched`). If several callers create one at once, one wins and all get the same identity.
    func adopt() async throws(StoreFailure) -> StoreIdentity
    /// Reason why the present store is not the adopted one; nil if it is, or if none was adopted.
    var absence: StoreFailure? { get }
    /// Stores blobs, each completely or not at all, and returns when they would survive a crash. A blob already stored
    /// under a name stays, and is returned in place of the new one. All blobs of a job go in one call, so that they
    /// become durable together.
    func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob]
    /// Opens a blob for reading; nil if it is gone.
    func open(_ location: String) async throws(StoreFailure) -> OpenFile?
    /// Opens a blob for reading if `isExpected` accepts the digest of its bytes. nil if the bytes are others, cannot be
    /// read, or are gone.
    func open(_ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool) async throws(StoreFailure)
        -> OpenFile?
    /// Whether a blob is gone. A blob of another length than was stored is damaged. It is removed, because a put
    /// would find it under its name and keep it. nil if this store cannot answer with one system call; the reader of
    /// the blob then finds out.
    func isGone(_ location: String, bytes: Int) -> Bool?
    /// Indices of the blobs that are known to be gone.
    func gone(among blobs: [(location: String, bytes: Int)]) async -> [Int]
    /// Removes a blob; a missing blob is not an error.
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
