/// DEFLATE decoder (RFC 1951), slow and bounded. It reads a compressed header without a decoder that would inflate all
/// of it.
package struct Inflate {
    private let input: ArraySlice<UInt8>
    private var place: Int
    private var bits = 0
    private var held = 0
    private var output: [UInt8] = []
    private let limit: Int

    /// The first `count` bytes of a zlib stream (RFC 1950), or fewer if it is shorter; nil if it is damaged before.
    ///
    /// - Parameter blocks: most blocks to read. Empty blocks cost a table each, and encoders use a few blocks at most
    ///   for the bytes of a header.
    package static func prefix(_ count: Int, ofZlib stream: ArraySlice<UInt8>, blocks: Int = 16) -> [UInt8]? {
        guard stream.count > 2, stream[stream.startIndex] & 15 == 8, stream[stream.startIndex + 1] & 0x20 == 0 else {
            return nil
        }
        var inflate = Inflate(stream.dropFirst(2), limit: count)
        return inflate.run(blocks) ? inflate.output : nil
    }

    private init(_ input: ArraySlice<UInt8>, limit: Int) {
        (self.input, self.place, self.limit) = (input, input.startIndex, limit)
    }

    private mutating func run(_ blocks: Int) -> Bool {
        for _ in 0..<blocks {
            if output.count >= limit { break }
            guard let isLast = take(1), let kind = take(2) else { return false }
            let isWhole: Bool
            switch kind {
            case 0: isWhole = stored()
            case 1: isWhole = coded(Huffman.fixedLiterals, Huffman.fixedDistances)
            case 2: isWhole = dynamic()
            default: isWhole = false
            }
            guard isWhole else { return false }
            if isLast == 1 { break }
        }
        return true
    }

    private mutating func take(_ count: Int) -> Int? {
        while held < count {
            guard place < input.endIndex else { return nil }
            bits |= Int(input[place]) << held
            (place, held) = (place + 1, held + 8)
        }
        defer { (bits, held) = (bits >> count, held - count) }
        return bits & (1 << count - 1)
    }

    private mutating func stored() -> Bool {
        (bits, held) = (0, 0)
        guard let length = take(16), let inverse = take(16), length ^ inverse == 0xffff else { return false }
        let count = min(length, limit - output.count)
        guard input.endIndex - place >= count else { return false }
        output.append(contentsOf: input[place..<place + count])
        place += count
        return true
    }

    private mutating func dynamic() -> Bool {
        guard let literals = take(5), let distances = take(5), let codes = take(4) else { return false }
        var lengths = [Int](repeating: 0, count: 19)
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(codes + 4) {
            guard let length = take(3) else { return false }
            lengths[symbol] = length
        }
        let code = Huffman(lengths)
        let count = literals + distances + 258
        lengths.removeAll(keepingCapacity: true)
        while lengths.count < count {
            guard let symbol = symbol(code) else { return false }
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last, let more = take(2) else { return false }
                lengths.append(contentsOf: repeatElement(last, count: more + 3))
            default:
                guard let more = symbol == 17 ? take(3) : take(7) else { return false }
                lengths.append(contentsOf: repeatElement(0, count: more + (symbol == 17 ? 3 : 11)))
            }
        }
        guard lengths.count == count else { return false }
        return coded(Huffman(lengths[..<(literals + 257)]), Huffman(lengths[(literals + 257)...]))
    }

    private mutating func coded(_ literals: Huffman, _ distances: Huffman) -> Bool {
        while output.count < limit {
            guard let symbol = symbol(literals) else { return false }
            if symbol < 256 {
                output.append(UInt8(symbol))
            } else if symbol == 256 {
                return true
            } else {
                guard symbol <= 285, let more = take(Self.lengthBits[symbol - 257]),
                    let far = self.symbol(distances), far < 30, let further = take(far < 4 ? 0 : far / 2 - 1)
                else { return false }
                let length = Self.lengthBase[symbol - 257] + more
                let distance = (far < 4 ? far : (2 + far % 2) << (far / 2 - 1)) + 1 + further
                guard distance <= output.count else { return false }
                for _ in 0..<min(length, limit - output.count) { output.append(output[output.count - distance]) }
            }
        }
        return true
    }

    private mutating func symbol(_ code: Huffman) -> Int? {
        var value = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            guard let bit = take(1) else { return nil }
            value |= bit
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        return nil
    }

    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let lengthBase = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
}

/// A canonical Huffman code: the number of codes of each length, and the symbols in code order.
private struct Huffman {
    private(set) var counts = [Int](repeating: 0, count: 16)
    private(set) var symbols: [Int] = []

    init(_ lengths: some Collection<Int>) {
        for length in lengths where length > 0 { counts[length] += 1 }
        for length in 1...15 {
            for (symbol, own) in lengths.enumerated() where own == length { symbols.append(symbol) }
        }
    }

    static let fixedLiterals = Huffman((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    static let fixedDistances = Huffman([Int](repeating: 5, count: 30))
}
