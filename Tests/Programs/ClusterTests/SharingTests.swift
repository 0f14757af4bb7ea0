import Foundation
import Glibc
import ImageModel
import KafkaSetup
import Ports
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

extension ClusterTests {
    @Suite("Workers share the load")
    struct Sharing {
        private static let variants = ["48x48-q80.webp", "24y24-q80.jpg"]

        private func jobs(_ urls: [String]) -> [(url: String, variants: [String], lane: Lane)] {
            urls.enumerated().map { ($1, Self.variants, $0 % 2 == 0 ? .fast : .slow) }
        }

        @Test("Two workers store every job of both lanes and fetch each source once; a restart does nothing again")
        func two() async throws {
            let cluster = try await Cluster()
            let urls = cluster.place.draw(30)
            let workers = [try cluster.worker(named: "one"), try cluster.worker(named: "two")]
            try await cluster.owned(by: ["one", "two"])
            // Each source on both lanes.
            try cluster.place.publish(jobs(urls) + jobs(urls.reversed()))
            try await cluster.done()
            var fetches: [Int] = []
            for worker in workers {
                worker.signal(SIGTERM)
                let ended = try await worker.ended()
                #expect(ended.status == 0, "\(ended.errors)")
                fetches.append(try Summary(ended)["fetches"])
            }
            #expect(fetches.reduce(0, +) == urls.count && !fetches.contains(0), "\(fetches)")
            #expect(cluster.place.origin.requestCount == urls.count)
            let outcomes = try await cluster.place.outcomes()
            #expect(Set(outcomes.map(\.job)).count == 2 * urls.count)
            #expect(outcomes.allSatisfy { $0.kind == .stored || $0.kind == .unchanged })

            try cluster.place.publish(jobs(urls), id: "again")
            let again = try await cluster.place.work()
            #expect(again["jobs"] == urls.count && again["unchanged"] == 2 * urls.count && again["fetches"] == 0)
        }

        @Test("What a worker that stops has stored, the one that takes over restores, and makes nothing twice")
        func takeOver() async throws {
            let cluster = try await Cluster()
            let urls = cluster.place.draw(12)
            let first = try cluster.worker(named: "first")
            try await cluster.owned(by: ["first"])
            let second = try cluster.worker(named: "second")
            try await cluster.owned(by: ["first", "second"])
            try cluster.place.publish(jobs(urls))
            try await cluster.done()
            first.signal(SIGTERM)
            #expect(try await first.ended().status == 0)
            try await cluster.owned(by: ["second"])
            try cluster.place.publish(jobs(urls), id: "again")
            try await cluster.done()
            second.signal(SIGTERM)
            let ended = try await second.ended()
            let summary = try Summary(ended)
            #expect(ended.errors.contains("rows from the changelog in"), "\(ended.errors)")
            for figure in ["toRestore", "restoredRows", "restoreRecords"] {
                #expect(ended.errors.contains("\"\(figure)\":"), "\(ended.errors)")
            }
            #expect(summary["restoredRows"] > 0 && summary["unchanged"] >= 2 * urls.count, "\(ended.output)")
            #expect(cluster.place.origin.requestCount == urls.count)
        }

        @Test("Partitions that go to another worker are finished first: what runs is neither lost nor done twice")
        func finished() async throws {
            let cluster = try await Cluster(
                "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s", "fetch.concurrency=128")
            let gate = Gate()
            let picture = LocalOrigin.Answer.bytes(
                Pixels.photograph(width: 90, height: 60, seed: 3).png, type: "image/png")
            let urls = (0..<12).map { number in
                cluster.place.origin.serve("/\(number).png", .gated(gate, picture))
                return cluster.place.origin.url("/\(number).png")
            }
            let first = try cluster.worker(named: "first", "kafka.timing.revoke=20s")
            try await cluster.owned(by: ["first"])
            try cluster.place.publish(urls.map { ($0, Self.variants, .fast) })
            await gate.arrivals(urls.count)
            let second = try cluster.worker(named: "second", "kafka.timing.revoke=20s")
            await first.says("Partitions go to another worker")
            gate.open()
            try await cluster.owned(by: ["first", "second"])
            try await cluster.done()
            for worker in [first, second] { worker.signal(SIGTERM) }
            let ended = [try await first.ended(), try await second.ended()]
            #expect(try Summary(ended[0])["fetches"] == urls.count && Summary(ended[1])["fetches"] == 0)
            #expect(cluster.place.origin.requestCount == urls.count)
            let outcomes = try await cluster.place.outcomes()
            #expect(outcomes.count == urls.count && outcomes.allSatisfy { $0.kind == .stored })
        }

        @Test("Whoever comes back after a kill waits for its place, and the others work meanwhile")
        func successor() async throws {
            let cluster = try await Cluster("kafka.timing.session=15s")
            let urls = cluster.place.draw(30)
            let (first, second) = (try cluster.worker(named: "first"), try cluster.worker(named: "second"))
            try await cluster.owned(by: ["first", "second"])
            second.signal(SIGKILL)
            _ = try await second.ended()
            let third = try cluster.worker(named: "third")
            await third.says("joins when its session is over")
            try cluster.place.publish(jobs(urls))
            try await eventually { try await !cluster.place.outcomes().isEmpty }
            // The session was not over by then.
            try await cluster.owned(by: ["first", "second"])
            try await cluster.done()
            try await cluster.owned(by: ["first", "third"])
            for worker in [first, third] {
                worker.signal(SIGTERM)
                #expect(try await worker.ended().status == 0)
            }
            #expect(try await Set(cluster.place.outcomes().map(\.job)).count == urls.count)
        }

        @Test("More workers than partitions: the one that owns nothing ends when it may, and nothing hangs")
        func surplus() async throws {
            let cluster = try await Cluster("kafka.partitions=1")
            let first = try cluster.worker(named: "first")
            try await cluster.owned(by: ["first"])
            let second = try cluster.worker(named: "second", untilIdle: true)
            #expect(try await second.ended().status == 0)
            first.signal(SIGTERM)
            #expect(try await first.ended().status == 0)
        }
    }
}
