import Access
import Posix
import Testing

@Suite("Who may be asked")
struct AccessRulesTests {
    private func rules(
        allow: [String] = [], deny: [String] = [], ports: [String] = [], ranges: [String] = [], nat64: [String] = []
    ) throws -> AccessRules {
        var rules = AccessRules()
        rules.allow = try allow.map { try #require(HostPattern($0)) }
        rules.deny = try deny.map { try #require(HostPattern($0)) }
        rules.ports = try ports.map { try #require(PortRange($0)) }
        rules.addresses.allow = try ranges.map { try #require(AddressRange($0)) }
        rules.addresses.nat64 = try nat64.map { try #require(NAT64Prefix($0)) }
        return rules
    }

    private func refusal(_ host: String, _ port: UInt16 = 443, _ rules: AccessRules) throws -> AccessRules.Refusal? {
        rules.refusal(of: try #require(RequestedHost(host)), port: port) { _ in false }
    }

    @Test(
        "Names are allowed and denied by themselves, by what they are below, and denial wins",
        arguments: [
            (host: "a.example", allow: [], deny: [], refusal: nil),
            (host: "a.example", allow: ["a.example"], deny: [], refusal: nil),
            (host: "A.Example.", allow: ["a.example."], deny: [], refusal: nil),
            (host: "b.a.example", allow: ["a.example"], deny: [], refusal: .unlisted),
            (host: "b.a.example", allow: ["*.a.example"], deny: [], refusal: nil),
            (host: "c.b.a.example", allow: ["*.a.example"], deny: [], refusal: nil),
            (host: "a.example", allow: ["*.a.example"], deny: [], refusal: .unlisted),
            (host: "bada.example", allow: ["*.a.example"], deny: [], refusal: .unlisted),
            (host: "b.a.example", allow: ["*.a.example"], deny: ["b.a.example"], refusal: .denied),
            (host: "a.example", allow: [], deny: ["*.a.example"], refusal: nil),
            (host: "x.a.example", allow: [], deny: ["*.a.example"], refusal: .denied),
            (host: "münchen.de", allow: ["xn--mnchen-3ya.de"], deny: [], refusal: nil),
            (host: "xn--mnchen-3ya.de", allow: ["MÜNCHEN.de"], deny: [], refusal: nil),
            (host: "a.münchen.de", allow: [], deny: ["*.münchen.de"], refusal: .denied),
            (host: "ａ.example", allow: [], deny: ["a.example"], refusal: .denied),
            // Where ranges are allowed, a name is judged by its address, later.
            (host: "a.example", allow: ["8.8.8.0/24"], deny: [], refusal: nil),
            // Addresses.
            (host: "8.8.8.8", allow: [], deny: [], refusal: nil),
            (host: "8.8.8.8", allow: ["a.example"], deny: [], refusal: .unlisted),
            (host: "8.8.8.8", allow: ["8.8.8.0/24"], deny: [], refusal: nil),
            (host: "8.8.8.8", allow: ["8.8.8.0/24"], deny: ["8.8.8.8"], refusal: .denied),
            (host: "[::ffff:8.8.8.8]", allow: [], deny: ["8.8.8.8"], refusal: .denied),
            (host: "[2001:4860::8888]", allow: [], deny: ["2001:4860::/32"], refusal: .denied),
            (host: "10.0.0.1", allow: ["10.0.0.0/8"], deny: [], refusal: .address(.v4(0x0A00_0001))),
        ] as [(host: String, allow: [String], deny: [String], refusal: AccessRules.Refusal?)])
    func hosts(host: String, allow: [String], deny: [String], refusal: AccessRules.Refusal?) throws {
        #expect(try self.refusal(host, 443, rules(allow: allow, deny: deny)) == refusal)
    }

    @Test(
        "Of ports the web's and the high ones are asked, less those of databases and their like; a setting replaces both",
        arguments: [
            (port: 80, ports: [], isOpen: true), (port: 443, ports: [], isOpen: true),
            (port: 1024, ports: [], isOpen: true),
            (port: 8080, ports: [], isOpen: true), (port: 65_535, ports: [], isOpen: true),
            (port: 22, ports: [], isOpen: false),
            (port: 25, ports: [], isOpen: false), (port: 1023, ports: [], isOpen: false),
            (port: 0, ports: [], isOpen: false),
            (port: 6379, ports: [], isOpen: false), (port: 27_018, ports: [], isOpen: false),
            (port: 9092, ports: [], isOpen: false),
            (port: 2375, ports: [], isOpen: false), (port: 3306, ports: ["3000-3306"], isOpen: true),
            (port: 443, ports: ["3000-3306"], isOpen: false), (port: 22, ports: ["443", "22"], isOpen: true),
            (port: 23, ports: ["443", "22"], isOpen: false),
        ] as [(port: UInt16, ports: [String], isOpen: Bool)])
    func ports(port: UInt16, ports: [String], isOpen: Bool) throws {
        #expect(try refusal("a.example", port, rules(ports: ports)) == (isOpen ? nil : .port(port)))
    }

    @Test(
        "An address is connected to where the guard, the lists and this machine's own allow it",
        arguments: [
            (address: "8.8.8.8", host: "a.example", allow: [], deny: [], ranges: [], passes: true),
            (address: "10.0.0.1", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (address: "10.0.0.1", host: "a.example", allow: ["a.example"], deny: [], ranges: [], passes: false),
            (address: "10.0.0.1", host: "a.example", allow: [], deny: [], ranges: ["10.0.0.0/8"], passes: true),
            (
                address: "10.0.0.1", host: "a.example", allow: [], deny: ["10.0.0.0/24"], ranges: ["10.0.0.0/8"],
                passes: false
            ),
            (address: "8.8.8.8", host: "a.example", allow: ["9.9.9.0/24"], deny: [], ranges: [], passes: false),
            (address: "9.9.9.9", host: "a.example", allow: ["9.9.9.0/24"], deny: [], ranges: [], passes: true),
            (
                address: "8.8.8.8", host: "a.example", allow: ["9.9.9.0/24", "a.example"], deny: [], ranges: [],
                passes: true
            ),
            (address: "::ffff:8.8.8.8", host: "a.example", allow: [], deny: ["8.8.8.8"], ranges: [], passes: false),
            // 7.7.7.7 and 2600::7 are this machine's.
            (address: "7.7.7.7", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (address: "::ffff:7.7.7.7", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (address: "2600::7", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (address: "7.7.7.7", host: "a.example", allow: [], deny: [], ranges: ["7.7.7.7"], passes: true),
            (address: "7.7.7.7", host: "a.example", allow: ["7.7.7.7"], deny: [], ranges: [], passes: false),
            // Through the operator's own gateway.
            (address: "2600:64::808:808", host: "a.example", allow: [], deny: [], ranges: [], passes: true),
            (address: "2600:64::a00:1", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (address: "2600:64::a00:1", host: "a.example", allow: [], deny: [], ranges: ["10.0.0.0/8"], passes: true),
            (address: "2600:64::707:707", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (address: "2600:64::808:808", host: "a.example", allow: [], deny: ["8.8.8.8"], ranges: [], passes: false),
            // Through anybody's, which is allowed as a range: who is denied, or this machine, is so by that way, too.
            (address: "64:ff9b::808:808", host: "a.example", allow: [], deny: [], ranges: [], passes: false),
            (
                address: "64:ff9b::808:808", host: "a.example", allow: [], deny: [], ranges: ["64:ff9b::/96"],
                passes: true
            ),
            (
                address: "64:ff9b::808:808", host: "a.example", allow: [], deny: ["8.8.8.8"], ranges: ["64:ff9b::/96"],
                passes: false
            ),
            (
                address: "64:ff9b::707:707", host: "a.example", allow: [], deny: [], ranges: ["64:ff9b::/96"],
                passes: false
            ),
        ] as [(address: String, host: String, allow: [String], deny: [String], ranges: [String], passes: Bool)])
    func addresses(address: String, host: String, allow: [String], deny: [String], ranges: [String], passes: Bool)
        throws
    {
        let rules = try rules(allow: allow, deny: deny, ranges: ranges, nat64: ["2600:64::/96"])
        let own = [try #require(IPAddress("7.7.7.7")), try #require(IPAddress("2600::7"))]
        let answer = rules.accepts(try #require(IPAddress(address)), for: try #require(RequestedHost(host))) {
            own.contains($0)
        }
        #expect(answer == passes)
    }

    @Test("An own address that a URL names is refused like a private one")
    func ownLiteral() throws {
        let own = try #require(IPAddress("7.7.7.7"))
        #expect(try rules().refusal(of: .address(own), port: 80) { $0 == own } == .address(own))
        #expect(try rules(ranges: ["7.7.7.0/24"]).refusal(of: .address(own), port: 80) { $0 == own } == nil)
    }

    /// RFC 6052, section 2.4.
    @Test(
        "Every length of a NAT64 prefix has its place for the address",
        arguments: [
            (prefix: "2001:db8::/32", address: "2001:db8:c000:221::"),
            (prefix: "2001:db8:100::/40", address: "2001:db8:1c0:2:21::"),
            (prefix: "2001:db8:122::/48", address: "2001:db8:122:c000:2:2100::"),
            (prefix: "2001:db8:122:300::/56", address: "2001:db8:122:3c0:0:221::"),
            (prefix: "2001:db8:122:344::/64", address: "2001:db8:122:344:c0:2:2100::"),
            (prefix: "2001:db8:122:344::/96", address: "2001:db8:122:344::192.0.2.33"),
        ])
    func nat64(prefix: String, address: String) throws {
        let rule = AddressGuard(nat64: [try #require(NAT64Prefix(prefix))])
        #expect(rule.target(of: try #require(IPAddress(address))) == IPAddress("192.0.2.33"))
        #expect(rule.target(of: try #require(IPAddress("2600::1"))) == IPAddress("2600::1"))
    }

    @Test(
        "Invalid patterns, ports and prefixes are refused",
        arguments: ["", "*", "*.", "a b", "*.*.example", "8.8.8.8/33", "a..b", "http://a", "a:80"])
    func badPatterns(text: String) {
        #expect(HostPattern(text) == nil)
        for text in ["0", "80-", "-80", "90-80", "65536", "a", "", "1-2-3"] { #expect(PortRange(text) == nil) }
        for text in ["10.0.0.0/8", "64:ff9b::/95", "64:ff9b::", "x"] { #expect(NAT64Prefix(text) == nil) }
    }
}
