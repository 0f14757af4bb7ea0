internal import CPosix
internal import Glibc

/// Directories.
package enum Folder {
    /// Creates a directory and its parents, only for this user unless `mode` allows more; an existing one is no error.
    package static func make(_ path: String, mode: UInt32 = FileMode.own.folders) throws(SystemFailure) {
        do {
            _ = try FileSystem.makeDirectory(path, mode: mode)
        } catch {
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw error
            }
            try make(String(path[..<slash]), mode: mode)
            _ = try FileSystem.makeDirectory(path, mode: mode)
        }
    }

    /// Creates a directory likewise, and makes an existing one private if others may enter it, or its group may write:
    /// an earlier version or a person made it so. Read and enter rights of its group stay, because a person chose them.
    package static func makePrivate(_ path: String) throws(SystemFailure) {
        try make(path)
        var facts = stat()
        // Other bits stay, such as the parent's group.
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_mode & 0o027 != 0 else { return }
        chmod(path, facts.st_mode & 0o7700)
    }
}
