import Foundation
import Glibc
import Ports
import Posix
import Store
import TestSupport
import Testing

@Suite("A file store that is not opened", .timeLimit(.minutes(1)))
struct FileStoreSiteTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private var root: String { folder.file("store") }
    private var originals: String { folder.file("originals") }
    private var site: FileStoreSite { site(root) }

    private func site(_ root: String) -> FileStoreSite {
        var settings = FileStoreSettings()
        (settings.directory, settings.originals) = (root, originals)
        return FileStoreSite(settings, in: folder.path)
    }

    @Test("Folders that no setting names are below the data directory; originals stay with a store that has one")
    func places() {
        var settings = FileStoreSettings()
        #expect(FileStoreSite(settings, in: "data").folders.map(\.path) == ["data/store", "data/originals"])
        settings.directory = "/s"
        #expect(FileStoreSite(settings, in: "data").folders.map(\.path) == ["/s", "/s/.originals"])
        settings.originals = "/o"
        #expect(FileStoreSite(settings, in: "data").folders.map(\.path) == ["/s", "/o"])
    }

    @Test("A trial of folders that are not there is well, and makes nothing")
    func fresh() async throws {
        let trial = await site.trial()
        #expect(trial.isOK && trial.subject == "store directory")
        #expect(trial.message.hasPrefix("\(root) will be made, "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("A trial of a store that is in use writes into both folders, and leaves nothing")
    func used() async throws {
        let store = try site.open { _ in true }
        _ = try await store.put(Blob.slice([1]), as: Blob.name())
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let trial = await site.trial()
        #expect(trial.isOK && trial.message.hasPrefix("\(root) is writable, "))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
    }

    /// Seen to fail: only folders of drafts were looked through.
    @Test("A trial that was killed in a store without a folder of drafts is cleaned up when the store is opened")
    func killed() throws {
        for folder in [root, originals] {
            try Folder.make(folder)
            for (name, age) in [(".trial-1-2-3", 7_200.0), (".trial-1-2-4", 0), ("other", 7_200)] {
                try Data([0]).write(to: URL(filePath: "\(folder)/\(name)"))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: "\(folder)/\(name)")
            }
        }
        _ = try site.open { _ in true }
        for folder in [root, originals] {
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != ".tmp" }
            #expect(Set(left).isSuperset(of: [".trial-1-2-4", "other"]) && !left.contains(".trial-1-2-3"), "\(left)")
        }
    }

    @Test("A trial of a store without a folder of drafts makes nothing there")
    func withoutDrafts() async throws {
        for folder in [root, originals] { try Folder.make(folder) }
        #expect(await site.trial().isOK)
        for folder in [root, originals] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("A trial names the folder that cannot be written, the originals' too", arguments: [true, false])
    func unwritable(isRoot: Bool) async throws {
        let path = isRoot ? root : originals
        try Data([1]).write(to: URL(filePath: path))
        let trial = await site.trial()
        #expect(!trial.isOK && trial.message == "\(path) is not a directory. Name another in the settings.")
    }

    @Test(
        "A folder that takes no files is found by the write, though rights allow it",
        .enabled(if: access("/proc", W_OK) == 0, "needs root, whom access refuses nothing"))
    func refused() async {
        let trial = await site("/proc").trial()
        #expect(!trial.isOK && trial.message.contains("Set store.directory"), "\(trial.message)")
    }

    @Test("It names its place, its folders and their room")
    func facts() async throws {
        #expect(site.place.description == root)
        #expect(site.folders.map(\.path) == [root, originals] && site.folders.map(\.isPublic) == [true, false])
        try Folder.make(root)
        let room = try #require(site.room())
        while room.bytes == nil { await Task.yield() }
    }

    @Test("Failures end with the words of the store that has them")
    func remedies() {
        let remote = StorePlace("s3://b/", StorePlace.Remedies(unwritable: "U.", unreadable: "R.", missing: "M."))
        #expect(StoreFailure.unwritable(remote, reason: "x").description == "s3://b/ cannot be written: x. U.")
        #expect(StoreFailure.unreadable(remote, reason: "x").description == "s3://b/ cannot be read: x. R.")
        #expect(
            StoreFailure.mismatched(remote, expected: nil, found: nil).description.contains(
                " found none. M. Jobs wait."))
        #expect(
            StoreFailure.unwritable(.folder("/a"), reason: "x").description
                == "/a cannot be written: x. Set store.directory and store.originals.directory to directories that this user can write."
        )
    }
}
