/// Writes compact JSON into its own memory, and inserts the commas.
///
/// Member names are our own literals, which need no escape. The caller must close objects and give members values: it
/// writes only texts of ours, and its tests read them back.
///
/// - Ownership: its memory, freed by `deinit`. It is plain memory rather than an array, because records are written by
///   the ten thousand a second, and an array checks at each append whether it is shared.
package struct JSONWriter: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Bytes written.
    package private(set) var count = 0
    /// Whether a value was just written, so that the next one in the same object or array needs a comma.
    private var needsComma = false

    package init(reserving capacity: Int = 512) {
        self.capacity = max(capacity, 64)
        memory = .allocate(capacity: self.capacity)
    }

    deinit { memory.deallocate() }

    /// A copy of the text so far.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Lends the text so far.
    package func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        body(UnsafeBufferPointer(start: memory, count: count))
    }

    /// Starts a new text in the same memory.
    package mutating func clear() {
        count = 0
        needsComma = false
    }

    /// Writes a line end, for JSON lines; a new text follows.
    package mutating func endLine() {
        reserve(1)
        put(0x0A)
        needsComma = false
    }

    // MARK: Structure

    package mutating func beginObject() { open(0x7B) }
    package mutating func endObject() { close(0x7D) }
    package mutating func beginArray() { open(0x5B) }
    package mutating func endArray() { close(0x5D) }

    package mutating func key(_ name: StaticString) {
        reserve(name.utf8CodeUnitCount + 4)
        separate()
        put(0x22)
        put(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        put(0x22)
        put(0x3A)
        needsComma = false
    }

    /// Writes an object; `write` writes its members.
    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a member with an object.
    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        key(name)
        object(write)
    }

    /// Writes a member with an array; `write` writes an element's value.
    package mutating func array<Element>(
        _ name: StaticString, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes a member with an array of objects; `write` writes the members of an element's object.
    package mutating func objects<Element>(
        _ name: StaticString, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        array(name, elements) { json, element in json.object { write(&$0, element) } }
    }

    /// Writes a member name that is not a literal, such as a log line's field.
    package mutating func key(named name: String) {
        string(name)
        reserve(1)
        put(0x3A)
        needsComma = false
    }

    private mutating func open(_ bracket: UInt8) {
        reserve(2)
        separate()
        put(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        reserve(1)
        put(bracket)
        needsComma = true
    }

    // MARK: Memory

    /// Reserves memory, which every following `put` relies on.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }

    @inline(__always)
    mutating func separate() {
        if needsComma { put(0x2C) }
        needsComma = true
    }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func put(_ part: UnsafeBufferPointer<UInt8>) {
        guard let start = part.baseAddress else { return }
        (memory + count).update(from: start, count: part.count)
        count += part.count
    }

    /// Lets `write` fill up to `limit` bytes and return their number.
    @inline(__always)
    mutating func put(upTo limit: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(limit)
        count += write(memory + count)
    }
}
