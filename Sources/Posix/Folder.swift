internal import Glibc

/// Directories.
package enum Folder {
    /// Makes a directory and those above it; it is no error if it is there.
    package static func make(_ path: String) throws(SystemFailure) {
        do {
            _ = try FileSystem.makeDirectory(path)
        } catch {
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw error }
            try make(String(path[..<slash]))
            _ = try FileSystem.makeDirectory(path)
        }
    }
}
