internal import CPosix
internal import Glibc

/// A failed system call: what was tried, on what, and the kernel's answer.
package struct SystemFailure: Error, Sendable, CustomStringConvertible {
    package let call: String
    package let subject: String
    package let code: Int32

    package init(_ call: String, on subject: String, code: Int32) {
        (self.call, self.subject, self.code) = (call, subject, code)
    }

    /// A file was shorter than it was known to be.
    package static func shortRead(of subject: String) -> SystemFailure { SystemFailure("read", on: subject, code: EIO) }

    /// The disk, the quota or the file limit is used up: trying again later may help.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
    /// The process or the system has no file or memory left to do it with: it says nothing of the subject.
    package var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }
    /// The other end did not take it within the time given.
    package var isTimeout: Bool { code == ETIMEDOUT }
    /// The file system has no such call.
    package var isUnsupported: Bool { code == EOPNOTSUPP || code == ENOSYS }
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    package var description: String {
        // The kernel's answer for a link that is not followed, and `FileSystem.openRegular`'s for all else that is no file.
        let reason =
            code == ELOOP
            ? "it is no regular file, but a link, a pipe, a folder or the like; remove it"
            : String(cString: strerror(code))
        return "\(call) \(subject): \(reason)"
    }
}

/// An open file that can be read at any place and handed to a child: an anonymous memory file, or a stored one.
///
/// - Ownership: one descriptor, closed by `deinit`.
/// - Concurrency: bytes are appended by one owner, before the file is shared; reads are positional.
package final class OpenFile: @unchecked Sendable {
    package let descriptor: Int32
    package private(set) var length: Int
    /// Let go when the file is: what was reserved for its bytes.
    private let lease: (any AnyObject & Sendable)?

    /// A new anonymous file in memory; `name` shows in /proc only. `lease` lives as long as the file.
    package init(anonymous name: String, lease: (any AnyObject & Sendable)? = nil) throws(SystemFailure) {
        let fd = mz_memfd(name)
        guard fd >= 0 else { throw SystemFailure("memfd_create", on: name, code: errno) }
        (descriptor, length, self.lease) = (fd, 0, lease)
    }

    /// A new file at `path` for writing, which must not be there yet; of this user alone until `allow`.
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

    /// Takes over a descriptor that came from elsewhere.
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

    /// Whether so many bytes more would fit; they are taken, too, so that it is asked of a file that is let go.
    package func hasRoom(for bytes: Int) -> Bool {
        (try? remeasure()) != nil && mz_allocate(descriptor, Int64(length + bytes)) == 0
    }

    /// Takes up the length that another process gave the file.
    package func remeasure() throws(SystemFailure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw SystemFailure("fstat", on: "file", code: errno) }
        length = Int(facts.st_size)
    }

    package func append(_ bytes: [UInt8]) throws(SystemFailure) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(SystemFailure) in try append(UnsafeRawBufferPointer(bytes)) }
    }

    /// Lets others have the file, too, whatever the umask.
    package func allow(_ mode: FileMode) throws(SystemFailure) {
        guard fchmod(descriptor, mode.files) == 0 else { throw SystemFailure("chmod", on: "file", code: errno) }
    }

    /// Begins to write the bytes to the disk, so that a `sync` later has less to wait for.
    package func startWriting() { _ = mz_start_writing(descriptor) }

    /// Returns when the bytes are on the disk.
    package func sync() throws(SystemFailure) {
        guard fsync(descriptor) == 0 else { throw SystemFailure("fsync", on: "file", code: errno) }
    }

    /// No one can change an anonymous file after this.
    /// False if it cannot be: somebody has it mapped to write.
    @discardableResult
    package func seal() -> Bool { mz_seal(descriptor) == 0 }

    /// Empties it and keeps it so; false if it cannot be kept so.
    package func discard() -> Bool { ftruncate(descriptor, 0) == 0 && seal() }

    /// The bytes of a range, clipped to what is there.
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
