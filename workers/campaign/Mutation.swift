internal import TestSupport

/// Damages bytes; its random source alone determines how.
enum Mutation {
    private static let extremes: [[UInt8]] = [
        [0], [0xFF], [0x7F], [0x80], [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0],
        [0xFF, 0xFF], [0xFF, 0xD9], [0xFF, 0xDA], Array("0".utf8), Array("-1".utf8), Array("18446744073709551616".utf8),
        Array("\u{0}\r\n".utf8), Array("1e999".utf8), Array("\\u0000".utf8), Array("{[\"".utf8), [0xC0, 0x80],
        [0xED, 0xA0, 0x80],
    ]

    /// Applies one to eight damages; `others` are bytes to splice in.
    static func of(_ bytes: [UInt8], with others: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(8) { damage(&bytes, others, &random) }
        return bytes
    }

    /// Changes one bit, one byte, or a number in the first bytes, or removes a few bytes at the end: so little that
    /// readers accept the rest, and continue.
    static func light(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var bytes = bytes
        let place = random.below(bytes.count)
        switch random.below(6) {
        case 0, 1: bytes[place] ^= 1 << UInt8(random.below(8))
        case 2, 3: bytes[place] = UInt8(random.below(256))
        case 4: bytes[random.below(min(bytes.count, 64))] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
        default: bytes.removeLast(random.below(1 + bytes.count / 32))
        }
        return bytes
    }

    private static func damage(_ bytes: inout [UInt8], _ others: [[UInt8]], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else {
            bytes = random.pick(extremes)
            return
        }
        // The decisive bytes are mostly at the beginning.
        let place = random.below(random.below(2) == 0 ? min(bytes.count, 64) : bytes.count)
        let end = min(bytes.count, place + 1 + random.below(1 << random.below(10)))
        switch random.below(9) {
        case 0: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1: bytes[place] = UInt8(random.below(256))
        case 2, 3:
            let extreme = random.pick(extremes)
            bytes.replaceSubrange(place..<min(bytes.count, place + extreme.count), with: extreme)
        case 4: bytes.insert(contentsOf: random.pick(extremes), at: place)
        case 5: bytes.removeSubrange(place..<end)
        case 6: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 7: bytes.removeLast(random.below(4) == 0 ? bytes.count - place : min(bytes.count, random.below(16)))
        default:
            guard !others.isEmpty, case let other = random.pick(others), !other.isEmpty else { return }
            let start = random.below(other.count)
            let part = other[start..<min(other.count, start + 1 + random.below(512))]
            bytes.replaceSubrange(place..<min(bytes.count, place + part.count), with: part)
        }
    }
}

extension SeededRandom {
    /// A number from 0 to below `bound`.
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
