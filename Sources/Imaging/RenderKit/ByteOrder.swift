/// The last `count` bytes of a number in big-endian order, as in PNG, JPEG, ICC and ISO base media files.
package func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
}

/// The last `count` bytes of a number in little-endian order, as in RIFF.
package func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }
