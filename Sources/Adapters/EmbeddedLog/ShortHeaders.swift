internal import Records

/// A record's headers as they are stored: what every record of its kind has in common, half of an outcome's bytes, is one
/// byte.
///
/// Those of a known kind begin with a nought, which headers begin with only where a name is empty, and with the kind's
/// code; the others are as they are.
enum ShortHeaders {
    private static let mark: UInt8 = 0
    /// Behind the mark: the headers are whole.
    private static let whole: UInt8 = 0
    /// By code less one.
    private static let kinds = EventHeader.kinds.map(\.packed)

    static func stored(_ headers: RecordHeaders) -> [UInt8] {
        let packed = headers.packed
        if let kind = kinds.firstIndex(where: packed.starts(with:)) {
            return [mark, UInt8(kind + 1)] + packed.dropFirst(kinds[kind].count)
        }
        return packed.first == mark ? [mark, whole] + packed : packed
    }

    /// nil if the bytes are damaged.
    static func headers(stored bytes: UnsafeRawBufferPointer) -> RecordHeaders? {
        guard bytes.first == mark else { return RecordHeaders(packed: bytes) }
        guard bytes.count > 1, Int(bytes[1]) <= kinds.count else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(2))
        guard bytes[1] != whole else { return RecordHeaders(packed: rest) }
        return RecordHeaders(packed: rest, after: EventHeader.kinds[Int(bytes[1]) - 1])
    }
}
