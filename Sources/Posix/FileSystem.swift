internal import CPosix
internal import Glibc
internal import Synchronization

/// The calls on names and directories that a store is made of.
package enum FileSystem {
    /// Makes one directory; false if it was there already.
    package static func makeDirectory(_ path: String) throws(SystemFailure) -> Bool {
        if mkdir(path, 0o755) == 0 { return true }
        guard errno == EEXIST else { throw SystemFailure("mkdir", on: path, code: errno) }
        return false
    }

    /// Returns when the names in a directory are on the disk.
    package static func syncDirectory(_ path: String) throws(SystemFailure) {
        let fd = mz_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard fd >= 0 else { throw SystemFailure("open", on: path, code: errno) }
        defer { close(fd) }
        guard fsync(fd) == 0 else { throw SystemFailure("fsync", on: path, code: errno) }
    }

    /// Everything written to the file system of `path` so far is on the disk.
    package static func syncAll(of path: String) throws(SystemFailure) {
        let fd = mz_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard fd >= 0 else { throw SystemFailure("open", on: path, code: errno) }
        defer { close(fd) }
        guard mz_syncfs(fd) == 0 else { throw SystemFailure("syncfs", on: path, code: errno) }
    }

    /// Gives a file a second name; false, and nothing changed, if that name is taken.
    package static func link(_ path: String, as name: String) throws(SystemFailure) -> Bool {
        if Glibc.link(path, name) == 0 { return true }
        guard errno == EEXIST else { throw SystemFailure("link", on: name, code: errno) }
        return false
    }

    /// Takes a name away; false if it was not there.
    package static func remove(_ path: String) throws(SystemFailure) -> Bool {
        if unlink(path) == 0 { return true }
        guard errno == ENOENT else { throw SystemFailure("unlink", on: path, code: errno) }
        return false
    }

    /// A file name that no other process of this machine uses, and no other call of this one.
    package static func uniqueName() -> String {
        "\(getpid())-\(mz_monotonic_ns())-\(serial.add(1, ordering: .relaxed).newValue)"
    }

    private static let serial = Atomic<UInt64>(0)

    /// Whether nothing has this name; one system call.
    package static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// Whether names may be made and taken away in a directory.
    package static func isWritableDirectory(_ path: String) -> Bool { access(path + "/.", W_OK | X_OK) == 0 }

    /// The regular files of a directory with the time each was last written, in seconds since 1970.
    package static func files(in path: String) throws(SystemFailure) -> [(name: String, written: Int)] {
        guard let directory = opendir(path) else { throw SystemFailure("opendir", on: path, code: errno) }
        defer { closedir(directory) }
        var found: [(name: String, written: Int)] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var facts = stat()
            guard lstat("\(path)/\(name)", &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { continue }
            found.append((name, facts.st_mtim.tv_sec))
        }
        return found
    }
}
