package import Posix

/// IPv6 prefix whose addresses embed IPv4 addresses, laid out as in RFC 6052.
package struct NAT64Prefix: Sendable, Hashable, CustomStringConvertible {
    package let range: AddressRange

    /// nil unless the text is an IPv6 range of 32, 40, 48, 56, 64 or 96 bits.
    package init?(_ text: String) {
        guard let range = AddressRange(text), range.base.bits == 128, [32, 40, 48, 56, 64, 96].contains(range.prefix)
        else { return nil }
        self.range = range
    }

    package var description: String { range.description }

    /// IPv4 address embedded in an address; nil if the address is outside this prefix.
    func target(of address: IPAddress) -> IPAddress? {
        guard range.contains(address), case .v6(let high, let low) = address else { return nil }
        let bytes = [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        // The ninth byte is not part of the IPv4 address.
        return IPAddress(
            bytes: (range.prefix / 8..<16).filter { $0 != 8 || range.prefix == 96 }.prefix(4).map { bytes[$0] })
    }
}
