/// Metrics address of a worker: a name or an address, and a port.
package struct WorkerAddress: Sendable, Equatable, CustomStringConvertible {
    /// Form in a URL: `worker-1:9464`, `[::1]:9464`.
    package let description: String
    /// Host name; nil: it is an address.
    package let name: String?
    package let port: Int

    /// Parses an address; nil unless it is a host and a port from 1.
    package init?(_ text: String) {
        if let address = ListenAddress(text) {
            guard address.port > 0 else { return nil }
            (description, name, port) = (text, nil, address.port)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        let host = text[..<colon]
        let isName = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == 0x2D || byte == 0x2E || byte == 0x5F
        }
        guard isName, !host.isEmpty, host.utf8.count < 254 else { return nil }
        (description, name, self.port) = (text, String(host), Int(port))
    }
}
