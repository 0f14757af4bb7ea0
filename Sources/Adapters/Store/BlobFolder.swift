internal import Clocks
internal import Posix

/// A folder that contains blobs, all with the same mode.
struct BlobFolder: Sendable {
    let root: String
    let mode: FileMode
    let tree: DirectoryTree
    /// Folder of unfinished blobs, which only this user may read. It lies on the same disk, so that they can be linked.
    var drafts: String { "\(root)/.tmp" }
    private static let trial = ".trial-"

    init(_ root: String, _ mode: FileMode) {
        (self.root, self.mode) = (root, mode)
        tree = DirectoryTree(root, mode: mode.folders)
    }

    func path(_ location: String) -> String { "\(root)/\(location)" }

    /// Creates missing folders, and removes files of interrupted puts that are older than a time.
    func open(leftoversUntil time: WallTime) throws(SystemFailure) {
        let second = Int(time.milliseconds / 1_000)
        try make()
        // A process that died may have left new directories without a sync.
        try FileSystem.syncAll(of: root)
        // Without a folder of drafts, trials lie in the root.
        for (folder, prefix) in [(drafts, ""), (root, Self.trial)] {
            for file in try FileSystem.files(in: folder) where file.name.hasPrefix(prefix) && file.written <= second {
                _ = try FileSystem.remove("\(folder)/\(file.name)")
            }
        }
    }

    /// Writes and syncs a file that has no name by then, so that a process that is killed meanwhile leaves none.
    func tryWriting() throws(SystemFailure) {
        let path = "\(Folder.isFolder(drafts) ? drafts : root)/\(Self.trial)\(FileSystem.uniqueName())"
        let file = try OpenFile(creating: path)
        _ = try FileSystem.remove(path)
        try file.append([0])
        try file.sync()
    }

    func make() throws(SystemFailure) {
        if mode == .own { try Folder.makePrivate(root) } else { try Folder.make(root, mode: mode.folders) }
        _ = try FileSystem.makeDirectory(drafts)
    }

    /// Creates a file under a unique name; a link turns it into a blob.
    func newDraft() throws(SystemFailure) -> (path: String, file: OpenFile) {
        let path = "\(drafts)/\(FileSystem.uniqueName())"
        do throws(SystemFailure) { return (path, try OpenFile(creating: path)) } catch  where error.isMissing {
            _ = try FileSystem.makeDirectory(drafts)
            return (path, try OpenFile(creating: path))
        }
    }

    /// Whether blobs can be put into the folder at all, even if one path has a problem.
    var isWritable: Bool { [root, drafts].allSatisfy(FileSystem.isWritableDirectory) }
}
