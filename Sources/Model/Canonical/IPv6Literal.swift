internal import VariantSpec

/// IPv6 addresses in brackets, in the canonical spelling of RFC 5952.
enum IPv6Literal {
    static func canonical(_ received: ArraySlice<UInt8>) throws(URLFault) -> [UInt8] {
        guard received.count > 2, received.last == Byte.rightBracket,
            let groups = groups(of: received.dropFirst().dropLast())
        else {
            throw .host(
                Excerpt.quote(Array(received)),
                reason: "brackets hold an IPv6 address without a zone, such as [2001:db8::1]")
        }
        return Array("[\(text(groups))]".utf8)
    }

    /// Parses four decimal octets without leading zeros.
    static func ipv4(_ text: ArraySlice<UInt8>) -> (UInt16, UInt16)? {
        var octets: [UInt16] = []
        for part in text.split(separator: Byte.dot, omittingEmptySubsequences: false) {
            guard (1...3).contains(part.count), part.count == 1 || part.first != Byte.zero,
                part.allSatisfy(Byte.isDigit)
            else { return nil }
            let value = part.reduce(UInt16(0)) { $0 * 10 + UInt16($1 - Byte.zero) }
            guard value < 256 else { return nil }
            octets.append(value)
        }
        return octets.count == 4 ? (octets[0] << 8 | octets[1], octets[2] << 8 | octets[3]) : nil
    }

    private static func groups(of text: ArraySlice<UInt8>) -> [UInt16]? {
        guard text.count <= 45 else { return nil }
        var head: [UInt16] = []
        var tail: [UInt16]?
        var parts = text.split(separator: Byte.colon, omittingEmptySubsequences: false)[...]
        guard parts.count > 2 else { return nil }
        // "::" at an end leaves two empty parts, in the middle one empty part. Each case is one gap.
        if parts[0].isEmpty {
            guard parts[1].isEmpty else { return nil }
            parts = parts.dropFirst()
        }
        if parts[parts.endIndex - 1].isEmpty {
            guard parts[parts.endIndex - 2].isEmpty else { return nil }
            parts = parts.dropLast()
        }
        for (i, part) in zip(parts.indices, parts) {
            var words: [UInt16] = []
            if part.isEmpty {
                guard tail == nil else { return nil }
                tail = []
                continue
            } else if i == parts.endIndex - 1, part.contains(Byte.dot) {
                guard let (high, low) = ipv4(part) else { return nil }
                words = [high, low]
            } else {
                guard part.count <= 4 else { return nil }
                var word: UInt16 = 0
                for byte in part {
                    guard let nibble = Byte.nibble(byte) else { return nil }
                    word = word << 4 | UInt16(nibble)
                }
                words = [word]
            }
            if tail == nil { head += words } else { tail! += words }
        }
        guard let tail else { return head.count == 8 ? head : nil }
        let gap = 8 - head.count - tail.count
        return gap >= 1 ? head + Array(repeating: 0, count: gap) + tail : nil
    }

    /// Address in lower case without leading zeros, with the first longest run of two or more zero groups as `::`. An
    /// IPv4-mapped address shows its IPv4 address (section 5).
    private static func text(_ groups: [UInt16]) -> String {
        if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xffff {
            return "::ffff:\(groups[6] >> 8).\(groups[6] & 255).\(groups[7] >> 8).\(groups[7] & 255)"
        }
        var longest = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > max(longest.count, 1) { longest = start..<end }
            start = max(end, start + 1)
        }
        func joined(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard !longest.isEmpty else { return joined(groups[...]) }
        return joined(groups[..<longest.lowerBound]) + "::" + joined(groups[longest.upperBound...])
    }
}
