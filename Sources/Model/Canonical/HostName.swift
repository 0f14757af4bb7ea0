internal import DomainNames
internal import VariantSpec

/// Canonical hosts: lower-case A-labels, plain IPv4, or IPv6 as in RFC 5952.
enum HostName {
    /// Canonical form of the text between `//` and the port.
    static func canonical(_ received: ArraySlice<UInt8>) throws(URLFault) -> [UInt8] {
        if received.first == Byte.leftBracket { return try IPv6Literal.canonical(received) }
        var host: [UInt8] = []
        host.reserveCapacity(received.count)
        var isInternational = false
        for byte in received {
            isInternational = isInternational || byte >= 0x80
            host.append(Byte.lowered(byte))
        }
        if isInternational || hasALabel(host) { host = try aLabels(host) }
        if host.count > 1, host.last == Byte.dot { host.removeLast() }
        try check(host)
        return host
    }

    private static func hasALabel(_ host: [UInt8]) -> Bool {
        for i in host.indices.dropLast(3) where i == 0 || host[i - 1] == Byte.dot {
            if host[i] == Byte.x, host[i + 1] == UInt8(ascii: "n"), host[i + 2] == Byte.dash, host[i + 3] == Byte.dash {
                return true
            }
        }
        return false
    }

    private static func aLabels(_ host: [UInt8]) throws(URLFault) -> [UInt8] {
        do throws(DomainNameFailure) {
            let name = try DomainName.ascii(host)
            // Refuses a name that is not its own canonical form, because it could become two sources. Usable names
            // pass.
            guard try DomainName.ascii(name) == name else {
                throw DomainNameFailure(reason: "its A-labels are not stable")
            }
            return name
        } catch {
            throw .host(Excerpt.quote(host), reason: error.reason)
        }
    }

    /// Accepts labels that DNS can carry. If the last label is a number, the host must be a complete IPv4 address:
    /// clients disagree about every other spelling (127.1, 0x7f.1 and 2130706433 are loopback to some).
    private static func check(_ host: [UInt8]) throws(URLFault) {
        guard !host.isEmpty else { throw .host("", reason: "it is empty") }
        guard host.count <= 253 else { throw .host(Excerpt.quote(host), reason: "it is longer than 253 bytes") }
        var labelStart = 0
        for i in 0...host.count {
            if i == host.count || host[i] == Byte.dot {
                guard i > labelStart else { throw .host(Excerpt.quote(host), reason: "a label is empty") }
                guard i - labelStart <= 63 else {
                    throw .host(Excerpt.quote(host), reason: "a label is longer than 63 bytes")
                }
                if i < host.count { labelStart = i + 1 }
            } else {
                let byte = host[i]
                guard Byte.isLower(byte) || Byte.isDigit(byte) || byte == Byte.dash || byte == Byte.underscore else {
                    throw .host(Excerpt.quote(host), reason: "\(Excerpt.quote([byte])) is not allowed in one")
                }
            }
        }
        if isNumber(host[labelStart...]), !isIPv4(host) { throw .shorthandAddress(Excerpt.quote(host)) }
    }

    /// Whether a label is decimal, octal or hexadecimal, as C's `inet_aton` reads it.
    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        if label.allSatisfy(Byte.isDigit) { return true }
        return label.starts(with: [Byte.zero, Byte.x]) && label.dropFirst(2).allSatisfy { Byte.nibble($0) != nil }
    }

    private static func isIPv4(_ host: [UInt8]) -> Bool { IPv6Literal.ipv4(host[...]) != nil }
}
