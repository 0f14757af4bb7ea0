internal import Posix

/// Folder of one worker's index files, reserved as long as the worker runs.
struct IndexFolder {
    let path: String
    private let lock: FileLock?
    /// Names the member of the group that uses or last used this folder; nil if there is no group.
    let member: FileLock?

    init(_ path: String) { (self.path, lock, member) = (path, nil, nil) }

    /// Takes the first of the numbered folders below `root` that no other process uses. Any folder will do, since an
    /// index continues where it stopped.
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
