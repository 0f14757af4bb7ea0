package import Access
internal import CommandLine
package import HTTP
internal import Posix
package import SettingTypes

/// Settings of fetching: allowed hosts, sizes and time limits.
package struct OriginSettings: Sendable, Equatable {
    package var access = AccessRules()
    /// Maximum bytes of one body.
    package var byteLimit = 64 << 20
    /// Maximum bytes of all bodies in the worker at one time, including bodies that wait for a renderer.
    package var budget = 256 << 20
    package var redirects = 5
    package var deadlines = HTTPDeadlines()
    /// Maximum connections to one host; 0: the most concurrent fetches of any host, and at least 16.
    package var connectionsPerHost = 0
    package var userAgent = "mezzotint/\(Command.version)"
    /// PEM files, beside the system's authorities.
    package var authorities: [String] = []

    package init() {}

    private static let hosts = "names, *.example.com (every name below it) and address ranges"

    package static let rows: [SettingRow<OriginSettings>] = [
        SettingRow(
            "fetch.allow", \.access.addresses.allow,
            .list(of: "address ranges such as 10.0.0.0/8", { AddressRange($0) }),
            "Address ranges to fetch from although the address guard refuses them by default: loopback, private and other special ranges, and this machine's own addresses."
        ),
        SettingRow(
            "fetch.hosts.allow", \.access.allow, .list(of: hosts, { HostPattern($0) }),
            "Hosts to fetch from; all others are refused. The worker resolves names to match ranges. Non-public addresses must be listed in fetch.allow, too. Empty: all hosts."
        ),
        SettingRow(
            "fetch.hosts.deny", \.access.deny, .list(of: hosts, { HostPattern($0) }),
            "Hosts never to fetch from, even if another setting allows them. A range also refuses names that resolve into it."
        ),
        SettingRow(
            "fetch.ports", \.access.ports,
            .list(of: "ports and ranges of them, such as 443 or 8000-8999", { PortRange($0) }),
            "Ports to fetch from. Empty: 80, 443, and from 1024 up all but those of databases, caches, brokers and container engines: "
                + PortRange.guarded.map(\.description).joined(separator: ", ") + "."
        ),
        SettingRow(
            "fetch.nat64", \.access.addresses.nat64,
            .list(of: "IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, such as 64:ff9b::/96", { NAT64Prefix($0) }),
            "Prefixes by which this network reaches IPv4 (RFC 6052). The address guard checks the IPv4 address inside such an address. List your network's own prefixes: under an unlisted prefix, private addresses would pass as public."
        ),
        SettingRow(
            "fetch.byteLimit", \.byteLimit, .size(1024...4 << 30),
            "Maximum size of a source file. It limits PNG first: photographs take 1.3 bytes a pixel on average (0.7 to 2.4), so 64MiB is about 50 megapixels. 256MiB accepts 10,000 × 10,000."
        ),
        SettingRow(
            "fetch.budget", \.budget, .size(1024...64 << 30),
            "Bytes of all sources in the worker, counted as they arrive. Sources of one host may use half of it. One source may exceed either limit until it is complete."
        ),
        SettingRow(
            "fetch.minRate", \.deadlines.flowFloor, .size(0...1 << 30),
            "Minimum download rate in bytes a second, averaged over each 10s of transfer. Time in which the worker paused the transfer for fetch.budget does not count. Sources that complete within 10s always pass. 0B disables the check."
        ),
        SettingRow(
            "fetch.redirects", \.redirects, .whole(0...20),
            "Maximum redirects to follow. The address guard checks each one."),
        SettingRow(
            "fetch.connectionsPerHost", \.connectionsPerHost, .whole(0...1024),
            "Maximum connections to one origin; further requests wait. 0: the largest concurrency of all origins, and at least 16."
        ),
        SettingRow(
            "fetch.userAgent", \.userAgent, .line, "User-Agent header that origins receive. Add how to contact you."),
        SettingRow(
            "fetch.authorities", \.authorities, .paths,
            "PEM files of certificate authorities that may sign origins' certificates, in addition to the system's authorities, such as a private CA. The worker reads them at its start."
        ),
        SettingRow(
            "fetch.timeouts.dns", \.deadlines.resolve, .duration(.milliseconds(1) ... .seconds(600)),
            "Time limit for resolving the host's name."),
        SettingRow(
            "fetch.timeouts.connect", \.deadlines.connect, .duration(.milliseconds(1) ... .seconds(600)),
            "Time limit for a connection, including TLS."),
        SettingRow(
            "fetch.timeouts.firstByte", \.deadlines.firstByte, .duration(.milliseconds(1) ... .seconds(600)),
            "Time limit for the complete head of the origin's response."),
        SettingRow(
            "fetch.timeouts.total", \.deadlines.whole, .duration(.milliseconds(1) ... .seconds(3600)),
            "Time limit for a whole fetch, including redirects."),
    ]
}
