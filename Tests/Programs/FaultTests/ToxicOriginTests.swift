import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// Between the worker and a healthy origin stands toxiproxy.
@Suite(
    "Networks that are slow, cut and hold back", .timeLimit(.minutes(2)),
    .enabled(if: Shared.has("services/toxiproxy-server"), Comment(rawValue: Shared.absent)))
struct ToxicOriginTests {
    private static let address = "127.0.0.1"

    private struct Network {
        let toxic: [String]
        /// nil: the job is done.
        let code: String?
    }

    /// The first byte is waited for for 1 s, the whole for 3 s; the picture has some 60 KB. Publishers are told no deadline:
    /// it would tell a silent port from a shut one.
    private static let networks = [
        "clean": Network(toxic: [], code: nil),
        "latency": Network(toxic: ["-t", "latency", "-a", "latency=300", "-a", "jitter=200"], code: nil),
        "late": Network(toxic: ["-t", "latency", "-a", "latency=2000"], code: "fetch.unreachable"),
        "cut": Network(toxic: ["-t", "limit_data", "-a", "bytes=20000"], code: "fetch.truncated"),
        "cut-in-head": Network(toxic: ["-t", "limit_data", "-a", "bytes=20"], code: "fetch.unreachable"),
        "slow-close": Network(toxic: ["-t", "slow_close", "-a", "delay=1500"], code: nil),
        "narrow": Network(toxic: ["-t", "bandwidth", "-a", "rate=100"], code: nil),
        "too-narrow": Network(toxic: ["-t", "bandwidth", "-a", "rate=5"], code: "fetch.unreachable"),
        "reset": Network(toxic: ["-t", "reset_peer", "-a", "timeout=0"], code: "fetch.unreachable"),
        "silent": Network(toxic: ["-t", "timeout", "-a", "timeout=0"], code: "fetch.unreachable"),
    ]

    @Test(
        "Each ends as the table of verdicts says: what can be waited for is done, the rest is tried again and set aside"
    )
    func verdicts() async throws {
        let place = try Workplace(
            "retry.attempts=2", "fetch.timeouts.connect=1s", "fetch.timeouts.firstByte=1s", "fetch.timeouts.total=3s"
        )
        let picture = Pixels.photograph(width: 200, height: 150, seed: 4).png
        #expect((40_000...120_000).contains(picture.count))
        place.origin.serve("/a.png", .bytes(picture, type: "image/png"))
        let spare = try LocalOrigin()
        let port = spare.port
        spare.stop()
        let program = try #require(Shared.part("services/toxiproxy-server")).path
        let server = try RunningProgram(
            program, ["-host", Self.address, "-port", "\(port)"], in: place.folder.url)
        defer { server.signal(9) }
        func command(_ words: [String]) throws -> Ended {
            let program = try #require(Shared.part("services/toxiproxy-cli")).path
            return try Built.run(program, ["-h", "http://\(Self.address):\(port)"] + words)
        }
        try await eventually { try command(["list"]).status == 0 }
        for (name, network) in Self.networks {
            let upstream = "\(Self.address):\(place.origin.port)"
            #expect(try command(["create", "-l", "\(Self.address):0", "-u", upstream, name]).status == 0)
            if !network.toxic.isEmpty {
                let added = try command(["toxic", "add"] + network.toxic + [name])
                #expect(added.status == 0, "\(added.output)\(added.errors)")
            }
        }
        let listed = try command(["list"]).lines.map { $0.split(whereSeparator: \.isWhitespace) }
        for line in listed where line.count > 1 && Self.networks[String(line[0])] != nil {
            try place.publish([("http://\(line[1])/a.png", ["16x16.png"], .fast)], id: String(line[0]))
        }
        let summary = try await place.work()
        #expect(summary["jobs"] == Self.networks.count)
        for outcome in try await place.outcomes() {
            let name = String(outcome.job.dropLast("-0".count))
            let wanted = try #require(Self.networks[name], "\(outcome.job)")
            #expect(outcome.failure?.code == wanted.code, "\(name): \(outcome.failure?.message ?? "done")")
            #expect(outcome.kind == (wanted.code == nil ? .stored : .dead), "\(name)")
        }
    }
}
