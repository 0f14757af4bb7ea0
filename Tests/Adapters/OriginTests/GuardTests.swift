import Access
import Canonical
import Failures
import Foundation
import ImageModel
import Ports
import Posix
import TestSupport
import Testing

@testable import Origin

@Suite("Where a fetch may connect", .timeLimit(.minutes(1)))
struct GuardTests {
    @Test(
        "Loopback is refused unless it is configured, however it is spelled, and no connection is made",
        arguments: [
            "127.0.0.1", "localhost", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0",
            "0.0.0.0",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.0.0.1.", "LOCALHOST", "%31%32%37.0.0.1", "①②⑦.0.0.1",
        ])
    func loopback(host: String) async throws {
        let origin = try LocalOrigin()
        origin.serve("/", .bytes([1]))
        let failure = await #expect(throws: FetchFailure.self) {
            try await GuardedFetcher(OriginConfiguration()).source(
                FetchRequest(url: origin.url("/", host: host), lane: .fast))
        }
        // A spelling that the resolver does not take is as good.
        #expect(
            ["fetch.refused-address", "fetch.refused-name", "fetch.resolution", "fetch.deadline", "fetch.invalid-url"]
                .contains(failure?.code)
        )
        #expect(origin.connectionCount == 0)
    }

    @Test(
        "The spellings that the resolver takes reach the guard",
        arguments: ["127.1", "0x7f.1", "2130706433", "localhost", "0"])
    func shorthand(host: String) async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await GuardedFetcher(OriginConfiguration()).source(FetchRequest(url: "http://\(host)/", lane: .fast))
        }
        // What DNS says must look like any host that does not answer.
        let isName = host == "localhost"
        #expect(failure?.code == (isName ? "fetch.refused-name" : "fetch.refused-address"))
        #expect(failure?.verdict == (isName ? .retry : .fail))
        #expect(failure?.isConfidential == isName)
    }

    @Test(
        "Every hop is held to the hosts and ports that may be asked, before any connection",
        arguments: [
            (to: "http://127.0.0.1:22/", code: "fetch.refused-port"),
            (to: "http://127.0.0.1:6379/", code: "fetch.refused-port"),
            (to: "http://10.0.0.1/", code: "fetch.refused-address"),
            (to: "http://2130706433:25/", code: "fetch.refused-port"),
            (to: "http://denied.example/", code: "fetch.refused-host"),
            (to: "http://DENIED.example./", code: "fetch.refused-host"),
            (to: "http://%64enied.example/", code: "fetch.refused-host"),
            (to: "http://a.denied.example/", code: "fetch.refused-host"),
            (to: "http://127.0.0.3:8080/", code: "fetch.refused-host"),
            (to: "http://[::ffff:127.0.0.3]/", code: "fetch.refused-host"),
        ])
    func hops(to: String, code: String) async throws {
        let origin = try LocalOrigin()
        origin.serve("/", .redirect(to))
        var configuration = OriginConfiguration.loopback
        configuration.settings.access.addresses.allow = [try #require(AddressRange("127.0.0.0/8"))]
        configuration.settings.access.deny = try ["denied.example", "*.denied.example", "127.0.0.3"].map {
            try #require(HostPattern($0))
        }
        let fetcher = GuardedFetcher(configuration)
        for url in [to, origin.url("/")] {
            let failure = await #expect(throws: FetchFailure.self) {
                try await fetcher.source(FetchRequest(url: url, lane: .fast))
            }
            #expect(failure?.code == code && failure?.verdict == .fail && failure?.isConfidential == false)
        }
        configuration.settings.access.allow = [.range(try #require(AddressRange("127.0.0.2")))]
        await #expect(
            throws: FetchFailure.refusedHost(url: SourceURL(origin.url("/")), host: "127.0.0.1", isListed: false)
        ) {
            try await GuardedFetcher(configuration).source(FetchRequest(url: origin.url("/"), lane: .fast))
        }
    }

    @Test("This machine's own addresses are known, and not asked unless they are allowed")
    func own() async throws {
        let own = OwnAddresses()
        #expect(own.contains(.v4(0x7F00_0001)))
        #expect(!own.contains(.v4(0x0808_0808)))
    }

    @Test("A proxy of the environment is not used")
    func proxy() async throws {
        let proxy = try BrokenOrigin(.answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"))
        setenv("MEZZOTINT_TEST_PROXY", proxy.url(), 1)
        await #expect(processExitsWith: .success) {
            let proxy = try #require(ProcessInfo.processInfo.environment["MEZZOTINT_TEST_PROXY"])
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] { setenv(name, proxy, 1) }
            let origin = try LocalOrigin()
            origin.serve("/", .bytes([1, 2, 3]))
            let source = try await GuardedFetcher.ofLoopback().source(FetchRequest(url: origin.url("/"), lane: .fast))
            #expect(source.body.length == 3)
        }
        #expect(proxy.connectionCount == 0)
    }

    @Test("The keys of connections are written to no file that the environment names")
    func keyLog() async throws {
        let folder = try TemporaryFolder()
        let keys = folder.file("keys")
        setenv("MEZZOTINT_TEST_KEYS", keys, 1)
        await #expect(processExitsWith: .success) {
            setenv("SSLKEYLOGFILE", try #require(ProcessInfo.processInfo.environment["MEZZOTINT_TEST_KEYS"]), 1)
            let silent = try BrokenOrigin(.answer("no TLS"))
            await #expect(throws: FetchFailure.self) {
                try await GuardedFetcher.ofLoopback().source(
                    FetchRequest(url: silent.url().replacing("http:", with: "https:"), lane: .fast))
            }
        }
        #expect(!FileManager.default.fileExists(atPath: keys))
    }
}
