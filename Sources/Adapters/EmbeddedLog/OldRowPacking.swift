internal import Records

/// Reads rows that programs before log version 5 packed: 0.1.0 and those from 454fb1b on.
///
/// Parts that a row shared with a usual row, with its own key or with its own earlier bytes are references, and digits are
/// numbers. Rows keep their form until they are written again. So this file may be deleted with 0.4.0, and not before
/// 2027-12-01, once owners pack the remaining rows again at a start.
enum OldRowPacking {
    private static let limit = 32 << 10

    /// What follows a token, by its upper two bits; the lower six are a length.
    private enum Token {
        /// Bytes, one more than the length.
        static let plain: UInt8 = 0x00
        /// Bytes, one more than the length: each is two lower-case hexadecimal digits.
        static let hex: UInt8 = 0x40
        /// A number, to be written in decimal digits.
        static let decimal: UInt8 = 0x80
        /// Else: a place in all that came before, after where the last one ended, for `length + leastCopy` bytes; 63: and a
        /// number.
        static let longest = 63
    }
    private static let leastCopy = 4

    /// nil if the bytes are damaged.
    static func unpack(
        _ packed: UnsafeRawBufferPointer, key: [UInt8]
    ) -> (headers: RecordHeaders, value: [UInt8])? {
        var rest = packed[...]
        guard let headers = number(&rest), let value = number(&rest), max(headers, value) <= limit else { return nil }
        let start = usual.count + key.count
        let middle = start + Int(headers)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: middle + Int(value)) { text in
            _ = text.update(fromContentsOf: usual)
            _ = text[usual.count...].update(fromContentsOf: key)
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

    /// What most rows had in common, in the order in which they had it.
    private static let usual: [UInt8] = Array((others + source + variant).utf8)

    private static let others = #""png""webp""gif""avif""heic""tiff"true.png.jpg.avif"#

    private static let source =
        headers("source.fetched", idLength: 0x63) + "/@source/-17" + #"\#u{07}ce_time\#u{18}2026-T:Z"#
        + #"\#u{0B}traceparent\#u{37}00-\#u{08}mz_epoch\#u{01}1"#
        + #"{"url":"https://http://.jpg","version":"","width":,"height":,"format":"jpeg","bytes":,"digest":"","alpha":false,"#
        + #""original":"/original.jpg","fetchedAt":17,"expires":17}"#

    private static let variant =
        headers("variant.stored", idLength: 0x6A) + "-q80.webp/" + #"\#u{07}ce_time\#u{18}2026-\#u{08}mz_epoch\#u{02}"#
        + #"{"version":"","width":,"height":,"bytes":,"digest":"","location":"-q80.webp","madeFrom":"origin","sourceWidth":,"#
        + #""sourceHeight":,"region":[0,0,],"alpha":false,"storedAt":17,"expires":17,"frames":,"quality":,"placeholder":"","#
        + ##""colour":"#","source":{"format":"jpeg","frames":1,"alpha":false,"orientation":1,"truncated":false}}"##

    /// Names and values, each after its length.
    private static func headers(_ kind: String, idLength: UInt8) -> String {
        let fixed = [
            "ce_specversion", "1.0", "ce_source", "/mezzotint", "ce_type", "mezzotint.\(kind).v1", "content-type",
            "application/json", "ce_id",
        ]
        return fixed.map { "\(Character(UnicodeScalar(UInt8($0.utf8.count))))\($0)" }.joined()
            + "\(Character(UnicodeScalar(idLength)))"
    }
}
