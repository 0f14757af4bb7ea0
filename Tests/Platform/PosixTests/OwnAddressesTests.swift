import Glibc
import Posix
import TestSupport
import Testing

@Suite("The addresses of this machine", .timeLimit(.minutes(1)))
struct OwnAddressesTests {
    @Test("Those of its interfaces are its own, and no others")
    func own() throws {
        let own = OwnAddresses()
        #expect(own.contains(try #require(IPAddress("127.0.0.1"))))
        #expect(!own.contains(try #require(IPAddress("8.8.8.8"))))
    }

    private static var hasNetworks: Bool {
        (try? Built.run("/usr/bin/unshare", ["--net", "/bin/true"]).status) == 0
    }

    @Test(
        "One that comes later is known at once",
        .enabled(if: hasNetworks, "needs to be allowed a network of its own (CAP_SYS_ADMIN)"))
    func change() async {
        await #expect(processExitsWith: .success) {
            typealias Unshare = @convention(c) (Int32) -> Int32
            let unshare = unsafeBitCast(try #require(dlsym(nil, "unshare")), to: Unshare.self)
            // CLONE_NEWNET: of a new network the loopback interface is down.
            #expect(unshare(0x4000_0000) == 0)
            let own = OwnAddresses()
            let loopback = try #require(IPAddress("127.0.0.1"))
            #expect(!own.contains(loopback))
            // SIOCSIFFLAGS on lo, whose flag IFF_UP stands behind 16 bytes of name.
            var request = [UInt8](repeating: 0, count: 40)
            request.replaceSubrange(0..<2, with: Array("lo".utf8))
            request[16] = 1
            let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            #expect(request.withUnsafeMutableBytes { ioctl(socket, 0x8914, $0.baseAddress!) } == 0)
            #expect(own.contains(loopback))
        }
    }
}
