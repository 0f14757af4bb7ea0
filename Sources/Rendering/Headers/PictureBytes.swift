internal import Glibc
internal import Ports
internal import Posix

/// The bytes of a picture's file, read at any place in windows: a header costs one read, a hostile offset an answer.
///
/// Everything beyond the end is nil, never a trap.
struct PictureBytes {
    let file: OpenFile
    private var window: [UInt8] = []
    private var start = 0
    private static let windowBytes = 64 << 10

    init(_ file: OpenFile) { self.file = file }

    var length: Int { file.length }

    subscript(offset: Int) -> UInt8? {
        mutating get throws(RenderFailure) {
            guard try holds(offset, 1) else { return nil }
            return window[offset - start]
        }
    }

    mutating func bytes(_ offset: Int, _ count: Int) throws(RenderFailure) -> ArraySlice<UInt8>? {
        guard try holds(offset, count) else { return nil }
        return window[offset - start..<offset - start + count]
    }

    /// Big-endian, 1 to 4 bytes.
    mutating func big(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
        try bytes(offset, count)?.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Little-endian, 1 to 4 bytes.
    mutating func little(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
        try bytes(offset, count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func has(_ text: StaticString, at offset: Int) throws(RenderFailure) -> Bool {
        try has(Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)), at: offset)
    }

    mutating func has(_ expected: [UInt8], at offset: Int) throws(RenderFailure) -> Bool {
        try bytes(offset, expected.count)?.elementsEqual(expected) ?? false
    }

    /// The first place of `byte` at `offset` or after.
    mutating func first(_ byte: UInt8, from offset: Int) throws(RenderFailure) -> Int? {
        var offset = offset
        while try holds(offset, 1) {
            let from = offset - start
            let found = window.withUnsafeBytes { buffer -> Int? in
                guard let hit = memchr(buffer.baseAddress! + from, Int32(byte), buffer.count - from) else { return nil }
                return UnsafeRawPointer(hit) - buffer.baseAddress!
            }
            if let found { return start + found }
            offset = start + window.count
        }
        return nil
    }

    /// Whether the window now holds the range; what does not fit a window is never asked for.
    private mutating func holds(_ offset: Int, _ count: Int) throws(RenderFailure) -> Bool {
        guard offset >= 0, count >= 0, count <= Self.windowBytes, offset <= length - count else { return false }
        if offset >= start && offset + count <= start + window.count { return true }
        do throws(SystemFailure) {
            window = try file.bytes(at: offset, count: min(Self.windowBytes, length - offset))
        } catch {
            throw .unreadable(reason: error.description)
        }
        start = offset
        return count <= window.count
    }
}
