internal import Records

/// The headers and value of a changelog's row in a quarter of their bytes: rows are most of a log.
///
/// Rows are much alike, and half of the rest is hexadecimal digits, which a general compressor makes larger than they need
/// be. So what a row has of a usual one (`UsualRow`), of its own key or of its own bytes before is said by its place there,
/// digits are said as numbers, and all else as it is. Any bytes come back exactly; those that are like no row are not made
/// smaller. Beside zlib with the same text as its dictionary it is as small.
enum RowPacking {
    /// Longer rows stay as they are.
    static let limit = 32 << 10

    /// What follows a token, by its upper two bits; the lower six are a length.
    fileprivate enum Token {
        /// Bytes, one more than the length.
        static let plain: UInt8 = 0x00
        /// Bytes, one more than the length: each is two lower-case hexadecimal digits.
        static let hex: UInt8 = 0x40
        /// A number, to be written in decimal digits.
        static let decimal: UInt8 = 0x80
        /// A place in all that came before, after where the last one ended, for `length + leastCopy` bytes; 63: and a number.
        static let copy: UInt8 = 0xC0
        static let longest = 63
    }
    fileprivate static let leastCopy = 4
    private static let leastHex = 8
    private static let decimals = 5...18

    /// nil if they are not smaller so.
    static func pack(key: [UInt8], headers: [UInt8], value: [UInt8]) -> [UInt8]? {
        guard headers.count + value.count <= limit, key.count <= limit / 2 else { return nil }
        var packer = Packer(UsualRow.bytes + key + headers + value, from: UsualRow.bytes.count + key.count)
        packer.put(UInt64(headers.count))
        packer.put(UInt64(value.count))
        packer.pack()
        return packer.out.count < headers.count + value.count ? packer.out : nil
    }

    /// nil if the bytes are damaged.
    static func unpack(
        _ packed: UnsafeRawBufferPointer, key: [UInt8]
    ) -> (headers: RecordHeaders, value: [UInt8])? {
        var rest = packed[...]
        guard let headers = number(&rest), let value = number(&rest), max(headers, value) <= limit else { return nil }
        let start = UsualRow.bytes.count + key.count
        let middle = start + Int(headers)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: middle + Int(value)) { text in
            _ = text.update(fromContentsOf: UsualRow.bytes)
            _ = text[UsualRow.bytes.count...].update(fromContentsOf: key)
            guard unpack(rest, into: text, from: start),
                let headers = RecordHeaders(
                    packed: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: text[start..<middle])))
            else { return nil }
            return (headers, Array(text[middle...]))
        }
    }

    /// Fills `text`, whose first bytes are there. False if the bytes are damaged.
    private static func unpack(
        _ packed: Slice<UnsafeRawBufferPointer>, into text: UnsafeMutableBufferPointer<UInt8>, from start: Int
    ) -> Bool {
        var (rest, count, end) = (packed, start, 0)
        func put(_ byte: UInt8) {
            text[count] = byte
            count += 1
        }
        while let token = rest.popFirst() {
            let room = text.count - count
            var length = Int(token & 0x3F) + 1
            switch token & 0xC0 {
            case Token.plain:
                guard length <= rest.count, length <= room else { return false }
                for byte in rest.prefix(length) { put(byte) }
                rest = rest.dropFirst(length)
            case Token.hex:
                guard length <= rest.count, 2 * length <= room else { return false }
                for byte in rest.prefix(length) {
                    put(HexByte.digit(byte >> 4))
                    put(HexByte.digit(byte & 15))
                }
                rest = rest.dropFirst(length)
            case Token.decimal:
                guard let value = number(&rest) else { return false }
                let digits = String(value).utf8
                guard digits.count <= room else { return false }
                for digit in digits { put(digit) }
            default:
                if length > Token.longest {
                    guard let more = number(&rest), more <= room else { return false }
                    length += Int(more)
                }
                length += leastCopy - 1
                guard let folded = number(&rest), folded <= 4 * limit else { return false }
                let from = end + (Int(folded >> 1) ^ -Int(folded & 1))
                guard from >= 0, from + length <= count, length <= room else { return false }
                for place in from..<from + length { put(text[place]) }
                end = from + length
            }
        }
        return count == text.count
    }

    /// In LEB128.
    private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var (number, shift) = (UInt64(0), UInt64(0))
        while shift < 64, let byte = rest.popFirst() {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    /// Finds what was there before by the hash of its first four bytes.
    private struct Packer {
        private let text: [UInt8]
        private let start: Int
        /// Of each hash, the place after the last one of the row's own that has it.
        private var recent = [UInt16](repeating: 0, count: 1 << 10)
        /// Where the last copy ended.
        private var end = 0
        private(set) var out: [UInt8] = []

        init(_ text: [UInt8], from start: Int) {
            (self.text, self.start) = (text, start)
            out.reserveCapacity(text.count - start)
            for place in UsualRow.bytes.count..<start { note(place) }
        }

        mutating func pack() {
            var place = start
            /// From here on nothing is said yet.
            var plain = start
            while place < text.count {
                let copy = longestCopy(at: place)
                let hex = run(at: place, HexByte.isDigit)
                let length: Int
                if let copy, copy.count >= hex / 2 {
                    say(plain..<place)
                    say(copy)
                    length = copy.count
                } else if let number = decimal(at: place, hex) {
                    say(plain..<place)
                    out.append(Token.decimal)
                    put(number.value)
                    length = number.count
                } else if hex >= RowPacking.leastHex {
                    say(plain..<place)
                    length = min(hex & ~1, 2 * (Token.longest + 1))
                    sayHex(place..<place + length)
                } else {
                    note(place)
                    place += 1
                    continue
                }
                for passed in place..<place + length { note(passed) }
                place += length
                plain = place
            }
            say(plain..<place)
        }

        private mutating func note(_ place: Int) {
            guard place + RowPacking.leastCopy <= text.count else { return }
            recent[UsualRow.hash(text, place, bits: 10)] = UInt16(place + 1)
        }

        private func longestCopy(at place: Int) -> (from: Int, count: Int)? {
            guard place + RowPacking.leastCopy <= text.count else { return nil }
            var best: (from: Int, count: Int)?
            func look(_ from: Int) {
                var count = 0
                while place + count < text.count, from + count < place, text[from + count] == text[place + count] {
                    count += 1
                }
                if count >= RowPacking.leastCopy, count > best?.count ?? 0 { best = (from, count) }
            }
            let own = Int(recent[UsualRow.hash(text, place, bits: 10)])
            if own > 0 { look(own - 1) }
            UsualRow.places(like: text, place, look)
            return best
        }

        private func run(at place: Int, _ belongs: (UInt8) -> Bool) -> Int {
            var end = place
            while end < text.count, belongs(text[end]) { end += 1 }
            return end - place
        }

        /// Digits that come back just so.
        private func decimal(at place: Int, _ hex: Int) -> (value: UInt64, count: Int)? {
            let count = run(at: place) { $0 &- 48 < 10 }
            guard RowPacking.decimals.contains(count), count >= hex - 1, text[place] != 48 else { return nil }
            return (text[place..<place + count].reduce(0) { $0 * 10 + UInt64($1 - 48) }, count)
        }

        private mutating func say(_ range: Range<Int>) {
            var rest = range
            while !rest.isEmpty {
                let part = rest.prefix(Token.longest + 1)
                out.append(Token.plain | UInt8(part.count - 1))
                out.append(contentsOf: text[part])
                rest = part.upperBound..<rest.upperBound
            }
        }

        private mutating func sayHex(_ range: Range<Int>) {
            out.append(Token.hex | UInt8(range.count / 2 - 1))
            for place in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
                out.append(HexByte.value(text[place]) << 4 | HexByte.value(text[place + 1]))
            }
        }

        private mutating func say(_ copy: (from: Int, count: Int)) {
            let length = copy.count - RowPacking.leastCopy
            out.append(Token.copy | UInt8(min(length, Token.longest)))
            if length >= Token.longest { put(UInt64(length - Token.longest)) }
            let step = copy.from - end
            put(UInt64(bitPattern: Int64(step << 1 ^ step >> 63)))
            end = copy.from + copy.count
        }

        /// In LEB128.
        mutating func put(_ number: UInt64) {
            var left = number
            while left >= 0x80 {
                out.append(UInt8(truncatingIfNeeded: left) | 0x80)
                left >>= 7
            }
            out.append(UInt8(left))
        }
    }
}

/// A lower-case hexadecimal digit.
enum HexByte {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 || byte &- 97 < 6 }
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
    /// Of a digit.
    static func value(_ digit: UInt8) -> UInt8 { digit < 58 ? digit &- 48 : digit &- 87 }
}
