internal import Glibc

/// The text form of a range of IP addresses: `10.0.0.0/8`, `::1/128`, or one address.
enum AddressRange {
    static func isValid(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = parts.first, parts.count <= 2 else { return false }
        var bytes = in6_addr()
        let bits =
            inet_pton(AF_INET, String(address), &bytes) == 1
            ? 32 : inet_pton(AF_INET6, String(address), &bytes) == 1 ? 128 : 0
        guard bits > 0, parts.count == 2 else { return bits > 0 }
        return parts[1].utf8.allSatisfy { (48..<58).contains($0) } && Int(parts[1]).map { $0 <= bits } ?? false
    }
}
