package import Digest
package import Ports
package import Posix
package import Records
internal import Synchronization

/// A store that keeps its blobs in this process.
///
/// If `knowsWhatIsGone` is false, it is like a remote store: whether a blob is gone shows when it is opened.
package final class InMemoryStore: BlobStore {
    private let blobs = Mutex<[String: [UInt8]]>([:])
    private let knowsWhatIsGone: Bool

    package init(knowsWhatIsGone: Bool = true) { self.knowsWhatIsGone = knowsWhatIsGone }

    /// Locations of what is there.
    package var locations: Set<String> { blobs.withLock { Set($0.keys) } }

    package func sight() async throws(StoreFailure) -> StoreSight {
        StoreSight(place: StorePlace("memory"), identity: Self.identity, isEmpty: locations.isEmpty)
    }

    package func adopt() async throws(StoreFailure) -> StoreIdentity { Self.identity }

    package var absence: StoreFailure? { nil }

    private static let identity: StoreIdentity = {
        var random = SystemRandomNumberGenerator()
        return StoreIdentity(drawnFrom: &random)
    }()

    package func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob] {
        try blobs.map { (blob) throws(StoreFailure) in try put(blob.content, blob.name) }
    }

    private func put(_ content: FileSlice, _ name: BlobName) throws(StoreFailure) -> StoredBlob {
        let location = "\(name.source)/\(name.version)/\(name.leaf)"
        let bytes: [UInt8]
        do { bytes = try content.bytes() } catch { throw .unreadable(StorePlace(location), reason: error.description) }
        let kept = blobs.withLock { blobs in
            if blobs[location]?.isEmpty ?? true || (name.isOriginal && blobs[location] != bytes) {
                blobs[location] = bytes
            }
            return blobs[location] ?? bytes
        }
        return StoredBlob(
            location: location, bytes: kept.count, digest: SHA256.digest(of: kept), isAnothers: kept != bytes)
    }

    package func open(_ location: String) async throws(StoreFailure) -> OpenFile? {
        guard let bytes = blobs.withLock({ $0[location] }) else { return nil }
        do {
            let file = try OpenFile(anonymous: "blob")
            try file.append(bytes)
            return file
        } catch {
            throw .unreadable(StorePlace(location), reason: error.description)
        }
    }

    package func open(
        _ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool
    ) async throws(StoreFailure) -> OpenFile? {
        guard let bytes = blobs.withLock({ $0[location] }), isExpected(SHA256.digest(of: bytes)) else { return nil }
        return try await open(location)
    }

    package func isGone(_ location: String, bytes: Int) -> Bool? {
        guard knowsWhatIsGone else { return nil }
        return blobs.withLock { blobs in
            if let found = blobs[location], found.count != bytes { blobs[location] = nil }
            return blobs[location] == nil
        }
    }

    package func remove(_ location: String) async throws(StoreFailure) { blobs.withLock { $0[location] = nil } }
}
