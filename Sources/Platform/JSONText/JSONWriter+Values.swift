package import Clocks

extension JSONWriter {
    package mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { string($0) }
    }

    /// Writes bytes as UTF-8; invalid bytes become U+FFFD.
    package mutating func string(repairing bytes: some Collection<UInt8>) { string(String(decoding: bytes, as: UTF8.self)) }

    /// Writes valid UTF-8.
    private mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
        reserve(text.count + 3)
        separate()
        put(0x22)
        var start = 0
        while true {
            let end = start + ByteScan.plainPrefix(text, from: start)
            put(UnsafeBufferPointer(rebasing: text[start..<end]))
            guard end < text.count else { break }
            // Six for the escape, one for the closing quote.
            reserve(text.count - end + 7)
            escape(text[end])
            start = end + 1
        }
        reserve(1)
        put(0x22)
    }

    private mutating func escape(_ byte: UInt8) {
        put(0x5C)
        switch byte {
        case 0x08: put(0x62)
        case 0x09: put(0x74)
        case 0x0A: put(0x6E)
        case 0x0C: put(0x66)
        case 0x0D: put(0x72)
        case 0x22, 0x5C: put(byte)
        default:
            let low = byte & 15
            put(0x75)
            put(0x30)
            put(0x30)
            put(0x30 + byte >> 4)
            put(low < 10 ? 0x30 + low : 0x57 + low)
        }
    }

    /// Writes a string that needs no escape: `write` fills at most `limit` bytes and returns their number.
    package mutating func plain(upTo limit: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(limit + 3)
        separate()
        put(0x22)
        put(upTo: limit, write)
        put(0x22)
    }

    package mutating func integer(_ value: some BinaryInteger) { whole(Int64(clamping: value)) }

    private mutating func whole(_ value: Int64) {
        reserve(21)
        separate()
        put(upTo: 20) { Decimal.write(value, to: $0) }
    }

    /// Writes the shortest text that reads back as the same double, and whole numbers without a point. Numbers that
    /// JSON lacks (infinities, NaN) become null.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        if abs(value) < 9e15, let whole = Int64(exactly: value), whole != 0 || value.sign == .plus { return self.whole(whole) }
        var text = value.description
        reserve(text.utf8.count + 1)
        separate()
        text.withUTF8 { put($0) }
    }

    package mutating func boolean(_ value: Bool) { word(value ? "true" : "false") }
    package mutating func null() { word("null") }

    /// Writes a time as RFC 3339 in UTC.
    package mutating func time(_ time: WallTime) {
        plain(upTo: Timestamp.length) { Timestamp.write(time, to: $0) }
    }

    private mutating func word(_ word: StaticString) {
        reserve(word.utf8CodeUnitCount + 1)
        separate()
        put(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }
}

extension JSONWriter {
    package mutating func field(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    package mutating func field(_ name: StaticString, _ value: Int) {
        key(name)
        whole(Int64(value))
    }

    package mutating func field(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        integer(value)
    }

    /// Writes a time as milliseconds since 1970, as in records.
    package mutating func field(_ name: StaticString, _ time: WallTime) { field(name, time.milliseconds) }

    package mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        boolean(value)
    }
}
