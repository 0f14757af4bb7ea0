/// Writes compact JSON to the end of an array of bytes; commas come by themselves.
///
/// Names of members are literals of ours, which need no escape. That objects close and members have values is the
/// caller's word: what is written here is always text of ours, and its tests read it back.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// A value stands just before: the next one in the same object or array needs a comma.
    private var needsComma = false

    package init(reserving capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    /// Starts anew in the same memory.
    package mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// A line's end, for JSON lines; what follows is a new text.
    package mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    // MARK: Structure

    package mutating func beginObject() { open(0x7B) }
    package mutating func endObject() { close(0x7D) }
    package mutating func beginArray() { open(0x5B) }
    package mutating func endArray() { close(0x5D) }

    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(0x22)
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(0x22)
        bytes.append(0x3A)
        needsComma = false
    }

    /// A member whose name is not known before, as a log line's fields are.
    package mutating func key(_ name: String) {
        string(name)
        bytes.append(0x3A)
        needsComma = false
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(0x2C) }
        needsComma = true
    }

    // MARK: Values

    package mutating func string(_ value: String) {
        separate()
        bytes.append(0x22)
        var value = value
        value.withUTF8 { escape($0) }
        bytes.append(0x22)
    }

    /// A string that needs no escape, appended by `write`: digits, hexadecimal, a spec.
    package mutating func plain(_ write: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(0x22)
        write(&bytes)
        bytes.append(0x22)
    }

    /// UTF-8 or what is left of it: bytes that are none become U+FFFD.
    package mutating func string(_ value: some Collection<UInt8>) { string(String(decoding: value, as: UTF8.self)) }

    package mutating func integer(_ value: some BinaryInteger) {
        separate()
        decimal(Int64(clamping: value))
    }

    /// The shortest text that reads back as the same double; whole numbers without a point. What JSON has no number
    /// for (infinities, NaN) is null.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        if abs(value) < 9e15, let whole = Int64(exactly: value), whole != 0 || value.sign == .plus { return decimal(whole) }
        var text = value.description
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    package mutating func boolean(_ value: Bool) { word(value ? "true" : "false") }
    package mutating func null() { word("null") }

    /// RFC 3339 in UTC, of milliseconds since 1970.
    package mutating func time(_ milliseconds: Int64) {
        separate()
        bytes.append(0x22)
        Timestamp.append(milliseconds, to: &bytes)
        bytes.append(0x22)
    }

    private mutating func word(_ word: StaticString) {
        separate()
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private mutating func decimal(_ value: Int64) {
        guard value < 0 || value > 9 else { return bytes.append(UInt8(0x30 + value)) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = value.magnitude
            var i = 20
            repeat {
                i -= 1
                digits[i] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                i -= 1
                digits[i] = 0x2D
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: UnsafeBufferPointer(digits)[i..<20]))
        }
    }

    // MARK: Escapes

    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for i in 0..<text.count where text[i] < 0x20 || text[i] == 0x22 || text[i] == 0x5C {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<i]))
            escape(text[i])
            start = i + 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(0x5C)
        switch byte {
        case 0x08: bytes.append(0x62)
        case 0x09: bytes.append(0x74)
        case 0x0A: bytes.append(0x6E)
        case 0x0C: bytes.append(0x66)
        case 0x0D: bytes.append(0x72)
        case 0x22, 0x5C: bytes.append(byte)
        default:
            bytes += [0x75, 0x30, 0x30, 0x30 + byte >> 4, hexDigit(byte & 15)]
        }
    }

    private func hexDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }
}

extension JSONWriter {
    package mutating func field(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    package mutating func field(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        integer(value)
    }

    package mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        boolean(value)
    }
}
