package import Clocks
internal import JSONText

/// Header of a record, as in CloudEvents' binary mode (`ce_id`, `ce_type` …).
package struct RecordHeader: Sendable, Hashable {
    package let name: String
    package let value: [UInt8]
    package init(_ name: String, _ value: [UInt8]) { (self.name, self.value) = (name, value) }
    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, Array(value.utf8)) }
    package var text: String { String(decoding: value, as: UTF8.self) }
}

/// Headers of a record in their order, repeats included.
///
/// They are one block of memory, because records come by the ten thousand a second: for each header its name and its
/// value, each after its length in LEB128.
package struct RecordHeaders: Sendable, Hashable, Sequence, ExpressibleByArrayLiteral {
    package private(set) var packed: [UInt8] = []

    package init() {}
    package init(arrayLiteral headers: RecordHeader...) { self.init(headers) }
    package init(_ headers: some Sequence<RecordHeader>) { for header in headers { append(header) } }
    package init(reserving capacity: Int) { packed.reserveCapacity(capacity) }

    /// - Parameter first: headers that precede them.
    /// - Returns: nil if the bytes end inside a header.
    package init?(packed bytes: UnsafeRawBufferPointer, after first: RecordHeaders = []) {
        var rest = bytes
        while !rest.isEmpty {
            guard Self.takePart(&rest) != nil, Self.takePart(&rest) != nil else { return nil }
        }
        packed.reserveCapacity(first.packed.count + bytes.count)
        packed += first.packed
        packed += bytes
    }

    package var isEmpty: Bool { packed.isEmpty }
    /// Size slightly above `byteCount`, known without a count.
    package var packedBytes: Int { packed.count }
    /// Total size of all names and values.
    package var byteCount: Int {
        var count = 0
        lend { count += $0.count + $1.count }
        return count
    }

    package mutating func append(_ header: RecordHeader) {
        header.value.withUnsafeBytes { append(header.name, $0) }
    }
    package mutating func append(_ name: String, _ value: String) {
        var value = value
        value.withUTF8 { append(name, UnsafeRawBufferPointer($0)) }
    }
    /// Appends a header. `write` fills up to `limit` bytes of the value and returns their number.
    package mutating func append(_ name: String, upTo limit: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit) { value in
            guard let start = value.baseAddress else { return }
            append(name, UnsafeRawBufferPointer(start: start, count: write(start)))
        }
    }
    package mutating func append(_ name: String, _ number: Int64) {
        append(name, upTo: 20) { Decimal.write(number, to: $0) }
    }
    /// Appends a time as milliseconds since 1970.
    package mutating func append(_ name: String, _ time: WallTime) { append(name, time.milliseconds) }
    private mutating func append(_ name: String, _ value: UnsafeRawBufferPointer) {
        var name = name
        name.withUTF8 { append(UnsafeRawBufferPointer($0), value) }
    }
    package mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        appendPart(name)
        appendPart(value)
    }
    package mutating func append(_ others: RecordHeaders) { packed.append(contentsOf: others.packed) }

    /// Lends each header's name and value.
    package func lend(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        packed.withUnsafeBytes { bytes in
            var rest = bytes
            while let name = Self.takePart(&rest), let value = Self.takePart(&rest) { body(name, value) }
        }
    }

    /// Lends the first value of a name.
    package func withFirst<Result>(_ name: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        var name = name
        return name.withUTF8 { name in
            packed.withUnsafeBytes { bytes in
                var rest = bytes
                while let other = Self.takePart(&rest), let value = Self.takePart(&rest) {
                    if other.count == name.count, other.elementsEqual(name) { return body(value) }
                }
                return nil
            }
        }
    }

    /// First value of a name.
    package subscript(name: String) -> [UInt8]? { withFirst(name) { Array($0) } }

    package func makeIterator() -> some IteratorProtocol<RecordHeader> {
        var headers: [RecordHeader] = []
        lend { headers.append(RecordHeader(String(decoding: $0, as: UTF8.self), Array($1))) }
        return headers.makeIterator()
    }

    private mutating func appendPart(_ part: UnsafeRawBufferPointer) {
        var left = part.count
        while left >= 0x80 {
            packed.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        packed.append(UInt8(left))
        packed.append(contentsOf: part.bindMemory(to: UInt8.self))
    }

    private static func takePart(_ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var (length, shift, place) = (0, 0, 0)
        while true {
            guard shift < 35, place < rest.count else { return nil }
            let byte = rest[place]
            place += 1
            length |= Int(byte & 0x7f) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        guard length <= rest.count - place else { return nil }
        let end = place + length
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[end...]) }
        return UnsafeRawBufferPointer(rebasing: rest[place..<end])
    }
}
