import Foundation
import ImageModel
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("Controls, from the command to the worker", .timeLimit(.minutes(3)))
struct ControlProgramTests {
    private func listed(_ place: Workplace) throws -> [NSDictionary] {
        let ended = try place.run("control", "list", "--json")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [NSDictionary])
    }

    /// A worker that parks a slow job of a broken source for an hour.
    private func parking(_ place: Workplace) async throws -> RunningProgram {
        place.origin.serve("/down.png", .status(503))
        try place.publish([(place.origin.url("/down.png"), ["16x16.png"], .slow)], id: "parked")
        let worker = try place.worker("retry.base=1h", "retry.cap=1h", untilIdle: false)
        try await eventually { try await place.parkedRows().count == 1 }
        return worker
    }

    @Test("Parked and unread jobs that are cancelled end so, without a request; later jobs of the same host are stored")
    func cancel() async throws {
        let place = try Workplace()
        let urls = place.draw(6)
        let worker = try await parking(place)
        worker.signal(15)
        #expect(try await worker.ended().status == 0)
        try place.publish(urls.dropLast().map { ($0, ["16x16.png"], .slow) }, id: "unread")
        let before = place.origin.requests(of: "/down.png")
        let cancelled = try place.run("cancel", "--host", "127.0.0.1", "--why", "abandoned")
        #expect(cancelled.output.contains(": 6 jobs (0 running, 1 parked, 5 unread)."), "\(cancelled.output)\(cancelled.errors)")
        try place.publish([(urls[5], ["16x16.png"], .slow)], id: "later")
        let summary = try await place.work("retry.base=1h", "retry.cap=1h")
        #expect(summary["cancelled"] == 6 && summary["stored"] == 1 && summary["waiting"] == 0)
        let outcomes = try await place.outcomes()
        #expect(outcomes.count { $0.kind == .cancelled } == 6)
        #expect(outcomes.filter { $0.kind == .stored }.map(\.job) == ["later-0"])
        #expect(place.origin.requests(of: "/down.png") == before && place.origin.requests(of: "/0.png") == 0)
        #expect(try await place.parkedRows().isEmpty)
        let control = try #require(try listed(place).first)
        #expect(control["state"] as? String == "applied" && control["jobs"] as? Int == 6, "\(control)")
        #expect(control["why"] as? String == "abandoned" && control["partitions"] as? Int == 8)
        #expect(control["named"] as? NSDictionary == ["host": "127.0.0.1"])
    }

    @Test("A parked job moves to the fast lane and back, and keeps its attempts and its age")
    func promote() async throws {
        let place = try Workplace()
        let worker = try await parking(place)
        let first = try #require(try await place.parkedRows().first)
        #expect(try place.run("promote", "--job", "parked-0").output.contains(": 1 job (0 running, 1 parked, 0 unread)."))
        try await eventually { try await place.parkedRows().first?.worksAs == .fast }
        let promoted = try #require(try await place.parkedRows().first)
        #expect(promoted.isMoved && promoted.note == first.note)
        #expect(try place.run("demote", place.origin.url("/down.png")).status == 0)
        try await eventually { try await place.parkedRows().first?.worksAs == .slow }
        try await eventually { try listed(place).allSatisfy { $0["state"] as? String == "applied" } }
        #expect(try listed(place).map { $0["kind"] as? String } == ["promote", "demote"])
        #expect(try place.run("cancel", "--job", "parked-0").status == 0)
        try await eventually { try await place.parkedRows().isEmpty }
        worker.signal(15)
        #expect(try await worker.ended().status == 0)
        #expect(try await place.outcomes().map(\.kind) == [.cancelled])
    }

    @Test("Where jobs.keys is set, a control without a signature changes nothing, and says so")
    func signed() async throws {
        let place = try Workplace("jobs.keys={k: {file: k.key}}")
        try Data("0123456789abcdef\n".utf8).write(to: place.folder.url.appending(path: "k.key"))
        let urls = place.draw(2)
        try place.publish(urls.map { ($0, ["16x16.png"], .fast) })
        for number in 0..<Int32(8) {
            try await place.append([
                NewRecord(
                    topic: .control, partition: PartitionID(number), key: [],
                    value: Array(#"{"kind":"cancel","job":"job-0"}"#.utf8))
            ])
        }
        #expect(try place.run("cancel", "--job", "job-1").status == 0)
        let summary = try await place.work()
        #expect(summary["stored"] == 1 && summary["cancelled"] == 1)
        let controls = try listed(place)
        #expect(controls.count == 9 && controls.count { $0["code"] as? String == "control.unsigned" } == 8)
        #expect(controls.first { $0["state"] as? String == "applied" }?["jobs"] as? Int == 1)
    }
}
