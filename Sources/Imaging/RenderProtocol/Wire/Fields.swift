/// Writes tagged fields with lengths, so that a newer side may add fields and an older one skips them.
///
/// A field is a tag of two bytes, a length of four and its bytes, all little-endian.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ tag: UInt16, _ value: [UInt8]) {
        append(UInt64(tag), count: 2)
        append(UInt64(value.count), count: 4)
        bytes += value
    }

    mutating func add(_ tag: UInt16, _ value: Int) {
        append(UInt64(tag), count: 2)
        append(8, count: 4)
        append(UInt64(bitPattern: Int64(value)), count: 8)
    }

    mutating func add(_ tag: UInt16, _ value: Double) { add(tag, Int(bitPattern: UInt(value.bitPattern))) }
    mutating func add(_ tag: UInt16, _ value: Bool) { add(tag, value ? 1 : 0) }
    mutating func add(_ tag: UInt16, _ text: String) { add(tag, Array(text.utf8)) }

    private mutating func append(_ value: UInt64, count: Int) {
        for i in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(i)))) }
    }
}

/// The fields of a message by tag, in order, with repetitions.
struct Fields {
    private let values: [UInt16: [ArraySlice<UInt8>]]

    /// Parses a message; nil if the lengths do not add up.
    init?(_ bytes: ArraySlice<UInt8>) {
        var values: [UInt16: [ArraySlice<UInt8>]] = [:]
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 6 else { return nil }
            let tag = UInt16(truncatingIfNeeded: Self.number(rest.prefix(2)))
            let length = Int(Self.number(rest.dropFirst(2).prefix(4)))
            rest = rest.dropFirst(6)
            guard rest.count >= length else { return nil }
            values[tag, default: []].append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        self.values = values
    }

    func all(_ tag: UInt16) -> [ArraySlice<UInt8>] { values[tag] ?? [] }

    func int(_ tag: UInt16) -> Int? { values[tag]?.last.flatMap(Self.int) }

    /// Numbers of all fields with the tag; other fields are skipped.
    func ints(_ tag: UInt16) -> [Int] { all(tag).compactMap(Self.int) }

    /// The number of a field; nil if it is out of range.
    func int(_ tag: UInt16, in range: ClosedRange<Int>) -> Int? { int(tag).flatMap { range.contains($0) ? $0 : nil } }

    func double(_ tag: UInt16) -> Double? { int(tag).map { Double(bitPattern: UInt64(UInt(bitPattern: $0))) } }
    func bool(_ tag: UInt16) -> Bool? { int(tag).map { $0 != 0 } }
    func text(_ tag: UInt16) -> String? { values[tag]?.last.map { String(decoding: $0, as: UTF8.self) } }

    /// Text of a child: one line of at most 300 characters, without control characters.
    func told(_ tag: UInt16) -> String {
        guard let bytes = values[tag]?.last else { return "" }
        return ChildText.line(bytes)
    }

    private static func int(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.count == 8 ? Int(Int64(bitPattern: number(bytes))) : nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
