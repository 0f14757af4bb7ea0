import Foundation
import Glibc
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Hosts that fail, ask to be left alone, or are slow, through real processes", .timeLimit(.minutes(4)))
struct HostTests {
    let picture = LocalOrigin.Answer.bytes(
        Pixels.photograph(width: 96, height: 72, seed: 9).png, type: "image/png")

    func place(_ settings: String...) throws -> Workplace {
        try Workplace(
            ["retry.attempts=0", "origins.breaker.failures=5", "origins.breaker.pause=200ms", "origins.backoff=200ms"]
                + settings)
    }

    /// By night a minute, with the usual pauses; else seconds, and short ones.
    @Test("One that is away for a while: no job is dead, few ask it, and all are done soon after it is back")
    func outage() async throws {
        let (isLong, ceiling) = (Effort.asked == .all, 4)
        let (count, seconds, pause) = isLong ? (300, 60, 30.0) : (60, 3, 0.2)
        let place = try place(
            "origins.breaker.pause=\(Int(pause * 1_000))ms", "origins.concurrency=\(ceiling)",
            "retry.base=1s", "retry.cap=\(isLong ? "10m" : "2s")")
        let bytes = Pixels.photograph(width: 96, height: 72, seed: 9).png
        let good =
            Array("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(bytes.count)\r\n\r\n".utf8) + bytes
        let bad = Array("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".utf8)
        let isBack = Flag()
        let origin = try BrokenOrigin(.scripted { _ in .late(isBack.isRaised ? good : bad, after: 50) })
        try place.publish(
            (0..<count).map { (origin.url("/\($0).png"), ["24x24-q80.webp"], $0 % 2 == 0 ? .fast : .slow) })
        let worker = try place.worker(untilIdle: false)
        let begun = ContinuousClock.now
        await worker.says("The host is blocked")
        try await eventually {
            let waiting = try await place.parkedRows().count
            return waiting >= count * 2 / 3 && ContinuousClock.now - begun > .seconds(seconds)
        }
        let asked = origin.connectionCount
        let lasted = (ContinuousClock.now - begun) / .seconds(1)
        // The first after one pause, the next after two more, and so on.
        let probes = (1...).prefix { pause * Double($0 * ($0 + 1) / 2) <= lasted }.count
        // Those of jobs that were tried before make the pauses no longer.
        #expect(asked >= 5 && asked <= 6 + probes * 3 / 2, "\(asked) in \(lasted) s")
        isBack.raise()
        try await eventually { try await place.outcomes().count == count }
        // Begun after as long again at the latest.
        #expect((ContinuousClock.now - begun) / .seconds(1) < 2 * lasted + 30)
        #expect((1...ceiling).contains(origin.mostLate))
        worker.signal(SIGTERM)
        let summary = try Summary(try await worker.ended())
        #expect(
            summary["jobs"] == count && summary["stored"] == count && summary["dead"] == 0 && summary["waiting"] == 0)
        #expect(summary["requests"] == origin.connectionCount)
        #expect(try await place.outcomes().allSatisfy { $0.kind == .stored })
    }

    @Test("One that says when it wants to be asked again is left alone until then")
    func retryAfter() async throws {
        let place = try place()
        place.origin.serve("/a.png", .status(429, headers: [("Retry-After", "2")], body: []), picture)
        place.origin.serve("/b.png", picture)
        try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .fast)], id: "a")
        let worker = try place.worker()
        await worker.says("The host is blocked")
        try place.publish([(place.origin.url("/b.png"), ["24x24-q80.webp"], .fast)], id: "b")
        let summary = try Summary(try await worker.ended())
        #expect(summary["stored"] == 2 && summary["requests"] == 3 && summary["seconds"] >= 2)
        let outcomes = try await place.outcomes()
        #expect(outcomes.first { $0.job == "b-0" }?.attempts == 0)
    }

    @Test("With patience a worker ends though jobs wait for a host, and says how many; another one goes on with them")
    func patience() async throws {
        let place = try place()
        place.origin.serve("/0.png", .status(503, headers: [("Retry-After", "3600")], body: []), picture)
        let paths = (1...40).map { "/\($0).png" }
        for path in paths { place.origin.serve(path, picture) }
        let other = try LocalOrigin()
        other.serve("/a.png", picture)
        try place.publish([(place.origin.url("/0.png"), ["24x24-q80.webp"], .fast)], id: "first")
        let first = try place.worker([], patience: "10s")
        let ended = try await first.ended()
        #expect(ended.status == 0 && place.origin.requestCount == 1, "\(ended.errors)")
        let summary = try Summary(ended)
        #expect(summary["jobs"] == 0 && summary["waiting"] == 1 && summary["requests"] == 1)
        let urls = paths.map { place.origin.url($0) } + [other.url("/a.png")]
        try place.publish(urls.map { ($0, ["24x24-q80.webp"], .fast) }, id: "more")
        // Another worker reads that the host is left alone, before it asks for anything.
        let second = try Summary(try await place.worker([], patience: "10s").ended())
        #expect(second["jobs"] == 1 && second["waiting"] == 41 && second["requests"] == 1)
        #expect(place.origin.requestCount == 1)
        #expect(try place.run("origins", "unblock", place.origin.url("")).status == 0)
        let last = try await place.work()
        #expect(last["jobs"] == 41 && last["stored"] == 41 && last["waiting"] == 0)
        let usage = try Built.run("mezzotint-worker", ["--patience", "1s"])
        #expect(usage.status == 2)
    }

    @Test("Jobs that only wait while their host is left alone do not outlast a worker's patience")
    func patienceWithMoves() async throws {
        let place = try place()
        let paths = (0..<20).map { "/\($0).png" }
        for path in paths {
            place.origin.serve(path, .status(429, headers: [("Retry-After", "40")], body: []), picture)
        }
        try place.publish(paths.map { (place.origin.url($0), ["24x24-q80.webp"], .fast) })
        // They are due every ten seconds.
        let summary = try Summary(try await place.worker([], patience: "12s").ended())
        #expect(summary["waiting"] == 20 && summary["jobs"] == 0 && summary["seconds"] < 12)
    }

    @Test("A job is given up when its origin has been at fault for so long, by setting or by its own word")
    func givesUp() async throws {
        let place = try place("retry.retryFor.slow=1500ms", "origins.breaker.failures=0", "origins.backoff=0ms")
        for path in ["/a.png", "/b.png"] { place.origin.serve(path, .status(500)) }
        try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .slow)], id: "a")
        let own = "{\"url\":\"\(place.origin.url("/b.png"))\",\"variants\":[\"8x8.png\"],\"id\":\"b\",\"retryFor\":0}"
        #expect(try place.run("publish", "-", input: own).status == 0)
        let summary = try await place.work()
        #expect(summary["dead"] == 2 && place.origin.requests(of: "/b.png") == 1)
        // Waits of 200 ms at most.
        #expect((7...60).contains(place.origin.requests(of: "/a.png")) && summary["seconds"] >= 1)
    }

    @Test(
        "A fast job whose origin fails for longer than retry.retryFor.fast goes on as a slow one, and its outcome still comes"
    )
    func goesOnAsSlow() async throws {
        let place = try place("retry.retryFor.fast=0ms", "retry.retryFor.slow=1h", "origins.breaker.failures=0")
        place.origin.serve("/a.png", .status(503, headers: [("Retry-After", "2")], body: []), picture)
        try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .fast)], id: "a")
        let worker = try place.worker()
        await worker.says("The host is blocked")
        try await eventually { try await place.parkedRows().map(\.worksAs) == [.slow] }
        // Its record keeps the lane, because that is signed.
        #expect(try await place.parkedRows().allSatisfy { $0.note.lane == .fast })
        let summary = try Summary(try await worker.ended())
        #expect(summary["stored"] == 1 && summary["requests"] == 2 && summary["seconds"] >= 2)
        #expect(try await place.outcomes().map(\.lane) == [.fast])
        #expect(try await place.parkedRows().isEmpty)
    }

    @Test("A source that is not there is not asked for again soon")
    func remembered() async throws {
        let place = try place()
        let url = place.origin.url("/none.png")
        let worker = try place.worker(untilIdle: false)
        for round in 1...3 {
            try place.publish([(url, ["\(round)x8.png"], .fast)], id: "round\(round)")
            try await eventually { try await place.outcomes().count == round }
        }
        #expect(place.origin.requestCount == 1)
        #expect(try await place.outcomes().allSatisfy { $0.kind == .failed && $0.failure?.code == "fetch.not-found" })
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }

    @Test("A flood of a host that hangs keeps a job of another one waiting for nothing, in one partition and lane")
    func flood() async throws {
        let place = try place("log.partitions=1", "worker.readAhead=64")
        let hanging = try LocalOrigin()
        let gate = Gate()
        let count = 2_000
        for number in 0..<count { hanging.serve("/\(number).png", .gated(gate, picture)) }
        place.origin.serve("/a.png", picture)
        try place.publish((0..<count).map { (hanging.url("/\($0).png"), ["24x24-q80.webp"], .fast) }, id: "flood")
        try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .fast)], id: "healthy")
        let worker = try place.worker(
            "origins.concurrency=6", "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s")
        await worker.says("The worker runs")
        let begun = ContinuousClock.now
        try await eventually { place.origin.requestCount == 1 }
        #expect(ContinuousClock.now - begun < .seconds(2))
        try await eventually { try await place.outcomes().map(\.job) == ["healthy-0"] }
        #expect(hanging.requestCount <= 6)
        let host = "http://127.0.0.1:\(hanging.port)"
        try await eventually {
            try place.run("lag").lines.contains { $0.hasPrefix(host) && $0.contains("limit") }
        }
        // Where nothing waits in a topic, nothing holds it back.
        try await eventually {
            let output = try place.run("lag", "--json").output
            return output.contains(
                "\"throttledBy\":\"limit\",\"hosts\":[{\"host\":\"\(host)\",\"throttledBy\":\"limit\"")
                && output.contains("\"throttledBy\":null,\"hosts\":[]")
        }
        gate.open()
        let summary = try Summary(try await worker.ended())
        #expect(summary["jobs"] == count + 1 && summary["stored"] == count + 1)
        #expect(hanging.requestCount == count)
        let holds = try await place.outcomes().map { $0.job == "healthy-0" ? nil : $0.throttledBy }
        #expect(holds.count { $0 == .limit || $0 == .readAhead } > count / 2 && holds.contains(nil), "\(holds)")
    }

    @Test("Many hosts that redirect to one do not ask it with more than its ceiling at once")
    func redirects() async throws {
        let place = try place("fetch.concurrency=32")
        let gate = Gate()
        let fronts = try (0..<12).map { _ in try LocalOrigin() }
        for (number, front) in fronts.enumerated() {
            for path in ["/a.png", "/b.png"] {
                place.origin.serve("/\(number)\(path)", .gated(gate, picture))
                front.serve(path, .redirect(place.origin.url("/\(number)\(path)")))
            }
        }
        let jobs = fronts.flatMap { front in
            ["/a.png", "/b.png"].map { (front.url($0), ["24x24-q80.webp"], Lane.fast) }
        }
        try place.publish(jobs)
        let worker = try place.worker(
            "origins.concurrency=6", "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s")
        try await eventually { fronts.allSatisfy { $0.requestCount == 2 } }
        // All of them have been led to it, and it is asked, or its turn waited for.
        let host = "http://127.0.0.1:\(place.origin.port)"
        try await eventually {
            let row = try hosts(place).first { $0.host == host }
            return (row?.inFlight ?? 0) + (row?.waitingFast ?? 0) == jobs.count
        }
        #expect((1...6).contains(place.origin.requestCount))
        gate.open()
        let summary = try Summary(try await worker.ended())
        #expect(summary["stored"] == 24 && summary["requests"] == 24 && place.origin.requestCount == 24)
    }

    @Test(
        "One that is left alone is not asked by way of another either: that one is asked once for each job, and once more when all is over"
    )
    func redirectsToBlocked() async throws {
        let place = try place()
        let front = try LocalOrigin()
        let host = "http://127.0.0.1:\(place.origin.port)"
        for number in 0..<8 {
            place.origin.serve("/\(number).png", picture)
            front.serve("/\(number).png", .redirect(place.origin.url("/\(number).png")))
        }
        let worker = try place.worker(untilIdle: false)
        await worker.says("The worker runs")
        #expect(try place.run("origins", "block", host, "--for", "1h").status == 0)
        await worker.says("The host is blocked")
        try place.publish((0..<8).map { (front.url("/\($0).png"), ["24x24-q80.webp"], $0 % 2 == 0 ? .fast : .slow) })
        try await eventually {
            let row = try hosts(place).first { $0.host == host }
            return row?.waitingFast == 4 && row?.waitingSlow == 4
        }
        #expect(place.origin.requestCount == 0 && front.requestCount == 8)
        #expect(try hosts(place).first { $0.host != host }?.state == "open")
        #expect(try place.run("origins", "unblock", host).status == 0)
        try await eventually { try await place.outcomes().count { $0.kind == .stored && $0.attempts == 0 } == 8 }
        #expect(place.origin.requestCount == 8 && front.requestCount == 16)
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }

    @Test("More hosts that hang than there are permits keep a job of another one waiting for a moment only")
    func manyHanging() async throws {
        let place = try place()
        let gate = Gate()
        let hanging = try (0..<6).map { _ in try LocalOrigin() }
        for origin in hanging { origin.serve("/a.png", .gated(gate, picture)) }
        place.origin.serve("/a.png", picture)
        try place.publish(hanging.map { ($0.url("/a.png"), ["24x24-q80.webp"], .fast) }, id: "hanging")
        let worker = try place.worker(
            "fetch.concurrency=4", "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s")
        // Four late ones, and two that hold permits.
        await gate.arrivals(6)
        try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .fast)], id: "healthy")
        try await eventually { try await place.outcomes().map(\.job) == ["healthy-0"] }
        gate.open()
        let summary = try Summary(try await worker.ended())
        #expect(summary["jobs"] == 7 && summary["stored"] == 7)
    }
}
