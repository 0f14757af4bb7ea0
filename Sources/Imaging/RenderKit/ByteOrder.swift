/// The last `count` bytes of a number, its highest first, as PNG, JPEG, ICC and ISO base media files have it.
package func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
}

/// The last `count` bytes of a number, its lowest first, as RIFF has it.
package func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }
