internal import CPosix
internal import Glibc

/// Directories.
package enum Folder {
    /// Makes a directory and those above it; it is no error if it is there.
    package static func make(_ path: String) throws(SystemFailure) {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemFailure("mkdir", on: path, code: errno)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw SystemFailure("mkdir", on: path, code: errno) }
    }
}

/// Files open at one time.
package enum OpenFileLimit {
    /// As many as this process may have; shells and services begin with 1,024. Where it fails, the old limit stands.
    package static func raise() { _ = mz_raise_files() }
}
