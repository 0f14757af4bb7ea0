internal import Posix

/// The folder of one worker's index files, its own for as long as the worker runs.
struct IndexFolder {
    let path: String
    private let lock: FileLock?
    /// Names the member of the group whose folder this is or was last; nil where there is no group.
    let member: FileLock?

    init(_ path: String) { (self.path, lock, member) = (path, nil, nil) }

    /// Takes the first of the numbered folders below `root` that no other process has: which one does not matter, since
    /// an index takes up wherever it stopped.
    init(firstFreeIn root: String) throws(SystemFailure) {
        try Folder.makePrivate(root)
        let lock = try FileLock(root + "/lock")
        var number = 0
        while try !lock.tryLock(number) { number += 1 }
        (path, self.lock) = ("\(root)/\(number)", lock)
        // A full disk may have no room for it: then a successor joins at once.
        try? Folder.makePrivate(path)
        member = try? FileLock(path + "/member")
    }
}
