internal import Records

/// Splits a stream of bytes into lines, and never holds more of a line than can be useful.
struct LineSplitter {
    enum Line: Equatable {
        /// A line without its end, and without surrounding spaces.
        case text([UInt8])
        case tooLong(bytes: Int)
    }

    private let limit: Int
    private var partial: [UInt8] = []
    private var length = 0

    init(limit: Int) { self.limit = limit }

    /// The lines that `bytes` complete.
    mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            keep(rest[..<end])
            lines.append(take())
            rest = rest[(end + 1)...]
        }
        keep(rest)
        return lines
    }

    /// The text after the last line end; nil if there is none.
    mutating func finish() -> Line? { length > 0 ? take() : nil }

    private mutating func keep(_ piece: ArraySlice<UInt8>) {
        length += piece.count
        if partial.count <= limit { partial += piece.prefix(limit + 1 - partial.count) }
    }

    private mutating func take() -> Line {
        defer { (partial, length) = ([], 0) }
        if length > limit { return .tooLong(bytes: length) }
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let first = partial.firstIndex(where: { !isSpace($0) }),
            let last = partial.lastIndex(where: { !isSpace($0) })
        else { return .text([]) }
        return .text(Array(partial[first...last]).withoutByteOrderMark)
    }
}
