internal import CPosix
internal import Glibc

/// Directories.
package enum Folder {
    /// Makes a directory and those above it, for this user alone unless `mode` says more; it is no error if it is there.
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

    /// The same, and one that was there is closed where it is anybody's, or its group's to write: an older version or a
    /// person made it so. What a group may read and enter, somebody wished.
    package static func makePrivate(_ path: String) throws(SystemFailure) {
        try make(path)
        var facts = stat()
        // What it has beside that, such as the group of the one above, stays.
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_mode & 0o027 != 0 else { return }
        chmod(path, facts.st_mode & 0o7700)
    }
}
