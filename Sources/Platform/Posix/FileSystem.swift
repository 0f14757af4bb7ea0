internal import CPosix
internal import Glibc
internal import Synchronization

/// The calls on names and directories that a store is made of.
package enum FileSystem {
    /// Makes one directory, of these rights whatever the umask; false if it was there already.
    package static func makeDirectory(_ path: String, mode: UInt32 = FileMode.own.folders) throws(SystemFailure) -> Bool
    {
        guard mkdir(path, mode) == 0 else {
            guard errno == EEXIST else { throw SystemFailure("mkdir", on: path, code: errno) }
            return false
        }
        // What it has beside that, such as the group of the one above, stays.
        if let made = self.mode(of: path), made & 0o777 != mode { chmod(path, made & ~0o777 | mode) }
        return true
    }

    /// The rights of a file or directory; nil if that is not there.
    package static func mode(of path: String) -> UInt32? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o7777 : nil
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

    /// Opens a regular file of this user's, and nothing else that may have got its name: a link would lead to another file,
    /// and a pipe would keep the thread until somebody opens its other end.
    static func openRegular(_ path: String, _ flags: Int32) throws(SystemFailure) -> (descriptor: Int32, length: Int) {
        let fd = mz_open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard fd >= 0 else {
            // A pipe without a reader, and a folder, that were to be written.
            throw SystemFailure("open", on: path, code: [ENXIO, EISDIR].contains(errno) ? ELOOP : errno)
        }
        var facts = stat()
        let isKnown = fstat(fd, &facts) == 0
        guard isKnown, facts.st_mode & S_IFMT == S_IFREG else {
            let code = isKnown ? ELOOP : errno
            close(fd)
            throw SystemFailure("open", on: path, code: code)
        }
        return (fd, Int(facts.st_size))
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

    /// Makes a file of so many bytes of nothing, which the disk keeps for it; 0 lets them go. Where it does not grow it keeps
    /// what it has.
    package static func reserve(_ bytes: Int, at path: String) throws(SystemFailure) {
        let (fd, _) = try openRegular(path, O_WRONLY | O_CREAT)
        defer { close(fd) }
        let before = max(0, lseek(fd, 0, SEEK_END))
        guard ftruncate(fd, off_t(bytes)) == 0 else { throw SystemFailure("truncate", on: path, code: errno) }
        guard bytes == 0 || mz_allocate(fd, Int64(bytes)) == 0 else {
            let code = errno
            ftruncate(fd, min(before, off_t(bytes)))
            throw SystemFailure("allocate", on: path, code: code)
        }
    }

    /// What a file takes of its disk: less than its length where it has holes.
    package static func heldBytes(of path: String) throws(SystemFailure) -> Int {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw SystemFailure("stat", on: path, code: errno) }
        return Int(facts.st_blocks) * 512
    }

    /// How long a file is; nil if it is not there.
    package static func length(of path: String) -> Int? { try? file(at: path)?.length }

    /// The file that has a name; nil if nothing has. One system call.
    package static func file(at path: String) throws(SystemFailure) -> (length: Int, isRegular: Bool)? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw SystemFailure("stat", on: path, code: errno)
        }
        return (Int(facts.st_size), facts.st_mode & S_IFMT == S_IFREG)
    }

    /// What everyone may still write to the disk of a path, or of the folder that it would be in; nil if that is not known.
    package static func freeBytes(of path: String) -> Int? { disk(of: path)?.free }

    /// Whether the disk of a path, or of the folder that it would be in, has no block or no name left for a new file.
    package static func isFull(at path: String) -> Bool {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
            return isFull(at: String(path[..<slash]))
        }
        if facts.f_files > 0, facts.f_favail == 0 { return true }
        return facts.f_blocks > 0 && UInt64(facts.f_bavail) * UInt64(facts.f_frsize) < 64 << 10
    }

    /// How large the disk of a path is, or of the folder that it would be in, and what everyone may still write to it; nil
    /// where that is not known, as of a file system that takes the machine's memory.
    package static func disk(of path: String) -> (size: Int, free: Int)? {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
            return disk(of: String(path[..<slash]))
        }
        guard facts.f_blocks > 0 else { return nil }
        func bytes(_ blocks: some BinaryInteger) -> Int {
            let (bytes, isOver) = Int(clamping: blocks).multipliedReportingOverflow(by: Int(clamping: facts.f_frsize))
            return isOver ? .max : bytes
        }
        return (bytes(facts.f_blocks), bytes(facts.f_bavail))
    }

    /// Whether two places are on one disk.
    package static func isOneDisk(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
    }

    /// Tells the file at a path from another one that has taken its name.
    package struct Identity: Sendable, Hashable {
        let device, inode: UInt
    }

    /// The same, and how long it is; nil where no file is.
    package static func sight(of path: String) throws(SystemFailure) -> (identity: Identity, length: Int)? {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw SystemFailure("stat", on: path, code: errno)
        }
        return (Identity(device: facts.st_dev, inode: facts.st_ino), Int(facts.st_size))
    }

    /// nil where no file is.
    package static func identity(of path: String) -> Identity? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Identity(device: facts.st_dev, inode: facts.st_ino) : nil
    }

    /// Whether a folder is another one, or lies in it, whatever their names.
    package static func isFolder(_ path: String, in other: String) -> Bool {
        guard let sought = identity(of: other) else { return false }
        var (path, last) = (path, nil as Identity?)
        while let here = identity(of: path), here != last {
            if here == sought { return true }
            (path, last) = (path + "/..", here)
        }
        return false
    }

    /// A file name that no other process of this machine uses, and no other call of this one.
    package static func uniqueName() -> String {
        "\(getpid())-\(mz_monotonic_ns())-\(serial.add(1, ordering: .relaxed).newValue)"
    }

    private static let serial = Atomic<UInt64>(0)

    /// Whether names may be made and taken away in a directory.
    package static func isWritableDirectory(_ path: String) -> Bool { access(path + "/.", W_OK | X_OK) == 0 }

    /// All that a directory holds, itself and the one above it too.
    package static func names(in path: String) throws(SystemFailure) -> [String] {
        guard let directory = opendir(path) else { throw SystemFailure("opendir", on: path, code: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// The regular files of a directory with the time each was last written, in seconds since 1970.
    package static func files(in path: String) throws(SystemFailure) -> [(name: String, written: Int)] {
        var found: [(name: String, written: Int)] = []
        for name in try names(in: path) {
            var facts = stat()
            guard lstat("\(path)/\(name)", &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { continue }
            found.append((name, facts.st_mtim.tv_sec))
        }
        return found
    }
}
