internal import Glibc

/// An IPv4 or IPv6 address.
package enum IPAddress: Sendable, Hashable, CustomStringConvertible {
    case v4(UInt32)
    case v6(UInt64, UInt64)

    /// Reads 4 or 16 bytes in network order.
    package init?(bytes: some Collection<UInt8>) {
        func word<Word: FixedWidthInteger>(_ bytes: some Sequence<UInt8>) -> Word {
            bytes.reduce(0) { $0 << 8 | Word($1) }
        }
        switch bytes.count {
        case 4: self = .v4(word(bytes))
        case 16: self = .v6(word(bytes.prefix(8)), word(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// Parses only the strict spelling: no shorthand, no octal or hexadecimal IPv4, no zone.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes[..<4])
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    package var bits: Int { if case .v4 = self { 32 } else { 128 } }

    package var description: String {
        let (family, bytes): (Int32, [UInt8]) =
            switch self {
            case .v4(let word): (AF_INET, withUnsafeBytes(of: word.bigEndian) { Array($0) })
            case .v6(let high, let low):
                (AF_INET6, [high, low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
            }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            _ = inet_ntop(family, bytes, text.baseAddress!, socklen_t(text.count))
            return String(cString: text.baseAddress!)
        }
    }
}

/// A range of addresses in CIDR form: `10.0.0.0/8`, `fd00::/8`, or a single address.
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    package let base: IPAddress
    package let prefix: Int

    /// Parses a range; nil unless it is an address, with a length that leaves none of its set bits outside.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = IPAddress(parts[0]) else { return nil }
        (self.base, prefix) = (base, parts.count == 1 ? base.bits : Self.length(parts[1]) ?? -1)
        guard (0...base.bits).contains(prefix), Self.masked(base, to: prefix) == base else { return nil }
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.bits == base.bits && Self.masked(address, to: prefix) == base
    }

    package var description: String { "\(base)/\(prefix)" }

    private static func length(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }

    private static func masked(_ address: IPAddress, to prefix: Int) -> IPAddress {
        switch address {
        // Swift's smart shift gives 0 for a shift by the whole width.
        case .v4(let word): .v4(word & ~(UInt32.max >> UInt32(prefix)))
        case .v6(let high, let low):
            .v6(high & ~(UInt64.max >> UInt64(min(prefix, 64))), low & ~(UInt64.max >> UInt64(max(0, prefix - 64))))
        }
    }
}
