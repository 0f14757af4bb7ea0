internal import CPosix
internal import Glibc

/// Locks on single bytes of one file, between processes and inside one; a holder's death releases them.
///
/// - Ownership: one descriptor; `deinit` releases every lock taken through it.
/// - Concurrency: each byte is locked and released by one thread at a time.
package final class FileLock: @unchecked Sendable {
    private let descriptor: Int32
    private let path: String

    package enum Use: Sendable {
        /// Creates the file if it is missing.
        case taking
        /// Only asks which bytes are locked.
        case asking
    }

    package init(_ path: String, _ use: Use = .taking) throws(SystemFailure) {
        (descriptor, _) = try FileSystem.openRegular(path, use == .asking ? O_RDONLY : O_RDWR | O_CREAT)
        self.path = path
    }

    deinit { Glibc.close(descriptor) }

    /// Blocks the thread until the byte is locked.
    package func lock(_ byte: Int) throws(SystemFailure) {
        guard mz_lock_wait(descriptor, byte) >= 0 else { throw SystemFailure("lock", on: path, code: errno) }
    }

    /// Tries to lock the byte; false if another holds it.
    package func tryLock(_ byte: Int) throws(SystemFailure) -> Bool {
        if mz_lock_try(descriptor, byte) >= 0 { return true }
        guard errno == EAGAIN || errno == EACCES else { throw SystemFailure("lock", on: path, code: errno) }
        return false
    }

    package func unlock(_ byte: Int) { _ = mz_unlock(descriptor, byte) }

    /// Whether another holder has locked the byte; it takes no lock, so it disturbs no holder.
    package func isHeldElsewhere(_ byte: Int) -> Bool { mz_is_locked(descriptor, byte) != 0 }

    /// Text of the file, by convention about the holder of a lock in it.
    package var note: String {
        let text = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
            String(decoding: buffer[0..<max(0, pread(descriptor, buffer.baseAddress, 256, 0))], as: UTF8.self)
        }
        return text.isEmpty ? "unknown" : text
    }

    package func setNote(_ text: String) throws(SystemFailure) {
        let bytes = Array(text.utf8)
        // Overwrites the file in place: a file truncated first may not get its block back from a full disk.
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
        else {
            throw SystemFailure("write", on: path, code: errno)
        }
    }
}
