package import Digest
package import ImageModel
package import Posix

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

/// Where variants and originals are kept.
package protocol BlobStore: Sendable {
    /// Puts blobs, each whole or not at all, and returns when they would survive a crash. What is already there under a
    /// name stays, and is what is returned for it. All that a job makes goes in one put: it becomes durable together.
    func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob]
    /// The blob, open for reading; nil if it is gone.
    func open(_ location: String) async throws(StoreFailure) -> OpenFile?
    /// The blob, open for reading, if `isExpected` knows the digest of its bytes; nil if they are others, cannot be read,
    /// or are gone.
    func open(_ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool) async throws(StoreFailure)
        -> OpenFile?
    /// Whether a blob is known to be gone. A store that cannot tell at the price of one system call answers false.
    func isGone(_ location: String) -> Bool
    /// Removes a blob; it is no error if it is gone.
    func remove(_ location: String) async throws(StoreFailure)
}

extension BlobStore {
    package func put(_ content: FileSlice, as name: BlobName) async throws(StoreFailure) -> StoredBlob {
        try await put([NewBlob(content, as: name)])[0]
    }
}

/// Why a blob could not be put or read.
package enum StoreFailure: StageFailure, Hashable {
    case full(path: String)
    /// The store as a whole.
    case unwritable(path: String, reason: String)
    /// Files or memory of this process are used up.
    case exhausted(path: String, reason: String)
    /// One place in a store that can be written otherwise.
    case obstructed(path: String, reason: String)
    case unreadable(path: String, reason: String)
    case badLocation(String)

    package var code: String {
        switch self {
        case .full: "store.full"
        case .unwritable: "store.unwritable"
        case .exhausted: "store.exhausted"
        case .obstructed: "store.obstructed"
        case .unreadable: "store.unreadable"
        case .badLocation: "store.bad-location"
        }
    }

    package var description: String {
        switch self {
        case .full(let path): "There is no space left in the store at \(path). Free some; the job is tried again."
        case .unwritable(let path, let reason): "\(path) cannot be written: \(reason). Check the store's directory and its rights; the job is tried again."
        case .exhausted(let path, let reason): "\(path) could not be used: \(reason). Give the worker more open files or memory; the job is tried again."
        case .obstructed(let path, let reason): "\(path) cannot be written: \(reason), though the store can. Remove what stands in its way."
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason). Remove that file: it is made again when it is needed."
        case .badLocation(let location): "\(location) is not a location inside the store."
        }
    }

    package var verdict: Verdict {
        switch self {
        case .full, .unwritable, .exhausted: .wait
        case .obstructed, .unreadable: .retry
        case .badLocation: .fail
        }
    }

    package static let catalogue = [
        CodeEntry("store.full", "No space is left in the store.", .wait),
        CodeEntry("store.unwritable", "The store's directory cannot be written.", .wait),
        CodeEntry("store.exhausted", "The worker has no open files or memory left for the store.", .wait),
        CodeEntry("store.obstructed", "One place in the store cannot be written, though the store can.", .retry),
        CodeEntry("store.unreadable", "A stored blob cannot be read.", .retry),
        CodeEntry("store.bad-location", "A row names a place outside the store.", .fail),
    ]
}
