import Canonical
import Failures
import Foundation
import Ports
import Posix
import TestSupport
import Testing

@testable import Store

@Suite("Blobs as files", .timeLimit(.minutes(1)))
struct FileStoreTests {
    let folder: TemporaryFolder
    var root: String { folder.file("deep/store") }

    init() throws { folder = try TemporaryFolder() }

    @Test("A blob stands under its source's key, fanned out by the first digits")
    func location() async throws {
        let stored = try await FileStore(root: root).put(Blob.slice([1]), as: Blob.name())
        let key = Blob.key().hex
        #expect(stored.location == "ca/97/\(key)/0000000000000001/640x480-q80.webp")
        #expect(key.hasPrefix("ca97"))
        #expect(FileManager.default.contents(atPath: "\(root)/\(stored.location)") == Data([1]))
    }

    @Test("Only locations that puts make are valid", arguments: [
        (location: "ca/97/KEY/0000000000000001/640x480-q80.webp", valid: true),
        (location: "ca/97/KEY/0000000000000001/original.jpg", valid: true),
        (location: "ca/97/KEY/0000000000000001/160y160-q80-axis2_5-enlarge.jpg", valid: true),
        (location: "cb/97/KEY/0000000000000001/a.jpg", valid: false), (location: "ca/98/KEY/0000000000000001/a.jpg", valid: false),
        (location: "ca/97/KEY/1/a.jpg", valid: false), (location: "ca/97/KEY/0000000000000001/..", valid: false),
        (location: "ca/97/KEY/0000000000000001/.hidden", valid: false), (location: "ca/97/KEY/0000000000000001/", valid: false),
        (location: "ca/97/KEY/0000000000000001/a/b", valid: false), (location: "/ca/97/KEY/0000000000000001/a", valid: false),
        (location: "ca/97/KEY/000000000000000G/a", valid: false), (location: "ca/97/KEY/0000000000000001/a\u{0}b", valid: false),
        (location: "", valid: false), (location: ".tmp/1-2-3", valid: false), (location: "ca/97/KEY/0000000000000001", valid: false),
    ])
    func locations(location: String, valid: Bool) {
        #expect(FileStore.isValid(location.replacing("KEY", with: Blob.key().hex)) == valid)
    }

    @Test("What an unfinished put left is removed at the start, once it is old")
    func leftovers() async throws {
        _ = try FileStore(root: root)
        let leftover = "\(root)/.tmp/1-2-3"
        try Data([1]).write(to: URL(filePath: leftover))
        _ = try FileStore(root: root)
        #expect(FileManager.default.fileExists(atPath: leftover))
        _ = try FileStore(root: root, leftoverAge: .zero)
        #expect(!FileManager.default.fileExists(atPath: leftover))
    }

    @Test("A put leaves nothing beside its blob")
    func tidy() async throws {
        let store = try FileStore(root: root)
        _ = try await store.put(Blob.slice([1]), as: Blob.name())
        _ = try await store.put(Blob.slice([2]), as: Blob.name())
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/.tmp").isEmpty)
    }

    @Test("A link where a blob should be is not followed")
    func links() async throws {
        let store = try FileStore(root: root)
        let location = try await store.put(Blob.slice([1]), as: Blob.name()).location
        try FileManager.default.removeItem(atPath: "\(root)/\(location)")
        try FileManager.default.createSymbolicLink(atPath: "\(root)/\(location)", withDestinationPath: "/etc/passwd")
        await #expect(throws: StoreFailure.self) { try await store.open(location) }
    }

    enum Thing: CaseIterable { case link, danglingLink, pipe, folder }

    private func put(_ thing: Thing, at path: String) throws {
        switch thing {
        case .link:
            try Data([7]).write(to: URL(filePath: folder.file("other")))
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("other"))
        case .danglingLink:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere/at/all")
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
    }

    @Test(
        "What has a blob's name and is no regular file is no blob: it makes way for one, but for a folder",
        arguments: Thing.allCases)
    func irregular(thing: Thing) async throws {
        let store = try FileStore(root: root)
        let location = try await store.put(Blob.slice([1]), as: Blob.name()).location
        // Known to be gone when it is looked at, or not until it is put.
        for isLookedAt in [true, false] {
            try FileManager.default.removeItem(atPath: "\(root)/\(location)")
            try put(thing, at: "\(root)/\(location)")
            if isLookedAt {
                #expect(store.isGone(location, bytes: FileSystem.length(of: "\(root)/\(location)") ?? 1) == true)
            }
            #expect(try await store.open(location, if: { _ in true }) == nil)
            guard thing != .folder else {
                let failure = await #expect(throws: StoreFailure.self) {
                    try await store.put(Blob.slice([1]), as: Blob.name())
                }
                #expect(failure?.code == "store.obstructed")
                continue
            }
            #expect(try await !store.put(Blob.slice([1]), as: Blob.name()).isAnothers)
            #expect(try await store.open(location)?.allBytes() == [1] && store.isGone(location, bytes: 1) == false)
        }
        #expect(thing != .link || FileManager.default.contents(atPath: folder.file("other")) == Data([7]))
    }

    @Test("A root that cannot be made says so")
    func unwritable() throws {
        try Data().write(to: URL(filePath: folder.file("plain")))
        let failure = #expect(throws: StoreFailure.self) { try FileStore(root: folder.file("plain/store")) }
        #expect(failure?.code == "store.unwritable")
    }

    @Test("A store whose tree was taken away says so, and works again when it is back")
    func lostTree() async throws {
        let store = try FileStore(root: root)
        try FileManager.default.removeItem(atPath: root)
        let failure = await #expect(throws: StoreFailure.self) { try await store.put(Blob.slice([1]), as: Blob.name()) }
        #expect(failure?.code == "store.unwritable")
        try FileManager.default.createDirectory(atPath: "\(root)/.tmp", withIntermediateDirectories: true)
        _ = try await store.put(Blob.slice([1]), as: Blob.name())
    }

    @Test("What is in disorder at one place costs the job there; a store that is gone as a whole lets all wait")
    func verdicts() async throws {
        let store = try FileStore(root: root)
        let location = Blob.name().location
        try FileManager.default.createDirectory(
            atPath: "\(root)/\(location)", withIntermediateDirectories: true)
        let folder = await #expect(throws: StoreFailure.self) { try await store.put(Blob.slice([1]), as: Blob.name()) }
        #expect(folder?.code == "store.obstructed" && folder?.verdict == .retry)
        #expect(try await store.open(location, if: { _ in true }) == nil)

        let other = Blob.name(source: "b").location
        try Data().write(to: URL(filePath: "\(root)/\(other.prefix(2))"))
        let obstructed = await #expect(throws: StoreFailure.self) {
            try await store.put(Blob.slice([1]), as: Blob.name(source: "b"))
        }
        #expect(obstructed?.code == "store.obstructed" && obstructed?.verdict == .retry)

        try FileManager.default.removeItem(atPath: root)
        let gone = await #expect(throws: StoreFailure.self) { try await store.put(Blob.slice([1]), as: Blob.name()) }
        #expect(gone?.code == "store.unwritable" && gone?.verdict == .wait)
    }

    @Test("A file that cannot grow is a full store; nothing torn is seen, and what fits goes on")
    func full() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let store = try FileStore(root: folder.file("store"))
            let (large, small) = (try Blob.slice(Blob.bytes(200_000)), try Blob.slice(Blob.bytes(50_000)))
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            // Plain exits: under the limit the testing library cannot report an expectation.
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }
            do throws(StoreFailure) {
                _ = try await store.put(large, as: Blob.name())
                exit(3)
            } catch {
                guard error.code == "store.full", error.verdict == .wait else { exit(4) }
            }
            guard store.isGone(Blob.name().location, bytes: 200_000) == true,
                try FileManager.default.contentsOfDirectory(atPath: folder.file("store/.tmp")).isEmpty
            else { exit(5) }
            guard try await store.put(small, as: Blob.name()).bytes == 50_000 else { exit(6) }
        }
    }

    @Test("Two hundred puts of one source at once, then every blob is there")
    func many() async throws {
        let store = try FileStore(root: root)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for i in 1...200 {
                group.addTask { _ = try await store.put(Blob.slice([UInt8(i)]), as: Blob.name(width: i)) }
            }
            try await group.waitForAll()
        }
        for i in 1...200 {
            #expect(try await store.open(Blob.name(width: i).location)?.allBytes() == [UInt8(i)])
        }
    }
}
