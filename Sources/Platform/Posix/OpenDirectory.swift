internal import CPosix
internal import Glibc

/// An open directory, which finds names inside it without its path.
///
/// - Ownership: one descriptor, closed by `deinit`.
package struct OpenDirectory: ~Copyable, Sendable {
    private let descriptor: Int32

    package init(_ path: String) throws(SystemFailure) {
        descriptor = mz_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemFailure("open", on: path, code: errno) }
    }

    deinit { close(descriptor) }

    /// The file of a name inside it; nil if there is none, or the lookup fails. One system call.
    package func file(at name: String) -> (length: Int, isRegular: Bool)? {
        var facts = stat()
        guard fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return (Int(facts.st_size), facts.st_mode & S_IFMT == S_IFREG)
    }
}
