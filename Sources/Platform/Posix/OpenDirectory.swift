internal import CPosix
internal import Glibc

/// A directory that is open: names below it are found without the way to it.
///
/// - Ownership: one descriptor, closed by `deinit`.
package struct OpenDirectory: ~Copyable, Sendable {
    private let descriptor: Int32

    package init(_ path: String) throws(SystemFailure) {
        descriptor = mz_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemFailure("open", on: path, code: errno) }
    }

    deinit { close(descriptor) }

    /// The file that has a name below it; nil if nothing has, or that cannot be told. One system call.
    package func file(at name: String) -> (length: Int, isRegular: Bool)? {
        var facts = stat()
        guard fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return (Int(facts.st_size), facts.st_mode & S_IFMT == S_IFREG)
    }
}
