internal import Posix

/// Address of a server: `127.0.0.1:9464`, `[::1]:9464`; port 0 uses a free one.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    package let host: String
    package let port: Int

    /// Parses an address; nil unless it is an IP address, rather than a name, and a port.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        switch (IPAddress(host), isBracketed) {
        case (.v4, false), (.v6, true): break
        default: return nil
        }
        (self.host, self.port) = (String(host), Int(port))
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
