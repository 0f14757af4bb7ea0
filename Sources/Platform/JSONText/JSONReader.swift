/// A strict pull parser of JSON over bytes, without a tree: the caller asks for the values that it expects.
///
/// Strict: RFC 8259 and UTF-8 to the letter, no member twice in an object (JSON's own rule is silence, which lets two
/// readers of one record differ), at most `depthLimit` levels, nothing after the value. Records on the hot path are
/// read at over a million a second; Foundation's decoder does two hundred thousand.
///
/// - Ownership: borrows the bytes for the length of `read`.
package struct JSONReader: ~Copyable {
    /// Deeper text is refused, so that no text can exhaust the stack.
    package static let depthLimit = 16
    /// Members of all objects that are open at one time.
    package static let memberLimit = 64

    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    var field: Range<Int>?
    private var depth = 0
    /// Just after `{` or `[`: no comma is due.
    private var isFresh = false
    /// The members read so far of every open object, outermost first: where their names are.
    private var members = [64 of MemberName](repeating: MemberName(start: 0, length: 0))
    private var memberCount = 0
    /// For each depth, how many members were read outside of it.
    private var outerMembers = [17 of Int](repeating: 0)

    private struct MemberName: BitwiseCopyable {
        let start: Int32
        let length: Int32
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads one value, the whole text, by `body`.
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

    /// Opens an object; `nextKey` then gives each member's name, whose value must be read or skipped.
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

    /// - Parameter expected: what the array means, for the message about another value.
    package mutating func openArray(_ expected: String = "an array") throws(JSONFailure) { try open(0x5B, expected) }

    /// Whether another element follows, to be read or skipped; false closes the array.
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

    /// Whether the value is `null`; if it is not, nothing was read.
    package mutating func null() -> Bool {
        skipSpace()
        return take("null")
    }

    /// Reads over one value of any kind, as strictly as the others.
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

    /// Where the next value begins.
    package mutating func beginning() -> Int {
        skipSpace()
        return position
    }

    /// What was read from there on; nil if that is longer.
    package func text(from start: Int, atMost limit: Int) -> [UInt8]? {
        position - start <= limit ? Array(slice(start, position)) : nil
    }

    /// Reads over an array or object that is written as one that was read before, at the same depth; false: another value
    /// stands here, and nothing was read. Both close themselves, so that what begins with the same bytes is the same value.
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

    /// The byte at the position; 0, which stands nowhere in JSON, past the end.
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

    /// Another kind of value than `expected` stands here, or none at all.
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

    /// How many bytes were read, for the offset of a failure of the caller's own.
    package var offset: Int { position }

    /// A value of the right kind with the wrong content: `found` is what was written.
    package func refuse(_ expected: String, _ found: String, at offset: Int) -> JSONFailure {
        .wrongType(field: fieldName, expected: expected, found: "\"\(found)\"", at: offset)
    }

    /// For the caller's `default:` over keys, where its schema is closed.
    package func unknown(_ key: JSONKey) -> JSONFailure { .unknownField(key.text, at: key.offset) }
}
