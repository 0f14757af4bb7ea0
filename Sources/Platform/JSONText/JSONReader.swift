/// A strict pull parser of JSON over bytes, without a tree: the caller reads the values that it expects.
///
/// Strict means RFC 8259 and UTF-8 to the letter, at most `depthLimit` levels, and nothing after the value. No object
/// may have a member twice: JSON leaves that open, so two readers of one record could differ. It reads over a million
/// records a second on the hot path; Foundation's decoder reads two hundred thousand.
///
/// - Ownership: borrows the bytes during `read`.
package struct JSONReader: ~Copyable {
    /// Maximum depth, so that no text can exhaust the stack.
    package static let depthLimit = 16
    /// Maximum members of all objects that are open at one time.
    package static let memberLimit = 64

    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    var field: Range<Int>?
    private var depth = 0
    /// Whether the position is just after `{` or `[`, so that no comma is due.
    private var isFresh = false
    /// Positions of the member names read so far of every open object, outermost first.
    private var members = [64 of MemberName](repeating: MemberName(start: 0, length: 0))
    private var memberCount = 0
    /// For each depth, the number of members read outside of it.
    private var outerMembers = [17 of Int](repeating: 0)

    private struct MemberName: BitwiseCopyable {
        let start: Int32
        let length: Int32
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads the whole text as one value, by `body`.
    package static func read<Value>(
        _ text: [UInt8], _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(JSONFailure) -> Value {
        try text.withUnsafeBufferPointer { (bytes) throws(JSONFailure) -> Value in
            guard bytes.count < Int32.max else { throw .syntax("the text is larger than 2 GiB", at: 0) }
            var reader = JSONReader(bytes)
            let value = try body(&reader)
            reader.skipSpace()
            guard reader.position == bytes.count else { throw reader.syntax("expected the end of the text") }
            return value
        }
    }

    // MARK: Objects and arrays

    /// Opens an object. `nextKey` then returns each member's name; the caller must read or skip its value.
    package mutating func openObject() throws(JSONFailure) {
        try open(0x7B, "an object")
        outerMembers[depth] = memberCount
    }

    /// The next member's name; nil closes the object.
    package mutating func nextKey() throws(JSONFailure) -> JSONKey? {
        guard try next(closing: 0x7D, "expected a comma or }") else {
            memberCount = outerMembers[depth]
            depth -= 1
            return nil
        }
        guard current == 0x22 else { throw syntax("expected a field's name in quotes") }
        let name = try scanString()
        guard !name.isEscaped else {
            throw .syntax("a field's name has an escape, which none of ours needs,", at: name.start)
        }
        skipSpace()
        guard current == 0x3A else { throw syntax("expected a colon") }
        position += 1
        let key = JSONKey(bytes: slice(name.start, name.end), offset: name.start)
        try remember(key)
        return key
    }

    /// - Parameter expected: meaning of the array, for the failure.
    package mutating func openArray(_ expected: String = "an array") throws(JSONFailure) { try open(0x5B, expected) }

    /// Whether another element follows, which the caller must read or skip; false closes the array.
    package mutating func nextElement() throws(JSONFailure) -> Bool {
        let more = try next(closing: 0x5D, "expected a comma or ]")
        if !more { depth -= 1 }
        return more
    }

    private mutating func open(_ bracket: UInt8, _ kind: String) throws(JSONFailure) {
        skipSpace()
        guard current == bracket else { throw wrongType(kind) }
        guard depth < Self.depthLimit else { throw syntax("values are nested more than \(Self.depthLimit) deep") }
        position += 1
        depth += 1
        isFresh = true
    }

    private mutating func next(closing bracket: UInt8, _ wanted: String) throws(JSONFailure) -> Bool {
        skipSpace()
        if current == bracket {
            position += 1
            isFresh = false
            return false
        }
        if isFresh {
            isFresh = false
        } else {
            guard current == 0x2C else { throw syntax(wanted) }
            position += 1
            skipSpace()
        }
        return true
    }

    private mutating func remember(_ key: JSONKey) throws(JSONFailure) {
        field = key.offset..<key.offset + key.bytes.count
        for i in outerMembers[depth]..<memberCount where Int(members[i].length) == key.bytes.count {
            guard !key.isSpelt(at: Int(members[i].start), in: bytes) else {
                throw .duplicateField(key.text, at: key.offset)
            }
        }
        guard memberCount < Self.memberLimit else { throw syntax("objects have more than \(Self.memberLimit) fields") }
        members[memberCount] = MemberName(start: Int32(key.offset), length: Int32(key.bytes.count))
        memberCount += 1
    }

    // MARK: Plain values

    package mutating func boolean() throws(JSONFailure) -> Bool {
        skipSpace()
        if take("true") { return true }
        if take("false") { return false }
        throw wrongType("true or false")
    }

    /// Reads `null` if it is the value; otherwise reads nothing and returns false.
    package mutating func null() -> Bool {
        skipSpace()
        return take("null")
    }

    /// Checks and skips one value of any type.
    package mutating func skip() throws(JSONFailure) {
        skipSpace()
        switch current {
        case 0x7B:
            try openObject()
            while try nextKey() != nil { try skip() }
        case 0x5B:
            try openArray()
            while try nextElement() { try skip() }
        case 0x22: try checkString()
        case 0x74, 0x66: _ = try boolean()
        case 0x6E where null(): break
        default: _ = try scanNumber("a value")
        }
    }

    /// Position where the next value begins.
    package mutating func beginning() -> Int {
        skipSpace()
        return position
    }

    /// The text read since `start`; nil if it is longer than `limit`.
    package func text(from start: Int, atMost limit: Int) -> [UInt8]? {
        position - start <= limit ? Array(slice(start, position)) : nil
    }

    /// Skips an array or object with the same bytes as an earlier one at the same depth; false: the value differs, and
    /// nothing was read. Arrays and objects have closing brackets, so that a value which begins with the same bytes is
    /// the same value.
    package mutating func take(again text: [UInt8]) -> Bool {
        skipSpace()
        guard !text.isEmpty, text.count <= bytes.count - position,
            slice(position, position + text.count).elementsEqual(text)
        else { return false }
        position += text.count
        isFresh = false
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard count <= bytes.count - position,
            UnsafeBufferPointer(start: word.utf8Start, count: count).elementsEqual(slice(position, position + count))
        else { return false }
        position += count
        return true
    }

    // MARK: Bytes and failures

    /// The byte at the position; past the end 0, which JSON never contains.
    @inline(__always)
    var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    @inline(__always)
    mutating func skipSpace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    @inline(__always)
    func slice(_ start: Int, _ end: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[start..<end])
    }

    func syntax(_ what: String) -> JSONFailure { .syntax(what, at: position) }

    /// Failure for a value of another type than `expected`, or for a missing value.
    func wrongType(_ expected: String) -> JSONFailure {
        let found: String
        switch current {
        case 0x7B: found = "an object"
        case 0x5B: found = "an array"
        case 0x22: found = "a string"
        case 0x2D, 0x30...0x39: found = "a number"
        case 0x74, 0x66: found = "true or false"
        case 0x6E: found = "null"
        default: return syntax("expected " + expected)
        }
        return .wrongType(field: fieldName, expected: expected, found: found, at: position)
    }

    var fieldName: String {
        field.map { String(decoding: slice($0.lowerBound, $0.upperBound), as: UTF8.self) } ?? ""
    }

    /// Number of bytes read, for the offset of the caller's own failures.
    package var offset: Int { position }

    /// Failure for a value of the right type with wrong content; `found` is that content.
    package func refuse(_ expected: String, _ found: String, at offset: Int) -> JSONFailure {
        .wrongType(field: fieldName, expected: expected, found: "\"\(found)\"", at: offset)
    }

    /// Failure for an unknown key, for the `default:` of a caller whose schema is closed.
    package func unknown(_ key: JSONKey) -> JSONFailure { .unknownField(key.text, at: key.offset) }
}
