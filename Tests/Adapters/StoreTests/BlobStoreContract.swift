import Canonical
import Digest
import Foundation
import ImageModel
import Ports
import Posix
import Store
import TestSupport
import Testing
import VariantSpec

/// Every store of the house; each keeps the same promises.
enum StoreKind: String, CaseIterable {
    case files, memory, remote

    /// Whether it can tell at once that a blob is gone.
    var knowsWhatIsGone: Bool { self != .remote }

    /// The folder lives as long as the store is used.
    func make() throws -> (store: any BlobStore, folder: TemporaryFolder) {
        let folder = try TemporaryFolder()
        return switch self {
        case .files: (try FileStore(root: folder.file("store")), folder)
        case .memory: (InMemoryStore(), folder)
        case .remote: (InMemoryStore(knowsWhatIsGone: false), folder)
        }
    }
}

@Suite("What every blob store promises", .timeLimit(.minutes(1)))
struct BlobStoreContract {
    @Test("What was put comes back, with its length and digest", arguments: StoreKind.allCases, [0, 1, 3_000_001])
    func roundTrip(kind: StoreKind, count: Int) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let bytes = Blob.bytes(count)
        let stored = try await store.put(Blob.slice(bytes), as: Blob.name())
        #expect(stored.bytes == count)
        #expect(stored.digest == SHA256.digest(of: bytes))
        #expect(try await store.open(stored.location)?.allBytes() == bytes)
    }

    @Test("Of a file only the slice is put", arguments: StoreKind.allCases)
    func slice(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let file = try Blob.slice(Blob.bytes(1000)).file
        let stored = try await store.put(FileSlice(file, offset: 100, length: 50), as: Blob.name())
        #expect(try await store.open(stored.location)?.allBytes() == Array(Blob.bytes(1000)[100..<150]))
    }

    @Test(
        "A second put under a name leaves the first, returns it, and says whether it is another",
        arguments: StoreKind.allCases)
    func secondPut(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let first = try await store.put(Blob.slice([1, 2, 3]), as: Blob.name())
        let second = try await store.put(Blob.slice([4, 5]), as: Blob.name())
        #expect(second.digest == first.digest && second.bytes == 3 && second.isAnothers)
        #expect(try await store.put(Blob.slice([1, 2, 3]), as: Blob.name()) == first && !first.isAnothers)
        #expect(try await store.open(first.location)?.allBytes() == [1, 2, 3])
    }

    @Test("Of many at once under one name one wins, and all hear the same", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let results = try await withThrowingTaskGroup(of: StoredBlob.self) { group in
            for i in 0..<32 {
                group.addTask {
                    try await store.put(Blob.slice([UInt8](repeating: UInt8(i), count: 1 + i)), as: Blob.name())
                }
            }
            return try await group.reduce(into: [StoredBlob]()) { $0.append($1) }
        }
        #expect(results.filter { !$0.isAnothers }.count == 1)
        let bytes = try await store.open(results[0].location)?.allBytes()
        #expect(results.allSatisfy { $0.digest == SHA256.digest(of: bytes ?? []) && $0.bytes == bytes?.count })
    }

    @Test("A blob is opened only if it is the one expected", arguments: StoreKind.allCases)
    func expected(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let stored = try await store.put(Blob.slice([1, 2]), as: Blob.name())
        #expect(try await store.open(stored.location, if: { $0 == stored.digest })?.allBytes() == [1, 2])
        #expect(try await store.open(stored.location, if: { $0 != stored.digest }) == nil)
        try await store.remove(stored.location)
        #expect(try await store.open(stored.location, if: { _ in true }) == nil)
    }

    @Test(
        "Several go in one put, in their order, new and known ones mixed, a name twice", arguments: StoreKind.allCases)
    func batch(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let known = try await store.put(Blob.slice([9, 9]), as: Blob.name(width: 2))
        let stored = try await store.put([
            NewBlob(Blob.slice([1]), as: Blob.name(width: 1)), NewBlob(Blob.slice([2]), as: Blob.name(width: 2)),
            NewBlob(Blob.slice([3, 3, 3]), as: Blob.original()), NewBlob(Blob.slice([4]), as: Blob.name(width: 1)),
        ])
        #expect(stored.map(\.bytes) == [1, 2, 3, 1])
        #expect(stored[1].digest == known.digest && stored[3].digest == stored[0].digest)
        #expect(stored.map(\.isAnothers) == [false, true, false, true])
        for (blob, bytes) in zip(stored, [[1], [9, 9], [3, 3, 3]] as [[UInt8]]) {
            #expect(try await store.open(blob.location)?.allBytes() == bytes)
        }
        #expect(try await store.put([]).isEmpty)
    }

    @Test("Names that differ in any part are different blobs", arguments: StoreKind.allCases)
    func names(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let names = [
            Blob.name(), Blob.name(source: "b"), Blob.name(version: 2), Blob.name(width: 320), Blob.original(),
        ]
        var locations: Set<String> = []
        for (i, name) in names.enumerated() {
            locations.insert(try await store.put(Blob.slice([UInt8(i)]), as: name).location)
        }
        #expect(locations.count == names.count)
    }

    @Test("A blob is gone after it was removed, and removing it again is no error", arguments: StoreKind.allCases)
    func remove(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let location = try await store.put(Blob.slice([1]), as: Blob.name()).location
        let open = try #require(try await store.open(location))
        #expect(store.isGone(location, bytes: 1) != true)
        try await store.remove(location)
        try await store.remove(location)
        #expect(store.isGone(location, bytes: 1) == (kind.knowsWhatIsGone ? true : nil))
        #expect(await store.gone(among: [(location, 1)]) == (kind.knowsWhatIsGone ? [0] : []))
        #expect(try await store.open(location) == nil)
        // Whoever reads it goes on.
        #expect(try open.allBytes() == [1])
    }

    @Test(
        "A blob of another length than was stored is gone, and leaves its place, if the store can know",
        arguments: StoreKind.allCases.filter(\.knowsWhatIsGone))
    func length(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        let location = try await store.put(Blob.slice([1, 2]), as: Blob.name()).location
        #expect([2, 3, 2].map { store.isGone(location, bytes: $0) } == [false, true, true])
        #expect(try await store.put(Blob.slice([3]), as: Blob.name()).bytes == 1)
    }

    @Test("What can only be damage gives way to what is put", arguments: StoreKind.allCases)
    func damage(kind: StoreKind) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        for (name, found) in [(Blob.name(), []), (Blob.original(), [9, 9])] as [(BlobName, [UInt8])] {
            _ = try await store.put(Blob.slice(found), as: name)
            let stored = try await store.put(Blob.slice([1, 2, 3]), as: name)
            #expect(!stored.isAnothers && stored.bytes == 3)
            #expect(try await store.open(stored.location)?.allBytes() == [1, 2, 3])
        }
    }

    @Test(
        "A location outside the store names nothing, which rows may all the same", arguments: StoreKind.allCases,
        ["../secret", "/etc/passwd", "a/../../b"])
    func outside(kind: StoreKind, location: String) async throws {
        let (store, folder) = try kind.make()
        defer { withExtendedLifetime(folder) {} }
        try Data([1]).write(to: folder.url.appending(path: "secret"))
        #expect(try await store.open(location) == nil)
        #expect(try await store.open(location, if: { _ in true }) == nil)
        #expect(store.isGone(location, bytes: 1) == (kind.knowsWhatIsGone ? true : nil))
        try await store.remove(location)
        #expect(FileManager.default.fileExists(atPath: folder.file("secret")))
    }
}

enum Blob {
    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) } }

    static func slice(_ bytes: [UInt8]) throws -> FileSlice {
        let file = try OpenFile(anonymous: "test")
        try file.append(bytes)
        return FileSlice(whole: file)
    }

    static func key(_ source: String = "a") -> SourceKey { SourceKey(SHA256.digest(of: Array(source.utf8))) }

    static func name(source: String = "a", version: UInt64 = 1, width: Int = 640) -> BlobName {
        BlobName(key(source), SourceVersion(word: version), VariantSpec(width: width, height: 480, format: .webp))
    }

    static func original() -> BlobName { BlobName(original: key(), SourceVersion(word: 1), .jpeg) }
}
