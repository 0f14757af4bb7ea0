package import Access
package import HTTP
internal import Posix
package import SettingTypes

/// What an operator says of fetching: whom, how much and how long.
package struct OriginSettings: Sendable, Equatable {
    package var access = AccessRules()
    /// Bytes of one body.
    package var byteLimit = 64 << 20
    /// Bytes of all bodies that are in the worker at one time, those that wait for a renderer included.
    package var budget = 256 << 20
    package var redirects = 5
    package var deadlines = HTTPDeadlines()
    /// 0: as many as a host may be asked at once, and 16 at least.
    package var connectionsPerHost = 0
    package var userAgent = "mezzotint/0.1"
    /// PEM files, beside the system's authorities.
    package var authorities: [String] = []

    package init() {}

    private static let hosts = "names, *.example.com (every name below it) and address ranges"

    package static let rows: [SettingRow<OriginSettings>] = [
        SettingRow(
            "fetch.allow", \.access.addresses.allow,
            .list(of: "address ranges such as 10.0.0.0/8", { AddressRange($0) }),
            "Ranges that the address guard lets through although it would refuse them: loopback, private and other special ones, and this machine's own addresses."
        ),
        SettingRow(
            "fetch.hosts.allow", \.access.allow, .list(of: hosts, { HostPattern($0) }),
            "Who may be asked, and nobody else; for ranges names are resolved. What is not public needs fetch.allow, too. Empty: everybody."
        ),
        SettingRow(
            "fetch.hosts.deny", \.access.deny, .list(of: hosts, { HostPattern($0) }),
            "Who may not be asked, whatever else allows it. A range counts for names that lead into it, too."),
        SettingRow(
            "fetch.ports", \.access.ports,
            .list(of: "ports and ranges of them, such as 443 or 8000-8999", { PortRange($0) }),
            "The ports that may be asked. Empty: 80, 443, and from 1024 up all but those of databases, caches, brokers and container engines: "
                + PortRange.guarded.map(\.description).joined(separator: ", ") + "."
        ),
        SettingRow(
            "fetch.nat64", \.access.addresses.nat64,
            .list(of: "IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, such as 64:ff9b::/96", { NAT64Prefix($0) }),
            "Prefixes by which this network reaches IPv4 (RFC 6052): an address of theirs is judged by the IPv4 address in it. Name those of your own; under one that is not named, private addresses would be public ones."
        ),
        SettingRow(
            "fetch.byteLimit", \.byteLimit, .size(1024...4 << 30),
            "Size of the largest file that is fetched. It limits PNG first: photographs take 1.3 bytes a pixel on average (0.7 to 2.4), so that 64MiB are about 50 megapixels. 256MiB take 10,000 × 10,000."
        ),
        SettingRow(
            "fetch.budget", \.budget, .size(1024...64 << 30),
            "Bytes of all sources that the worker holds at once, counted as they come. One host's take half of it at most. One body may go beyond either, to its end."
        ),
        SettingRow(
            "fetch.slowest", \.deadlines.flowFloor, .size(0...1 << 30),
            "Bytes a second that a body must come with, on average of every 10s in which it was allowed to come: time in which the worker itself made it wait for fetch.budget does not count. One that is whole within 10s may be as small as it likes. 0B: however slowly."
        ),
        SettingRow(
            "fetch.redirects", \.redirects, .whole(0...20), "Redirects that are followed, each under the guard."),
        SettingRow(
            "fetch.connectionsPerHost", \.connectionsPerHost, .whole(0...1024),
            "Connections to one origin at once; what exceeds them waits. 0: as many as the largest concurrency of origins, and 16 at least."
        ),
        SettingRow(
            "fetch.userAgent", \.userAgent, .line, "What origins are told about who asks. Add how to reach you."),
        SettingRow(
            "fetch.authorities", \.authorities, .paths,
            "PEM files of certificate authorities that may vouch for origins in addition to the system's, such as a private CA. The worker reads them at its start."
        ),
        SettingRow(
            "fetch.deadlines.dns", \.deadlines.resolve, .duration(.milliseconds(1) ... .seconds(600)),
            "How long the host's name may take to resolve."),
        SettingRow(
            "fetch.deadlines.connect", \.deadlines.connect, .duration(.milliseconds(1) ... .seconds(600)),
            "How long a connection, with TLS, may take."),
        SettingRow(
            "fetch.deadlines.firstByte", \.deadlines.firstByte, .duration(.milliseconds(1) ... .seconds(600)),
            "How long an origin may take until the head of its answer is whole."),
        SettingRow(
            "fetch.deadlines.whole", \.deadlines.whole, .duration(.milliseconds(1) ... .seconds(3600)),
            "How long a fetch may take, redirects included."),
    ]
}
