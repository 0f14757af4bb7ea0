internal import Glibc

/// Directories.
package enum Folder {
    /// Makes a directory and those above it, for this user alone unless `mode` says more; it is no error if it is there.
    package static func make(_ path: String, mode: UInt32 = FileMode.own.folders) throws(SystemFailure) {
        do {
            _ = try FileSystem.makeDirectory(path, mode: mode)
        } catch {
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw error }
            try make(String(path[..<slash]), mode: mode)
            _ = try FileSystem.makeDirectory(path, mode: mode)
        }
    }

    /// The same for this user alone, also where an older version made it for all to read. Other rights are somebody's wish.
    package static func makePrivate(_ path: String) throws(SystemFailure) {
        try make(path)
        if FileSystem.mode(of: path) == 0o755 { chmod(path, FileMode.own.folders) }
    }
}
