internal import CPosix
internal import Glibc

/// A failed system call: the call, its subject, and the kernel's error.
package struct SystemFailure: Error, Sendable, CustomStringConvertible {
    package let call: String
    package let subject: String
    package let code: Int32

    package init(_ call: String, on subject: String, code: Int32) {
        (self.call, self.subject, self.code) = (call, subject, code)
    }

    /// Failure for a file that is shorter than its known length.
    package static func shortRead(of subject: String) -> SystemFailure { SystemFailure("read", on: subject, code: EIO) }

    /// Whether the disk, the quota or the file limit is used up: a later retry may help.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
    /// Whether the process or the system lacks files or memory for the call: this does not concern the subject.
    package var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }
    /// Whether the other end did not accept it within the time limit.
    package var isTimeout: Bool { code == ETIMEDOUT }
    /// Whether the file system lacks the call.
    package var isUnsupported: Bool { code == EOPNOTSUPP || code == ENOSYS }
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    package var description: String {
        // The kernel reports a link that is not followed so, and `FileSystem.openRegular` any other irregular file.
        let reason =
            code == ELOOP
            ? "it is not a regular file, but a link, a pipe or a folder; remove it"
            : String(cString: strerror(code))
        return "\(call) \(subject): \(reason)"
    }
}

/// An open file that can be read at any offset and passed to a child: an anonymous memory file, or a stored one.
///
/// - Ownership: one descriptor, closed by `deinit`.
/// - Concurrency: one owner appends, before the file is shared; reads are positional.
package final class OpenFile: @unchecked Sendable {
    package let descriptor: Int32
    package private(set) var length: Int
    /// Reservation for the file's bytes, released with it.
    private let lease: (any AnyObject & Sendable)?

    /// Creates an anonymous file in memory; `name` shows only in /proc. `lease` lives as long as the file.
    package init(anonymous name: String, lease: (any AnyObject & Sendable)? = nil) throws(SystemFailure) {
        let fd = mz_memfd(name)
        guard fd >= 0 else { throw SystemFailure("memfd_create", on: name, code: errno) }
        (descriptor, length, self.lease) = (fd, 0, lease)
    }

    /// Creates a file at `path` for writing, which must not exist; only this user may read it until `allow`.
    package init(creating path: String) throws(SystemFailure) {
        let fd = mz_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else { throw SystemFailure("create", on: path, code: errno) }
        (descriptor, length, lease) = (fd, 0, nil)
    }

    /// Opens the regular file at `path` for reading; links are not followed.
    package init(reading path: String) throws(SystemFailure) {
        let (fd, length) = try FileSystem.openRegular(path, O_RDONLY)
        (descriptor, self.length, lease) = (fd, length, nil)
    }

    /// Takes over a descriptor from elsewhere.
    package init(taking descriptor: Int32, length: Int) {
        (self.descriptor, self.length, lease) = (descriptor, length, nil)
    }

    deinit { Glibc.close(descriptor) }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(SystemFailure) {
        var done = 0
        while done < bytes.count {
            let n = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(length))
            if n < 0 && errno == EINTR { continue }
            guard n > 0 else { throw SystemFailure("write", on: "anonymous file", code: errno) }
            done += n
            length += n
        }
    }

    /// Whether this many bytes more would fit. It allocates them, so ask it of a file that is discarded afterwards.
    package func hasRoom(for bytes: Int) -> Bool {
        (try? remeasure()) != nil && mz_allocate(descriptor, Int64(length + bytes)) == 0
    }

    /// Reads the length that another process gave the file.
    package func remeasure() throws(SystemFailure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw SystemFailure("fstat", on: "file", code: errno) }
        length = Int(facts.st_size)
    }

    package func append(_ bytes: [UInt8]) throws(SystemFailure) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(SystemFailure) in try append(UnsafeRawBufferPointer(bytes)) }
    }

    /// Lets other users read the file by `mode`, independent of the umask.
    package func allow(_ mode: FileMode) throws(SystemFailure) {
        guard fchmod(descriptor, mode.files) == 0 else { throw SystemFailure("chmod", on: "file", code: errno) }
    }

    /// Starts writing the bytes to the disk, so that a later `sync` is shorter.
    package func startWriting() { _ = mz_start_writing(descriptor) }

    /// Returns when the bytes are on the disk.
    package func sync() throws(SystemFailure) {
        guard fsync(descriptor) == 0 else { throw SystemFailure("fsync", on: "file", code: errno) }
    }

    /// Makes an anonymous file unchangeable; false if that is impossible because a process has mapped it for writing.
    @discardableResult
    package func seal() -> Bool { mz_seal(descriptor) == 0 }

    /// Empties it and seals it empty; false if it cannot be sealed.
    package func discard() -> Bool { ftruncate(descriptor, 0) == 0 && seal() }

    /// The bytes of a range, clipped to the file.
    package func bytes(at offset: Int, count: Int) throws(SystemFailure) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            filled = 0
            while filled < count {
                let n = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if n < 0 && errno == EINTR { continue }
                if n < 0 { failure = errno }
                guard n > 0 else { break }
                filled += n
            }
        }
        guard failure == 0 else { throw SystemFailure("read", on: "file", code: failure) }
        return bytes
    }

    package func allBytes() throws(SystemFailure) -> [UInt8] { try bytes(at: 0, count: length) }
}

/// A part of an open file.
package struct FileSlice: Sendable {
    package let file: OpenFile
    package let offset: Int
    package let length: Int

    package init(_ file: OpenFile, offset: Int, length: Int) {
        (self.file, self.offset, self.length) = (file, offset, length)
    }

    package init(whole file: OpenFile) { self.init(file, offset: 0, length: file.length) }

    package func bytes() throws(SystemFailure) -> [UInt8] { try file.bytes(at: offset, count: length) }
}
