internal import CPosix
internal import Glibc

extension OpenFile {
    /// Calls `body` with the whole file as memory that writes of others can't change.
    ///
    /// Only for children: a file truncated meanwhile ends the process by SIGBUS.
    package func withMapping<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R? {
        guard length > 0, let base = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED else {
            return nil
        }
        defer { munmap(base, length) }
        return try body(UnsafeRawBufferPointer(start: base, count: length))
    }

    /// Appends a range of another file, up to that file's end.
    package func append(_ range: Range<Int>, of other: OpenFile) throws(SystemFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(256 << 10, range.count)), alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let n = pread(
                other.descriptor, buffer.baseAddress, min(buffer.count, range.upperBound - offset), off_t(offset))
            if n < 0 && errno == EINTR { continue }
            guard n >= 0 else { throw SystemFailure("read", on: "file", code: errno) }
            guard n > 0 else { return }
            try append(UnsafeRawBufferPointer(rebasing: buffer[..<n]))
            offset += n
        }
    }
}
