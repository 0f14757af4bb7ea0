import Posix
import Testing

@Suite("Addresses and their ranges")
struct AddressRangeTests {
    @Test("Only the strict spelling is an address", arguments: [
        (text: "127.0.0.1", spelled: "127.0.0.1"), (text: "::1", spelled: "::1"),
        (text: "FD00::0:1", spelled: "fd00::1"), (text: "::ffff:10.0.0.1", spelled: "::ffff:10.0.0.1"),
        (text: "127.1", spelled: nil), (text: "0x7f.0.0.1", spelled: nil), (text: "2130706433", spelled: nil),
        (text: "127.0.0.01", spelled: nil), (text: "fe80::1%eth0", spelled: nil), (text: "", spelled: nil),
        (text: "[::1]", spelled: nil), (text: " 1.2.3.4", spelled: nil),
    ])
    func addresses(text: String, spelled: String?) {
        #expect(IPAddress(text)?.description == spelled)
    }

    @Test("A range holds exactly what its prefix says", arguments: [
        (range: "10.0.0.0/8", address: "10.255.255.255", holds: true), (range: "10.0.0.0/8", address: "11.0.0.0", holds: false),
        (range: "0.0.0.0/0", address: "255.255.255.255", holds: true), (range: "0.0.0.0/0", address: "::1", holds: false),
        (range: "192.0.2.7", address: "192.0.2.7", holds: true), (range: "192.0.2.7", address: "192.0.2.8", holds: false),
        (range: "::/0", address: "2001:db8::1", holds: true), (range: "fd00::/8", address: "fdff::1", holds: true),
        (range: "fd00::/8", address: "fc00::1", holds: false), (range: "2001:db8::/65", address: "2001:db8::7fff:0:0:1", holds: true),
        (range: "2001:db8::/65", address: "2001:db8::8000:0:0:1", holds: false), (range: "::1", address: "::1", holds: true),
        (range: "2001:db8::/64", address: "2001:db8:0:1::", holds: false),
    ])
    func ranges(range: String, address: String, holds: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(#require(IPAddress(address))) == holds)
    }

    @Test("Invalid ranges are refused", arguments: [
        "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "::/129", "example.com", "10/8", "",
        "10.0.0.0/8/8", "/8",
    ])
    func refused(text: String) {
        #expect(AddressRange(text) == nil)
    }
}
