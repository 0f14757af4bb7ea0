import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Lanes and single flight, through real processes", .timeLimit(.minutes(3)))
struct LaneTests {
    @Test("With the slow lane full of origins that hang, fast jobs go through; then slow ones do too")
    func slowLaneFull() async throws {
        let place = try Workplace(
            "fetch.concurrency=16", "fetch.deadlines.firstByte=60s", "fetch.deadlines.whole=60s")
        let gate = Gate()
        let picture = LocalOrigin.Answer.bytes(Pixels.photograph(width: 96, height: 72, seed: 2).png, type: "image/png")
        let slow = (0..<12).map { number in
            place.origin.serve("/slow\(number).png", .gated(gate, picture))
            return place.origin.url("/slow\(number).png")
        }
        try place.publish(slow.map { ($0, ["24x24-q80.webp"], .slow) }, id: "slow")
        let worker = try place.worker()
        // Of the two that a host gets in the beginning, one is left to fast ones.
        await gate.arrivals(1)
        try place.publish(place.draw(12).map { ($0, ["24x24-q80.webp"], .fast) }, id: "fast")
        try await eventually { try await place.outcomes().count >= 12 }
        #expect(try await place.outcomes().allSatisfy { $0.lane == .fast })
        #expect(slow.filter { place.origin.requests(of: URL(string: $0)?.path ?? "") > 0 }.count == 1)
        gate.open()
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try Summary(ended)["jobs"] == 24)
    }

    @Test("200 sources in 5 sizes, at random over both lanes by 4 publishers: each source is fetched exactly once")
    func singleFlight() async throws {
        let place = try Workplace()
        let urls = place.draw(200, side: 64)
        var random = SeededRandom(seed: 5)
        let sizes = ["48x48-q80.webp", "40x40-q80.jpg", "32y32-q80.webp", "24z24.png", "16x16-q80.webp"]
        let jobs = urls.flatMap { url in sizes.map { (url, $0) } }.shuffled(using: &random)
        let worker = try place.worker(untilIdle: false)
        await worker.says("The worker runs")
        let publishers = try (0..<4).map { part in
            let lines = jobs.enumerated().filter { $0.offset % 4 == part }.map { number, job in
                "{\"url\":\"\(job.0)\",\"variants\":[\"\(job.1)\"],\"lane\":\"\(Bool.random(using: &random) ? "fast" : "slow")\",\"id\":\"\(number)\"}"
            }
            try lines.joined(separator: "\n").write(
                to: place.folder.url.appending(path: "part\(part)"), atomically: true, encoding: .utf8)
            return try RunningProgram(
                "/bin/sh", ["-c", "\(Built.program("mezzotint").path) publish --set data=data - < part\(part)"],
                in: place.folder.url)
        }
        for publisher in publishers { #expect(try await publisher.ended().status == 0) }
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
        let summary = try await place.work()
        #expect(summary["failed"] == 0 && summary["dead"] == 0)
        #expect(place.origin.requestCount == 200)
        #expect(Set(try await place.outcomes().map(\.job)).count == 1_000)
        #expect(try await place.rows().count == 1_000)
    }
}
