internal import CPosix
internal import Glibc
internal import Synchronization

/// System calls on names and directories, for a store.
package enum FileSystem {
    /// Creates one directory with this mode, independent of the umask; false if it existed.
    package static func makeDirectory(_ path: String, mode: UInt32 = FileMode.own.folders) throws(SystemFailure) -> Bool
    {
        guard mkdir(path, mode) == 0 else {
            guard errno == EEXIST else { throw SystemFailure("mkdir", on: path, code: errno) }
            return false
        }
        // Other bits stay, such as the parent's group.
        if let made = self.mode(of: path), made & 0o777 != mode { chmod(path, made & ~0o777 | mode) }
        return true
    }

    /// Mode of a file or directory; nil if it does not exist.
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

    /// Returns when everything written so far to the file system of `path` is on the disk.
    package static func syncAll(of path: String) throws(SystemFailure) {
        let fd = mz_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard fd >= 0 else { throw SystemFailure("open", on: path, code: errno) }
        defer { close(fd) }
        guard mz_syncfs(fd) == 0 else { throw SystemFailure("syncfs", on: path, code: errno) }
    }

    /// Opens a regular file of this user, and nothing else of that name: a link would lead to another file, and a pipe
    /// would block the thread until its other end is opened.
    static func openRegular(_ path: String, _ flags: Int32) throws(SystemFailure) -> (descriptor: Int32, length: Int) {
        let fd = mz_open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard fd >= 0 else {
            // Error codes of writing to a pipe without a reader, and to a folder.
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

    /// Gives a file a second name; false, and nothing changed, if that name exists.
    package static func link(_ path: String, as name: String) throws(SystemFailure) -> Bool {
        if Glibc.link(path, name) == 0 { return true }
        guard errno == EEXIST else { throw SystemFailure("link", on: name, code: errno) }
        return false
    }

    /// Removes a name; false if it did not exist.
    package static func remove(_ path: String) throws(SystemFailure) -> Bool {
        if unlink(path) == 0 { return true }
        guard errno == ENOENT else { throw SystemFailure("unlink", on: path, code: errno) }
        return false
    }

    /// Allocates a file of this many empty bytes on the disk; 0 frees them. If it cannot grow, it keeps its size.
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

    /// Allocated bytes of a file on its disk: less than its length if it has holes.
    package static func heldBytes(of path: String) throws(SystemFailure) -> Int {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw SystemFailure("stat", on: path, code: errno) }
        return Int(facts.st_blocks) * 512
    }

    /// Length of a file; nil if it does not exist.
    package static func length(of path: String) -> Int? { try? file(at: path)?.length }

    /// The file of a name; nil if there is none. One system call.
    package static func file(at path: String) throws(SystemFailure) -> (length: Int, isRegular: Bool)? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw SystemFailure("stat", on: path, code: errno)
        }
        return (Int(facts.st_size), facts.st_mode & S_IFMT == S_IFREG)
    }

    /// Free bytes on the disk of a path, or of its future folder; nil if not known.
    package static func freeBytes(of path: String) -> Int? { disk(of: path)?.free }

    /// Whether the disk of a path, or of its future folder, has no block or no inode left for a new file.
    package static func isFull(at path: String) -> Bool {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
            return isFull(at: String(path[..<slash]))
        }
        if facts.f_files > 0, facts.f_favail == 0 { return true }
        return facts.f_blocks > 0 && UInt64(facts.f_bavail) * UInt64(facts.f_frsize) < 64 << 10
    }

    /// Size and free bytes of the disk of a path, or of its future folder. nil if not known, as for a file system in
    /// the machine's memory.
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

    /// Whether two paths are on one disk.
    package static func isOneDisk(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
    }

    /// Distinguishes the file at a path from another one that has taken its name.
    package struct Identity: Sendable, Hashable {
        let device, inode: UInt
    }

    /// Identity and length of the file at a path; nil if there is none.
    package static func sight(of path: String) throws(SystemFailure) -> (identity: Identity, length: Int)? {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw SystemFailure("stat", on: path, code: errno)
        }
        return (Identity(device: facts.st_dev, inode: facts.st_ino), Int(facts.st_size))
    }

    /// Identity of the file at a path; nil if there is none.
    package static func identity(of path: String) -> Identity? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Identity(device: facts.st_dev, inode: facts.st_ino) : nil
    }

    /// Whether a folder is the other folder or lies inside it, under any names.
    package static func isFolder(_ path: String, in other: String) -> Bool {
        guard let sought = identity(of: other) else { return false }
        var (path, last) = (path, nil as Identity?)
        while let here = identity(of: path), here != last {
            if here == sought { return true }
            (path, last) = (path + "/..", here)
        }
        return false
    }

    /// A file name that no other process of this machine, and no other call in this one, uses.
    package static func uniqueName() -> String {
        "\(getpid())-\(mz_monotonic_ns())-\(serial.add(1, ordering: .relaxed).newValue)"
    }

    private static let serial = Atomic<UInt64>(0)

    /// Whether names can be created and removed in a directory.
    package static func isWritableDirectory(_ path: String) -> Bool { access(path + "/.", W_OK | X_OK) == 0 }

    /// All names in a directory, including itself and its parent.
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
