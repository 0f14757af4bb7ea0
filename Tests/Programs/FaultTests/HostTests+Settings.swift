import Clocks
import Foundation
import Glibc
import ImageModel
import Posix
import Records
import Synchronization
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// What settings say of hosts, and how it is seen.
extension HostTests {
    private func tagged(_ age: Int) -> LocalOrigin.Answer {
        .tagged(
            Pixels.photograph(width: 96, height: 72, seed: 9).png, type: "image/png", tag: "\"1\"",
            headers: [("Cache-Control", "max-age=\(age)")])
    }

    private func publish(_ url: String, _ place: Workplace, id: String) throws {
        try place.publish([(url, ["24x24-q80.webp"], .fast)], id: id)
    }

    @Test(
        "What a group has of its own counts for its hosts, and for no others: headers, a rate, attempts, a ceiling of freshness"
    )
    func group() async throws {
        let place = try Workplace(
            "origins.cdn.hosts=[127.0.0.1]", "origins.cdn.rate=4/s", "origins.cdn.attempts=2",
            "origins.cdn.freshness.ceiling=1s", "origins.cdn.headers={X-Tenant: shop}")
        let paths = (0..<8).map { "/\($0).png" }
        for path in paths + ["/other.png"] { place.origin.serve(path, tagged(3600)) }
        place.origin.serve("/bad.png", .status(500))
        // The same server by a name that is not in the group.
        let other = place.origin.url("/other.png", host: "localhost")
        try place.publish((paths + ["/bad.png"]).map { (place.origin.url($0), ["24x24-q80.webp"], .fast) }, id: "group")
        try publish(other, place, id: "other")
        let first = try await place.work()
        #expect(first["stored"] == 9 && first["dead"] == 1 && place.origin.requests(of: "/bad.png") == 2)
        // Ten requests, the first of them at once.
        #expect(first["seconds"] >= 2)
        #expect(
            (paths + ["/bad.png"]).allSatisfy { place.origin.headers(of: $0).allSatisfy { $0["x-tenant"] == "shop" } })
        #expect(place.origin.headers(of: "/other.png").allSatisfy { $0["x-tenant"] == nil })

        try await Task.sleep(for: .milliseconds(1_100))
        try publish(place.origin.url("/0.png"), place, id: "again")
        try publish(other, place, id: "other-again")
        let second = try await place.work()
        #expect(second["unchanged"] == 2 && second["notModified"] == 1)
        #expect(place.origin.requests(of: "/0.png") == 2 && place.origin.requests(of: "/other.png") == 1)
    }

    @Test(
        "Jobs that a group's limit holds back are shown, for as long as it does",
        arguments: [
            (["rate=1/m"], "rate"), (["bytesPerSecond=1B", "concurrency=1"], "rate"), (["concurrency=1"], "limit"),
        ])
    func held(settings: [String], by hold: String) async throws {
        let place = try Workplace(
            ["origins.cdn.hosts=[127.0.0.1]", "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s"]
                + settings.map { "origins.cdn." + $0 })
        let gate = Gate()
        if hold == "rate" { gate.open() }
        let paths = (0..<3).map { "/\($0).png" }
        for path in paths { place.origin.serve(path, .gated(gate, picture)) }
        try place.publish(paths.map { (place.origin.url($0), ["24x24-q80.webp"], .fast) })
        let worker = try place.worker(untilIdle: false)
        func areHeld() throws -> Bool {
            guard let row = try hosts(place).first else { return false }
            let lag = try place.run("lag", "--json").output
            return row.host == "cdn" && row.state == "open" && row.waitingFast == 2
                && lag.contains("{\"host\":\"cdn\",\"throttledBy\":\"\(hold)\"")
        }
        try await eventually { try areHeld() }
        // What is not told again is taken for gone (`OriginSummary.freshness`).
        if Effort.asked == .all {
            try await Task.sleep(for: .seconds(32))
            #expect(try areHeld())
        }
        #expect(place.origin.requestCount == 1)
        gate.open()
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }

    @Test("A group's concurrency is what its origin sees at once, also where one host has usually fewer connections")
    func concurrency() async throws {
        let place = try Workplace([
            "fetch.concurrency=256", "origins.cdn.hosts=[127.0.0.1]", "origins.cdn.concurrency=96", "log.partitions=1",
            "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s",
        ])
        let gate = Gate()
        let paths = (0..<40).map { "/\($0).png" }
        for path in paths { place.origin.serve(path, .gated(gate, picture)) }
        try place.publish(paths.map { (place.origin.url($0), ["24x24-q80.webp"], .fast) })
        let worker = try place.worker()
        // It begins with a quarter of the ceiling.
        try await eventually { place.origin.requestCount == 24 }
        gate.open()
        let summary = try Summary(try await worker.ended())
        #expect(summary["stored"] == 40 && summary["requests"] == 40)
    }

    @Test("Floor and ceiling of freshness, and whether what is stored stands in, are as settings say")
    func freshness() async throws {
        let cases: [(settings: [String], age: Int, then: LocalOrigin.Answer?, kind: OutcomeKind, requests: Int)] = [
            ([], 0, nil, .unchanged, 2), (["origins.freshness.floor=1h"], 0, nil, .unchanged, 1),
            (["origins.freshness.ceiling=1s"], 3600, nil, .unchanged, 2), ([], 3600, nil, .unchanged, 1),
            (["retry.attempts=1"], 0, .status(500), .stale, 2),
            (["retry.attempts=1", "origins.staleIfError=0s"], 0, .status(500), .dead, 2),
            (["retry.attempts=1", "origins.staleWhileRevalidate=1h"], 0, .status(500), .unchanged, 1),
        ]
        for (settings, age, then, kind, requests) in cases {
            let place = try Workplace(settings)
            place.origin.serve("/a.png", tagged(age))
            let worker = try place.worker(untilIdle: false)
            try publish(place.origin.url("/a.png"), place, id: "first")
            try await eventually { try await place.outcomes().count == 1 }
            if settings.contains("origins.freshness.ceiling=1s") { try await Task.sleep(for: .milliseconds(1_100)) }
            if let then { place.origin.serve("/a.png", then) }
            try publish(place.origin.url("/a.png"), place, id: "second")
            try await eventually { try await place.outcomes().count == 2 }
            #expect(try await place.outcomes().first { $0.job == "second-0" }?.kind == kind, "\(settings) \(age)")
            #expect(place.origin.requestCount == requests, "\(settings) \(age)")
            worker.signal(SIGTERM)
            #expect(try await worker.ended().status == 0)
        }
    }

    @Test("origins --watch shows them again and again")
    func watch() async throws {
        let place = try Workplace()
        let now = SystemTime.wall
        try await place.append([OriginRow(host: "https://a.example", by: "one", at: now).newRecord()])
        let watching = try RunningProgram(
            "mezzotint", place.programWords + ["origins", "--watch"], in: place.folder.url)
        try await eventually { try watching.written.components(separatedBy: "https://a.example").count > 2 }
        watching.signal(SIGTERM)
        _ = try await watching.ended()
    }
}

/// Raised once, and seen from another thread.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}
