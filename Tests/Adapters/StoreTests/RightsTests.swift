import Foundation
import Glibc
import Ports
import Posix
import Store
import TestSupport
import Testing

@Suite("Who may read what a store holds", .timeLimit(.minutes(1)))
struct RightsTests {
    let folder: TemporaryFolder
    private var root: String { folder.file("store") }
    private var originals: String { folder.file("private/originals") }
    private var location: String { Blob.original().location }

    init() throws { folder = try TemporaryFolder() }

    private func mode(_ path: String) -> String { FileSystem.mode(of: path).map { String($0, radix: 8) } ?? "nothing" }

    private func store(_ mode: FileMode = .readable) throws -> FileStore {
        try FileStore(root: root, originals: originals, mode: mode)
    }

    /// Every folder above a blob, the deepest first, and the blob's own rights before them.
    private func modes(of location: String, below root: String) -> [String] {
        var (path, modes) = ("\(root)/\(location)", [String]())
        while path.utf8.count >= root.utf8.count {
            modes.append(mode(path))
            path = String(path[..<path.lastIndex(of: "/")!])
        }
        return modes
    }

    @Test(
        "Variants have the rights that are set, whatever the umask; originals and unfinished blobs are the worker's own",
        arguments: [("0644", "755"), ("0640", "750"), ("0664", "775"), ("0600", "700")])
    func rights(files: String, folders: String) async throws {
        let before = umask(0o077)
        defer { umask(before) }
        let store = try store(#require(FileMode(files)))
        _ = try await store.adopt()
        let stored = try await store.put([
            NewBlob(Blob.slice([1]), as: Blob.name()), NewBlob(Blob.slice([2]), as: Blob.original()),
        ])
        let variant = modes(of: stored[0].location, below: root)
        #expect(variant == [String(files.dropFirst())] + Array(repeating: folders, count: 5))
        #expect(modes(of: location, below: originals) == ["600"] + Array(repeating: "700", count: 5))
        #expect([mode(root + "/.tmp"), mode(originals + "/.tmp"), mode(root + "/.identity")] == ["700", "700", "600"])
        #expect(!FileManager.default.fileExists(atPath: "\(root)/\(location)"))
        #expect(try await store.open(location)?.allBytes() == [2])
    }

    @Test("A folder for originals that holds the store is refused, and stays open", arguments: ["store", ".", "link"])
    func around(name: String) throws {
        #expect(symlink(root, folder.file("link")) == 0 && chmod(folder.file("."), 0o755) == 0)
        let shared = folder.file(name)
        #expect(throws: StoreFailure.self) { try FileStore(root: root, originals: shared) }
        #expect(mode(root) == "755" && mode(folder.file(".")) == "755")
        _ = try FileStore(root: root, originals: shared, mode: .own)
    }

    @Test("Without a place of their own originals lie in a hidden folder of the store")
    func hidden() async throws {
        let store = try FileStore(root: root)
        _ = try await store.put(Blob.slice([2]), as: Blob.original())
        #expect(modes(of: location, below: root + "/.originals").first == "600")
        #expect(try await store.sight().isEmpty)
    }

    @Test("An original that an older version put among the variants stays there and is found, looked at and removed")
    func older() async throws {
        let store = try store()
        let old = URL(filePath: "\(root)/\(location)")
        try FileManager.default.createDirectory(at: old.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data([1, 2]).write(to: old)
        #expect(try await store.open(location)?.allBytes() == [1, 2])
        #expect(store.isGone(location, bytes: 2) == false)
        #expect(try await store.put(Blob.slice([1, 2]), as: Blob.original()).bytes == 2)
        #expect(!FileManager.default.fileExists(atPath: "\(originals)/\(location)"))
        try await store.remove(location)
        #expect(store.isGone(location, bytes: 2) == true && !FileManager.default.fileExists(atPath: old.path))
    }

    @Test(
        "One of them that is damaged makes way, and what is put then is private",
        arguments: [[1, 3], [1]] as [[UInt8]])
    func damaged(bytes: [UInt8]) async throws {
        let store = try store()
        let old = URL(filePath: "\(root)/\(location)")
        try FileManager.default.createDirectory(at: old.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: old)
        #expect(store.isGone(location, bytes: 2) == (bytes.count == 1))
        #expect(try await !store.put(Blob.slice([1, 2]), as: Blob.original()).isAnothers)
        #expect(!FileManager.default.fileExists(atPath: old.path) && mode("\(originals)/\(location)") == "600")
        #expect(try await store.open(location)?.allBytes() == [1, 2])
    }

    @Test(
        "Only rights that let the owner work and nobody run are file modes",
        arguments: [
            ("0644", "0644"), ("640", "0640"), ("0666", "0666"), ("0600", "0600"), ("0755", nil), ("0444", nil),
            ("4644", nil),
            ("64", nil), ("00644", nil), ("rw-r--r--", nil), ("+644", nil), ("", nil),
        ] as [(String, String?)])
    func modes(text: String, said: String?) { #expect(FileMode(text)?.description == said) }
}
