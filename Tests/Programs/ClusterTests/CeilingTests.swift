import Glibc
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

extension ClusterTests {
    @Suite("A host's ceiling is the cluster's")
    struct Ceiling {
        private static let answer: [UInt8] = {
            let picture = Pixels.photograph(width: 32, height: 24, seed: 9).png
            let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(picture.count)\r\n\r\n"
            return Array(head.utf8) + picture
        }()

        @Test(
            "Three workers, of which one comes, one is killed and one stops, never ask a host more often at once, nor by way of others",
            arguments: [(ceiling: 6, jobs: 480, fronts: 0), (ceiling: 2, jobs: 160, fronts: 0), (6, 240, 8)])
        func three(ceiling: Int, jobs: Int, fronts: Int) async throws {
            let cluster = try await Cluster("origins.concurrency=\(ceiling)")
            let origin = try BrokenOrigin(.late(Self.answer, after: 150))
            let fronts = try (0..<fronts).map { _ in try LocalOrigin() }
            let urls = (0..<jobs).map { number in
                let url = origin.url("/\(number).png")
                guard !fronts.isEmpty else { return url }
                let front = fronts[number % fronts.count]
                front.serve("/\(number).png", .redirect(url))
                return front.url("/\(number).png")
            }
            var workers = [try cluster.worker(named: "one")]
            try await cluster.owned(by: ["one"])
            try cluster.place.publish(
                urls.enumerated().map { ($1, ["16x12-q80.webp"], $0 % 3 == 0 ? .slow : .fast) })
            for name in ["two", "three"] {
                try await eventually { origin.connectionCount > jobs / 16 * workers.count }
                workers.append(try cluster.worker(named: name))
            }
            try await cluster.owned(by: ["one", "two", "three"])
            workers[0].signal(SIGKILL)
            try await cluster.owned(by: ["two", "three"])
            workers.append(try cluster.worker(named: "four"))
            try await cluster.owned(by: ["two", "three", "four"])
            workers[1].signal(SIGTERM)
            try await cluster.done()
            for worker in workers.dropFirst() {
                worker.signal(SIGTERM)
                #expect(try await worker.ended().status == 0)
            }
            #expect(origin.mostLate == ceiling)
            #expect(Set(try await cluster.place.outcomes().map(\.job)).count == jobs)
        }

        @Test(
            "Slow jobs have a third of each worker's part of it, or one, through a join and a kill, and fast ones all they leave"
        )
        func third() async throws {
            let cluster = try await Cluster("origins.concurrency=6")
            let origin = try BrokenOrigin(.late(Self.answer, after: 150))
            func publish(_ lane: Lane, _ count: Int) throws {
                let urls = (0..<count).map { origin.url("/\(lane.rawValue)/\($0).png") }
                try cluster.place.publish(urls.map { ($0, ["16x12-q80.webp"], lane) }, id: lane.rawValue)
            }
            var workers = try ["one", "two"].map { try cluster.worker(named: $0) }
            try await cluster.owned(by: ["one", "two"])
            try publish(.slow, 300)
            try await eventually { origin.connectionCount > 40 }
            workers.append(try cluster.worker(named: "three"))
            try await cluster.owned(by: ["one", "two", "three"])
            let joined = origin.connectionCount
            try await eventually { origin.connectionCount > joined + 40 }
            workers[0].signal(SIGKILL)
            try await cluster.owned(by: ["two", "three"])
            workers.append(try cluster.worker(named: "four"))
            try await cluster.owned(by: ["two", "three", "four"])
            #expect(origin.mostLate == 3)
            try publish(.fast, 300)
            try await cluster.done()
            for worker in workers.dropFirst() {
                worker.signal(SIGTERM)
                #expect(try await worker.ended().status == 0)
            }
            #expect(origin.mostLate(in: "slow") == 3 && origin.mostLate == 6)
            #expect(Set(try await cluster.place.outcomes().map(\.job)).count == 600)
        }

        @Test(
            "A host that asks one worker to be left alone is left alone by all until its time is over, or a person ends it"
        )
        func shared() async throws {
            let cluster = try await Cluster("origins.concurrency=6")
            let (place, names) = (cluster.place, ["one", "two", "three"])
            let workers = try names.map { try cluster.worker(named: $0) }
            try await cluster.owned(by: Set(names))
            let urls = place.draw(24)
            var done = 0
            for (wish, others) in [(600, urls[..<12]), (5, urls[12...])] {
                place.origin.serve(
                    "/wish-\(wish).png", .status(429, headers: [("Retry-After", "\(wish)")], body: []),
                    .bytes(Workplace.picture(99, side: 32).png, type: "image/png"))
                let variants = ["16x12-q80.webp"]
                try place.publish([(place.origin.url("/wish-\(wish).png"), variants, .fast)], id: "wish-\(wish)")
                try await eventually { try cluster.array("origins").contains { $0["state"] as? String == "blocked" } }
                for worker in workers { await worker.says("The host is blocked") }
                let asked = place.origin.requestCount
                try place.publish(others.map { ($0, variants, .fast) }, id: "other-\(wish)")
                if wish == 600 {
                    try await eventually {
                        try cluster.array("origins").contains { ($0["waitingFast"] as? Int ?? 0) >= others.count }
                    }
                    #expect(place.origin.requestCount == asked)
                    #expect(try place.run("origins", "unblock", place.origin.url("")).status == 0)
                }
                done += others.count + 1
                try await eventually { try await Set(place.outcomes().map(\.job)).count == done }
            }
            for worker in workers {
                worker.signal(SIGTERM)
                #expect(try await worker.ended().status == 0)
            }
            // Each picture once, and the two answers that were wishes.
            #expect(place.origin.requestCount == done + 2)
        }
    }
}
