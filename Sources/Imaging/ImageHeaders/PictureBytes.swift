internal import Glibc
internal import Images
internal import Posix
internal import VariantSpec

/// The bytes of a picture's file, read at any position in windows: a header costs one read, and a hostile offset
/// returns nil.
///
/// Every position beyond the end is nil, never a trap. The cost of reading is counted, and limited above the needs of
/// any picture: the worker itself reads headers, where nothing else stops a file that costs too much.
struct PictureBytes {
    /// The file; nil: the window holds all bytes.
    private let file: OpenFile?
    /// Start of the picture in the file.
    private let base: Int
    let length: Int
    /// Format to name in failures, once it is known.
    var format: ImageFormat?
    /// Bytes read from the file so far.
    private(set) var bytesRead = 0
    /// Steps so far: reading a number or a name counts four, a byte of a search one.
    private(set) var steps = 0
    private var window: [UInt8] = []
    private var start = 0

    private static let windowBytes = 64 << 10
    /// Read size after a skip: a page, so that a walk over large chunks reads next to nothing.
    private static let skippedBytes = 4 << 10
    private static let lookSteps = 4

    /// - Parameter part: range of the picture in the file; nil: the whole file.
    init(_ file: OpenFile, part: Range<Int>? = nil) {
        let part = (part ?? 0..<file.length).clamped(to: 0..<file.length)
        (self.file, base, length) = (file, part.lowerBound, part.count)
    }

    /// A block that was read, such as a decompressed one.
    init(_ block: [UInt8]) { (file, base, length, window) = (nil, 0, block.count, block) }

    /// Limit of bytes read: the file once, and a few positions a second time.
    var byteLimit: Int { length + 1 << 20 }
    /// Limit of steps: about 10 ms for 32 MiB. A PNG of 65,536 chunks takes 0.8 million, a GIF of 32 MiB 0.5 million. A
    /// JPEG of that size has at most one marker or stuffed byte in 62 bytes.
    var stepLimit: Int { 1 << 20 + length / 16 }

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

    /// Reads a big-endian number of 1 to 4 bytes.
    mutating func big(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
        try bytes(offset, count)?.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a little-endian number of 1 to 4 bytes.
    mutating func little(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
        try bytes(offset, count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func has(_ text: StaticString, at offset: Int) throws(RenderFailure) -> Bool {
        try bytes(offset, text.utf8CodeUnitCount)?
            .elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)) ?? false
    }

    mutating func has(_ expected: [UInt8], at offset: Int) throws(RenderFailure) -> Bool {
        try bytes(offset, expected.count)?.elementsEqual(expected) ?? false
    }

    /// Finds the first 0xff at or after `offset` that a wanted byte follows; returns its position and that byte.
    mutating func firstMarker(
        from offset: Int, where isWanted: (UInt8) -> Bool
    ) throws(RenderFailure) -> (place: Int, code: UInt8)? {
        var offset = offset
        while try holds(offset, 2) {
            var seen = 0
            let found = window.withUnsafeBytes { buffer -> Int? in
                var at = offset - start
                while let hit = memchr(buffer.baseAddress! + at, 0xff, buffer.count - at) {
                    seen += 1
                    at = UnsafeRawPointer(hit) - buffer.baseAddress!
                    // Skips runs of 0xff, which fill erased memory.
                    while at + 9 <= buffer.count, buffer.loadUnaligned(fromByteOffset: at + 1, as: UInt64.self) == .max
                    {
                        at += 8
                    }
                    while at + 1 < buffer.count, buffer[at + 1] == 0xff { at += 1 }
                    guard at + 1 < buffer.count else { return nil }
                    if isWanted(buffer[at + 1]) { return at }
                    at += 2
                }
                return nil
            }
            try spend(seen)
            if let found { return (start + found, window[found + 1]) }
            // The last byte may be the first of a pair.
            offset = start + window.count - 1
        }
        return nil
    }

    /// Loads the window so that it holds the range; callers never ask for a range larger than a window.
    private mutating func holds(_ offset: Int, _ count: Int) throws(RenderFailure) -> Bool {
        try spend(Self.lookSteps)
        guard offset >= 0, count >= 0, count <= Self.windowBytes, offset <= length - count else { return false }
        let end = start + window.count
        if offset >= start && offset + count <= end { return true }
        let isNext = offset >= start && offset <= end
        do throws(SystemFailure) {
            window =
                try file?.bytes(
                    at: base + offset,
                    count: min(isNext ? Self.windowBytes : max(Self.skippedBytes, count), length - offset)) ?? []
        } catch {
            throw .unreadable(reason: error.description)
        }
        start = offset
        bytesRead += window.count
        guard bytesRead <= byteLimit else { throw exhausted("more than \(byteLimit) bytes read, of \(length)") }
        return count <= window.count
    }

    private mutating func spend(_ steps: Int) throws(RenderFailure) {
        self.steps += steps
        guard self.steps <= stepLimit else { throw exhausted("more than \(stepLimit) steps") }
    }

    private func exhausted(_ cost: String) -> RenderFailure {
        let reason = "reading its header takes \(cost)"
        return format.map { .unsupportedFeature($0, reason: reason) } ?? .unrecognised(reason: reason)
    }
}
