internal import Clocks
internal import Posix

/// A folder below which blobs lie, all with the same rights.
struct BlobFolder: Sendable {
    let root: String
    let mode: FileMode
    let tree: DirectoryTree
    /// Blobs under way, of this user alone. On the same disk, so that they can be linked.
    var drafts: String { "\(root)/.tmp" }

    init(_ root: String, _ mode: FileMode) {
        (self.root, self.mode) = (root, mode)
        tree = DirectoryTree(root, mode: mode.folders)
    }

    func path(_ location: String) -> String { "\(root)/\(location)" }

    /// Makes what is missing, and removes what puts that were cut short left before a time.
    func open(leftoversUntil time: WallTime) throws(SystemFailure) {
        let second = Int(time.milliseconds / 1_000)
        try make()
        // A process that died may have left directories made, and not yet synced.
        try FileSystem.syncAll(of: root)
        for file in try FileSystem.files(in: drafts) where file.written <= second {
            _ = try FileSystem.remove("\(drafts)/\(file.name)")
        }
    }

    func make() throws(SystemFailure) {
        if mode == .own { try Folder.makePrivate(root) } else { try Folder.make(root, mode: mode.folders) }
        _ = try FileSystem.makeDirectory(drafts)
    }

    /// A file under a name that nobody else has, which a blob becomes by a link.
    func newDraft() throws(SystemFailure) -> (path: String, file: OpenFile) {
        let path = "\(drafts)/\(FileSystem.uniqueName())"
        do throws(SystemFailure) { return (path, try OpenFile(creating: path)) } catch  where error.isMissing {
            _ = try FileSystem.makeDirectory(drafts)
            return (path, try OpenFile(creating: path))
        }
    }

    /// Whether blobs can be put into it at all, whatever is wrong at one place.
    var isWritable: Bool { [root, drafts].allSatisfy(FileSystem.isWritableDirectory) }
}
