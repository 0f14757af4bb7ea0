package import Posix

/// A prefix of IPv6 addresses that stand for IPv4 ones, as RFC 6052 lays them out.
package struct NAT64Prefix: Sendable, Hashable, CustomStringConvertible {
    package let range: AddressRange

    /// nil unless it is a range of IPv6 of 32, 40, 48, 56, 64 or 96 bits.
    package init?(_ text: String) {
        guard let range = AddressRange(text), range.base.bits == 128, [32, 40, 48, 56, 64, 96].contains(range.prefix)
        else { return nil }
        self.range = range
    }

    package var description: String { range.description }

    /// nil if the address is not of this prefix.
    func target(of address: IPAddress) -> IPAddress? {
        guard range.contains(address), case .v6(let high, let low) = address else { return nil }
        let bytes = [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        // The ninth byte is left out of it.
        return IPAddress(
            bytes: (range.prefix / 8..<16).filter { $0 != 8 || range.prefix == 96 }.prefix(4).map { bytes[$0] })
    }
}
