import Clocks
import Foundation
import Glibc
import ImageModel
import Ports
import Posix
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
            "fetch.concurrency=16", "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s")
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

    @Test(
        "With lanes.slow.fetches=1 slow sources are fetched one after another, in the order in which they were published, by way of redirects too"
    )
    func oneByOne() async throws {
        let place = try Workplace("log.partitions=1", "lanes.slow.fetches=1")
        let urls = place.draw(24)
        for number in 0..<24 {
            let picture = LocalOrigin.Answer.bytes(Workplace.picture(number).png, type: "image/png")
            let leads = number.isMultiple(of: 5)
            place.origin.serve(
                "/\(number).png", .taking(.milliseconds(30), leads ? .redirect("/\(number).there.png") : picture))
            place.origin.serve("/\(number).there.png", .taking(.milliseconds(30), picture))
        }
        try place.publish(urls.map { ($0, ["24x24-q80.webp"], .slow) })
        let summary = try await place.work()
        #expect(summary["stored"] == 24)
        #expect(place.origin.mostAtOnce == 1)
        let wanted = (0..<24).flatMap { number in
            ["/\(number).png"] + (number.isMultiple(of: 5) ? ["/\(number).there.png"] : [])
        }
        #expect(place.origin.order == wanted)
    }

    @Test(
        "A job that expires while its origin is silent is answered then; another job of its source keeps the fetch")
    func impatient() async throws {
        let place = try Workplace("fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s")
        let gate = Gate()
        let urls = place.draw(2)
        for number in 0..<2 {
            let picture = LocalOrigin.Answer.bytes(Workplace.picture(number).png, type: "image/png")
            place.origin.serve("/\(number).png", .gated(gate, picture))
        }
        let worker = try place.worker(untilIdle: false)
        await worker.says("The worker runs")
        let expires = (SystemTime.wall + .seconds(3)).milliseconds
        let lines = ["alone": urls[0], "beside": urls[1]].map { id, url in
            "{\"url\":\"\(url)\",\"variants\":[\"24x24-q80.webp\"],\"id\":\"\(id)\",\"expires\":\(expires)}"
        }
        let other = "{\"url\":\"\(urls[1])\",\"variants\":[\"24x24-q80.webp\"],\"id\":\"other\"}"
        let published = try place.run("publish", "-", input: (lines + [other]).joined(separator: "\n"))
        #expect(published.status == 0, "\(published.errors)")
        await gate.arrivals(2)
        // Neither has been answered by its origin.
        try await eventually { try await place.outcomes().count >= 2 }
        let told = try await place.outcomes()
        #expect(Set(told.map(\.job)) == ["alone", "beside"] && told.allSatisfy { $0.kind == .expired })
        #expect(gate.isClosed)
        gate.open()
        try await eventually { try await place.outcomes().count >= 3 }
        worker.signal(SIGTERM)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        let last = try await place.outcomes().first { $0.job == "other" }
        #expect(last?.kind == .stored && place.origin.requestCount == 2)
        let summary = try Summary(ended)
        #expect(summary["expired"] == 2 && summary["jobs"] == 3 && summary["dead"] == 0)
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
