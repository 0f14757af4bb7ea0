import Clocks
import Foundation
import Glibc
import ImageModel
import Posix
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// What people see of hosts, and tell workers of them.
extension HostTests {
    struct Row: Decodable {
        let host: String
        let state: String
        let since: String?
        let until: String?
        let limit: Int?
        let inFlight: Int?
        let waitingFast: Int?
        let waitingSlow: Int?
        let matchRate: Double?
        let staleOutcomes: Int
    }

    func hosts(_ place: Workplace) throws -> [Row] {
        let ended = try place.run("origins", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        return try JSONDecoder().decode([Row].self, from: Data(ended.output.utf8))
    }

    @Test(
        "A worker that takes over from another says how many jobs wait for a host, however that one ended",
        arguments: [SIGTERM, SIGKILL])
    func waitingAfter(_ signal: Int32) async throws {
        let place = try place("log.partitions=2")
        let host = "http://127.0.0.1:\(place.origin.port)"
        try place.publish(
            (0..<12).map { (place.origin.url("/\($0).png"), ["24x24-q80.webp"], $0 % 3 == 0 ? .slow : .fast) })
        #expect(try place.run("origins", "block", host, "--for", "2h").status == 0)
        for round in 1...2 {
            let worker = try place.worker(untilIdle: false)
            try await eventually {
                guard let row = try hosts(place).first else { return false }
                return row.state == "blocked" && row.waitingFast == 8 && row.waitingSlow == 4
            }
            // A kill leaves what the changelog has.
            try await eventually {
                var told: [PartitionID: Int64] = [:]
                for record in try await place.records(.variants) {
                    if case .progress(let row) = try ChangelogEntry(record) { told[record.partition] = row.parkedCount }
                }
                return told.values.reduce(0, +) == 12
            }
            worker.signal(round == 1 ? signal : SIGTERM)
            _ = try await worker.ended()
        }
        #expect(place.origin.requestCount == 0)
    }

    @Test("A worker deletes what was told of a host an hour ago; how often one is asked is shown")
    func forgotten() async throws {
        let place = try place()
        let now = SystemTime.wall
        try await place.append(
            [120, 30].map { minutes in
                OriginRow(host: "https://\(minutes).example", by: "gone", at: now - .minutes(minutes)).newRecord()
            })
        place.origin.serve("/a.png", picture)
        try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .fast)])
        let worker = try place.worker(untilIdle: false)
        try await eventually {
            let shown = try place.run("origins").output
            return shown.contains("RATE") && shown.contains(" 6/min ")
        }
        try await eventually {
            let kept = try await place.records(.origins).compactMap { OriginRow($0)?.host }
            return Set(kept) == ["http://127.0.0.1:\(place.origin.port)", "https://30.example"]
        }
        #expect(try hosts(place).map(\.host) == ["http://127.0.0.1:\(place.origin.port)", "https://30.example"])
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }

    @Test("A host that is blocked by hand is not asked until it is unblocked, and then at once; people see both")
    func byHand() async throws {
        let place = try place()
        let host = "http://127.0.0.1:\(place.origin.port)"
        place.origin.serve("/first.png", picture)
        for number in 0..<8 { place.origin.serve("/\(number).png", picture) }
        try place.publish([(place.origin.url("/first.png"), ["24x24-q80.webp"], .fast)], id: "first")
        let worker = try place.worker(untilIdle: false)
        try await eventually { try hosts(place).map(\.state) == ["open"] }
        let row = try #require(try hosts(place).first)
        #expect(row.host == host && (row.limit ?? 0) >= 2 && row.since == nil && row.until == nil)

        #expect(try place.run("origins", "block", "127.0.0.1:\(place.origin.port)", "--for", "1h").status == 0)
        await worker.says("The host is blocked")
        let jobs: [(url: String, variants: [String], lane: Lane)] = (0..<8).map {
            (place.origin.url("/\($0).png"), ["24x24-q80.webp"], $0 % 2 == 0 ? .fast : .slow)
        }
        try place.publish(jobs)
        try await eventually {
            guard let row = try hosts(place).first else { return false }
            return row.state == "blocked" && row.waitingFast == 4 && row.waitingSlow == 4 && row.until != nil
        }
        #expect(place.origin.requestCount == 1)
        #expect(try place.run("origins").output.contains("blocked"))
        #expect(try place.run("origins", "unblock", host).status == 0)
        try await eventually { try await place.outcomes().count == 9 }
        try await eventually {
            try hosts(place).allSatisfy { $0.state == "open" && $0.waitingFast == 0 && $0.waitingSlow == 0 }
        }
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
        // Of one that ended nothing is left to be added to what others ask.
        let last = try await place.records(.origins).compactMap { OriginRow($0) }.last
        #expect(last?.by != OriginRow.operatorName && last?.limit == 0)
        // While no worker lives nobody knows: that is not 0.
        let unknown = try #require(try hosts(place).first)
        #expect(unknown.state == "open" && [unknown.limit, unknown.inFlight] == [nil, nil])
        #expect([unknown.waitingFast, unknown.waitingSlow] == [nil, nil])
        // A name alone means its servers at all ports that are known, and at the usual ones.
        func named(_ settings: String...) throws -> [String] {
            let words = ["origins", "block", "127.0.0.1", "--json"] + settings.flatMap { ["--set", $0] }
            let output = try place.run(words).output
            return try JSONDecoder().decode([[String: String]].self, from: Data(output.utf8)).compactMap { $0["host"] }
        }
        #expect(try named() == [host, "http://127.0.0.1", "https://127.0.0.1"].sorted())
        // In a group they are asked as one.
        #expect(try named("origins.cdn.hosts=[127.0.0.1]") == ["cdn"])
        #expect(try place.run("origins", "block").status == 2)
        for words in [
            ["block", host, "--for", "soon"], ["--for", "1h"], ["unblock", host, "--for", "1h"],
            ["block", host, "--watch"], ["blok", host],
        ] {
            #expect(try place.run(["origins"] + words).status == 2, "\(words)")
        }
    }

    @Test("A host that is opened again is asked at once, though its job stands behind one of a host that stays blocked")
    func behindAnother() async throws {
        let place = try place("log.partitions=1")
        let other = try LocalOrigin()
        place.origin.serve("/a.png", picture)
        other.serve("/a.png", picture)
        let worker = try place.worker(untilIdle: false)
        await worker.says("The worker runs")
        let hosts = [place.origin, other].map { "http://127.0.0.1:\($0.port)" }
        for (number, origin) in [place.origin, other].enumerated() {
            #expect(try place.run("origins", "block", hosts[number], "--for", "2h").status == 0)
            await worker.says("The host is blocked", times: number + 1)
            try place.publish([(origin.url("/a.png"), ["24x24-q80.webp"], .slow)], id: "\(origin.port)")
            try await eventually { try await place.parkedRows().count == number + 1 }
        }
        #expect(try place.run("origins", "unblock", hosts[1]).status == 0)
        try await eventually { try await place.outcomes().map(\.job) == ["\(other.port)-0"] }
        #expect(place.origin.requestCount == 0)
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }
}
