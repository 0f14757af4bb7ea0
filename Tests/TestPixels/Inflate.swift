/// Undoes deflate (RFC 1951) for the pictures that tests read back; nil where the bytes are not what they should be.
struct Inflate {
    private let input: [UInt8]
    private var place: Int
    private var bits: UInt32 = 0
    private var held = 0
    private var output: [UInt8] = []

    /// The bytes behind a zlib stream's two bytes of header.
    static func zlib(_ bytes: [UInt8], expecting count: Int) -> [UInt8]? {
        var inflate = Inflate(input: bytes, place: 2)
        inflate.output.reserveCapacity(count)
        return inflate.run() ? inflate.output : nil
    }

    private init(input: [UInt8], place: Int) { (self.input, self.place) = (input, place) }

    private mutating func take(_ count: Int) -> Int? {
        while held < count {
            guard place < input.count else { return nil }
            bits |= UInt32(input[place]) << UInt32(held)
            (place, held) = (place + 1, held + 8)
        }
        let value = bits & ((1 << UInt32(count)) - 1)
        (bits, held) = (bits >> UInt32(count), held - count)
        return Int(value)
    }

    private mutating func run() -> Bool {
        var isLast = false
        while !isLast {
            guard let last = take(1), let kind = take(2) else { return false }
            isLast = last == 1
            let isDone =
                switch kind {
                case 0: stored()
                case 1: codes(.fixedLiterals, Huffman([UInt8](repeating: 5, count: 30)))
                case 2: dynamic()
                default: false
                }
            guard isDone else { return false }
        }
        return true
    }

    private mutating func stored() -> Bool {
        (bits, held) = (0, 0)
        guard place + 4 <= input.count else { return false }
        let count = Int(input[place]) | Int(input[place + 1]) << 8
        place += 4
        guard place + count <= input.count else { return false }
        output += input[place..<place + count]
        place += count
        return true
    }

    private mutating func dynamic() -> Bool {
        guard let literals = take(5), let distances = take(5), let lengths = take(4) else { return false }
        var sizes = [UInt8](repeating: 0, count: 19)
        for i in 0..<lengths + 4 {
            guard let size = take(3) else { return false }
            sizes[[16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15][i]] = UInt8(size)
        }
        let code = Huffman(sizes)
        let count = literals + 257 + distances + 1
        var all: [UInt8] = []
        while all.count < count {
            guard let symbol = decode(code) else { return false }
            switch symbol {
            case 0..<16: all.append(UInt8(symbol))
            case 16:
                guard let last = all.last, let n = take(2) else { return false }
                all += [UInt8](repeating: last, count: n + 3)
            default:
                guard let n = take(symbol == 17 ? 3 : 7) else { return false }
                all += [UInt8](repeating: 0, count: n + (symbol == 17 ? 3 : 11))
            }
        }
        guard all.count == count else { return false }
        return codes(Huffman(Array(all[..<(literals + 257)])), Huffman(Array(all[(literals + 257)...])))
    }

    private mutating func codes(_ literals: Huffman, _ distances: Huffman) -> Bool {
        while let symbol = decode(literals) {
            if symbol == 256 { return true }
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            guard symbol < 286, let more = take(Inflate.lengthBits[symbol - 257]), let code = decode(distances),
                code < 30,
                let beyond = take(code < 2 ? 0 : code / 2 - 1)
            else { return false }
            let length = Inflate.lengthBase[symbol - 257] + more
            let distance = 1 + beyond + (code < 2 ? code : (2 + code % 2) << (code / 2 - 1))
            guard distance <= output.count else { return false }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
        return false
    }

    private mutating func decode(_ huffman: Huffman) -> Int? {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            guard let bit = take(1) else { return nil }
            code |= bit
            let count = huffman.counts[length]
            if code - count < first { return huffman.symbols[index + code - first] }
            (index, first, code) = (index + count, (first + count) << 1, code << 1)
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

/// A canonical Huffman code: how many codes of each length, and their symbols in order.
private struct Huffman {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    init(_ lengths: [UInt8]) {
        for length in lengths { counts[Int(length)] += 1 }
        counts[0] = 0
        for length in 1...15 where counts[length] > 0 {
            symbols += lengths.indices.filter { Int(lengths[$0]) == length }
        }
    }

    static var fixedLiterals: Huffman {
        Huffman((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    }
}
