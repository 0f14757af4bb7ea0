import Clocks
import Foundation
import Glibc
import ImageModel
import Posix
import Records
import TestSupport
import TestWorkplace
import Testing

/// A name server that hears and never answers, until the value goes.
private final class SilentNameServer {
    let address = "127.0.0.77"
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var place = sockaddr_in()
        (place.sin_family, place.sin_port) = (sa_family_t(AF_INET), in_port_t(53).bigEndian)
        inet_pton(AF_INET, address, &place.sin_addr)
        let code = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0, "port 53 of \(address)")
    }

    deinit { close(descriptor) }
}

@Suite("Names that nobody resolves", .timeLimit(.minutes(1)))
struct SlowNamesTests {
    private static let canPrepare = SmallDisk.canBeMounted && access("/etc/resolv.conf", F_OK) == 0

    /// getaddrinfo waits for ten seconds here, and libcurl for its thread where it is not told to leave it alone.
    @Test(
        "Thirty-two hosts whose name server is silent end by their deadline, and hold up no other host",
        .enabled(if: canPrepare, "needs the right to mount (unshare -m), and /etc/resolv.conf"))
    func silent() async throws {
        let server = try SilentNameServer()
        let place = try Workplace("fetch.concurrency=64", "fetch.timeouts.dns=3s", "retry.attempts=1")
        try Data("nameserver \(server.address)\noptions timeout:5 attempts:2\n".utf8)
            .write(to: place.folder.url.appending(path: "resolv.conf"))
        try place.publish((0..<32).map { ("http://slow-\($0).example/", ["16x16.png"], .fast) }, id: "slow")
        let innocents = place.draw(12)
        let script = """
            mount --bind resolv.conf /etc/resolv.conf
            exec \(Built.program("mezzotint-worker").path) \(place.words) --set logging.level=debug --json
            """
        let worker = try RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
        await worker.says("The partition is restored.")
        let begun = SystemTime.wall
        var asked: [String: WallTime] = [:]
        for (number, url) in innocents.enumerated() {
            asked["innocent\(number)-0"] = SystemTime.wall
            try place.publish([(url, ["16x16.png"], .fast)], id: "innocent\(number)")
        }
        // It is not to end for want of jobs before the last of them is published.
        try await eventually { try await place.outcomes().count == 32 + innocents.count }
        worker.signal(SIGTERM)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors.suffix(2_000))")
        let outcomes = try await place.outcomes()
        let slow = outcomes.filter { $0.job.hasPrefix("slow") }
        #expect(slow.count == 32 && slow.allSatisfy { $0.failure?.code == "fetch.unreachable" })
        #expect(slow.allSatisfy { $0.at - begun < 4_500 }, "\(slow.map { $0.at - begun })")
        let times = outcomes.compactMap { outcome in asked[outcome.job].map { outcome.at - $0 } }
        #expect(times.count == innocents.count && times.allSatisfy { $0 < 1_500 }, "\(times)")
        // They were asked for while the others waited for their names.
        let first = try #require(slow.map(\.at).min())
        #expect(outcomes.count { $0.kind == .stored && $0.at < first } >= 6)
    }
}
