internal import VariantSpec

/// Percent-encoding and dot segments: the part of canonicalisation that touches every byte.
enum Escapes {
    /// Appends bytes with escapes in canonical spelling: unreserved characters bare, hexadecimal digits in upper case.
    /// Bytes that RFC 3986 allows only escaped are escaped. Reserved characters stay as received, because `%2F` is not
    /// a slash.
    static func appendCanonical(_ received: [UInt8], _ range: Range<Int>, to out: inout [UInt8]) throws(URLFault) {
        var i = range.lowerBound
        while i < range.upperBound {
            let byte = received[i]
            i += 1
            if byte == Byte.percent {
                guard i + 1 < range.upperBound, let high = Byte.nibble(received[i]),
                    let low = Byte.nibble(received[i + 1])
                else { throw .badEscape(at: i) }
                i += 2
                let meant = high << 4 | low
                if Byte.isUnreserved(meant) { out.append(meant) } else { appendEscape(meant, to: &out) }
            } else if Byte.mustBeEscaped(byte) {
                appendEscape(byte, to: &out)
            } else {
                out.append(byte)
            }
        }
    }

    private static func appendEscape(_ byte: UInt8, to out: inout [UInt8]) {
        out.append(Byte.percent)
        out.append(Byte.hexDigit(byte >> 4))
        out.append(Byte.hexDigit(byte & 15))
    }

    /// Removes `.` and `..` segments from the path that begins at `start` and ends `out`, as RFC 3986 section 5.2.4
    /// specifies. Nothing climbs above the root, and empty segments count as segments.
    static func removeDotSegments(_ out: inout [UInt8], from start: Int) {
        guard hasDotSegment(out, from: start) else { return }
        // Each iteration takes one segment, `/` and its name. It is written back at or before the place where it was
        // read.
        var read = start
        var write = start
        while read < out.count {
            var end = read + 1
            while end < out.count, out[end] != Byte.slash { end += 1 }
            let dots = dotCount(out, read + 1..<end)
            if dots == 2 {
                // Removes the previous segment too, with its slash.
                while write > start {
                    write -= 1
                    if out[write] == Byte.slash { break }
                }
            }
            if dots == 0 {
                while read < end {
                    out[write] = out[read]
                    read += 1
                    write += 1
                }
            } else if end == out.count {
                // A final dot segment leaves its slash.
                out[write] = Byte.slash
                write += 1
            }
            read = end
        }
        out.removeLast(out.count - write)
    }

    private static func hasDotSegment(_ out: [UInt8], from start: Int) -> Bool {
        for i in start..<out.count - 1 where out[i] == Byte.slash && out[i + 1] == Byte.dot { return true }
        return false
    }

    /// Dots of a segment: 1 for `.`, 2 for `..`, 0 for any other segment.
    private static func dotCount(_ out: [UInt8], _ segment: Range<Int>) -> Int {
        guard segment.count <= 2, segment.allSatisfy({ out[$0] == Byte.dot }) else { return 0 }
        return segment.count
    }
}
