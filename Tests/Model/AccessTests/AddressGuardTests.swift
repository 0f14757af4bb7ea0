import Access
import Posix
import Testing

@Suite("The address guard")
struct AddressGuardTests {
    @Test("Everything that is not public is refused", arguments: [
        // IPv4, first and last of each range.
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0",
        "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255",
        "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "168.63.129.16",
        // IPv6 that is not global unicast.
        "::", "::1", "::7f00:1", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b::7f00:1", "64:ff9b:1::808:808", "100::1",
        "1fff:ffff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fec0::1", "ff02::1",
        // Global in form, but reserved, a tunnel or a document.
        "2001::1", "2001:0:7f00:1::", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1",
        "2001:db8::1", "2001:db8:ffff::1", "2002:808:808::1", "2002:7f00:1::", "3fff::1", "3fff:fff::1",
        // IPv4 in the dress of IPv6.
        "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0.0.0.0",
        // ISATAP to a private end.
        "2600::5efe:10.0.0.1", "2600::200:5efe:127.0.0.1",
    ])
    func refused(text: String) throws {
        #expect(!AddressGuard().accepts(try #require(IPAddress(text))))
    }

    @Test("What is public is let through, up to the edges of what is not", arguments: [
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "203.0.112.255", "203.0.114.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2001:db7::1",
        "2001:db9::1", "2003::1", "2600::1", "3ffe::1", "2a00:1450::1", "::ffff:8.8.8.8", "2600::5efe:8.8.8.8",
    ])
    func accepted(text: String) throws {
        #expect(AddressGuard().accepts(try #require(IPAddress(text))))
    }

    @Test("A configured range is let through, and nothing beside it", arguments: [
        (allow: "127.0.0.0/8", address: "127.0.0.1", passes: true), (allow: "127.0.0.0/8", address: "::ffff:127.0.0.1", passes: true),
        (allow: "127.0.0.0/8", address: "::1", passes: false), (allow: "127.0.0.0/8", address: "10.0.0.1", passes: false),
        (allow: "::1/128", address: "::1", passes: true), (allow: "::1/128", address: "127.0.0.1", passes: false),
        (allow: "fd00::/8", address: "fd12::1", passes: true), (allow: "fd00::/8", address: "fe80::1", passes: false),
        // NAT64 by opt-in, judged by the address inside.
        (allow: "64:ff9b::/96", address: "64:ff9b::808:808", passes: true), (allow: "64:ff9b::/96", address: "64:ff9b::a00:1", passes: false),
        (allow: "0.0.0.0/0", address: "169.254.169.254", passes: true), (allow: "0.0.0.0/0", address: "fe80::1", passes: false),
    ])
    func allowed(allow: String, address: String, passes: Bool) throws {
        let rule = AddressGuard(allow: [try #require(AddressRange(allow))])
        #expect(rule.accepts(try #require(IPAddress(address))) == passes)
    }
}
