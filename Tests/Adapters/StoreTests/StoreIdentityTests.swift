import Failures
import Foundation
import ImageModel
import Ports
import Posix
import Records
import TestSupport
import Testing

@testable import Store

@Suite("A store's identity", .timeLimit(.minutes(1)))
struct StoreIdentityTests {
    let folder: TemporaryFolder
    var root: String { folder.file("store") }

    init() throws { folder = try TemporaryFolder() }

    @Test("Of many that make one over a shared folder at once, all hear the same")
    func race() async throws {
        let identities = try await withThrowingTaskGroup(of: StoreIdentity.self) { group in
            for _ in 0..<16 { group.addTask { [root] in try await FileStore(root: root, threads: 1).adopt() } }
            return try await group.reduce(into: Set<StoreIdentity>()) { $0.insert($1) }
        }
        #expect(identities.count == 1)
        #expect(
            try await FileStore(root: root).sight()
                == StoreSight(place: .folder(root), identity: identities.first, isEmpty: true))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/.tmp").isEmpty)
    }

    @Test("A store that has its identity is adopted again without a write, as each of 256 partitions does")
    func again() async throws {
        let store = try FileStore(root: root)
        let own = try await store.adopt()
        // Where every file is written first.
        try FileManager.default.removeItem(atPath: "\(root)/.tmp")
        #expect(try await store.adopt() == own)
        #expect(!FileManager.default.fileExists(atPath: "\(root)/.tmp"))
        try FileManager.default.removeItem(atPath: "\(root)/.identity.originals")
        #expect(try await store.adopt() == own)
        #expect(FileManager.default.fileExists(atPath: "\(root)/.identity.originals"))
    }

    @Test("A folder that was removed, made anew or swapped is refused by every verb, until the store is back")
    func swapped() async throws {
        let store = try FileStore(root: root)
        let own = try await store.adopt()
        let location = try await store.put(Blob.slice([1]), as: Blob.name()).location
        #expect(store.absence == nil)
        try FileManager.default.moveItem(atPath: root, toPath: folder.file("away"))
        for other in [nil, "empty", "another"] {
            var found: StoreIdentity?
            if other == "empty" {
                try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
            }
            if other == "another" {
                found = try await FileStore(root: root).adopt()
                _ = try await FileStore(root: root).put(Blob.slice([2, 2]), as: Blob.name())
            }
            let foreign = StoreFailure.mismatched(.folder(root), expected: own, found: found)
            #expect(store.absence == foreign && foreign.verdict == .wait)
            await #expect(throws: foreign) { try await store.put(Blob.slice([1]), as: Blob.name()) }
            await #expect(throws: foreign) { try await store.open(location) }
            await #expect(throws: foreign) { try await store.open(location, if: { _ in true }) }
            await #expect(throws: foreign) { try await store.remove(location) }
            await #expect(throws: foreign) { try await store.adopt() }
            #expect(store.isGone(location, bytes: 1) == true)
        }
        // What is not ours was not touched.
        #expect(FileManager.default.contents(atPath: "\(root)/\(location)") == Data([2, 2]))
        try FileManager.default.removeItem(atPath: root)
        try FileManager.default.moveItem(atPath: folder.file("away"), toPath: root)
        #expect(store.absence == nil)
        #expect(try await store.open(location)?.allBytes() == [1])
    }

    @Test("The folder for unfinished blobs is made again where it alone was removed")
    func unfinished() async throws {
        let store = try FileStore(root: root)
        _ = try await store.adopt()
        try FileManager.default.removeItem(atPath: "\(root)/.tmp")
        #expect(try await store.put(Blob.slice([1]), as: Blob.name()).bytes == 1)
    }

    @Test("A disk's own folders do not count as blobs; damaged words are no identity")
    func empty() async throws {
        let store = try FileStore(root: root)
        try FileManager.default.createDirectory(atPath: "\(root)/lost+found", withIntermediateDirectories: true)
        try Data("what".utf8).write(to: URL(filePath: "\(root)/.identity"))
        #expect(try await store.sight() == StoreSight(place: .folder(root), identity: nil, isEmpty: true))
        _ = try await store.put(Blob.slice([1]), as: Blob.name())
        #expect(try await !store.sight().isEmpty)
    }

    @Test("An originals' folder that was removed, or is another's, is refused and named; variants go on")
    func originals() async throws {
        let (root, originals) = (root, folder.file("originals"))
        let store = try FileStore(root: root, originals: originals)
        let own = try await store.adopt()
        let (variant, original) = (
            try await store.put(Blob.slice([1]), as: Blob.name()).location,
            try await store.put(Blob.slice([2]), as: Blob.original()).location
        )
        try FileManager.default.moveItem(atPath: originals, toPath: folder.file("away"))
        for other in [nil, "another"] {
            var found: StoreIdentity?
            if other != nil { found = try await FileStore(root: folder.file("b"), originals: originals).adopt() }
            let foreign = StoreFailure.mismatched(.folder(originals), expected: own, found: found)
            #expect(store.absence == foreign)
            await #expect(throws: foreign) { try await store.open(original) }
            await #expect(throws: foreign) { try await store.put(Blob.slice([3]), as: Blob.original()) }
            #expect(try await store.open(variant)?.allBytes() == [1])
            // So does a start see it, which makes the folder where it is gone.
            let later = try FileStore(root: root, originals: originals)
            let part = StoreSight.Part(place: .folder(originals), identity: found)
            #expect(
                try await later.sight()
                    == StoreSight(place: .folder(root), identity: own, isEmpty: false, mismatchedPart: part))
        }
        try FileManager.default.removeItem(atPath: originals)
        try FileManager.default.moveItem(atPath: folder.file("away"), toPath: originals)
        #expect(store.absence == nil)
        #expect(try await store.open(original)?.allBytes() == [2])
    }

    @Test("One from before it had an identity is taken once; another's when a person says so")
    func originalsBefore() async throws {
        let (root, originals) = (root, folder.file("originals"))
        let own = try await FileStore(root: root, originals: originals).adopt()
        try FileManager.default.removeItem(atPath: "\(originals)/.identity")
        try FileManager.default.removeItem(atPath: "\(root)/.identity.originals")
        let store = try FileStore(root: root, originals: originals)
        #expect(try await store.sight().identity == own)
        #expect(try await store.adopt() == own)
        #expect(store.absence == nil)
        try FileManager.default.removeItem(atPath: originals)
        _ = try await FileStore(root: folder.file("b"), originals: originals).adopt()
        let again = try FileStore(root: root, originals: originals)
        #expect(try await again.sight().mismatchedPart?.place == .folder(originals))
        // As `store.adopt` has it.
        #expect(try await again.adopt() == own)
        #expect(try await again.sight().mismatchedPart == nil)
    }
}
