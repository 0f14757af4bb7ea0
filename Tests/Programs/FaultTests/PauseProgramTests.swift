import Failures
import Foundation
import ImageModel
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("Pauses, from the command to the worker", .timeLimit(.minutes(5)))
struct PauseProgramTests {
    private func listed(_ place: Workplace) throws -> [NSDictionary] {
        let ended = try place.run("control", "list", "--json")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [NSDictionary])
    }

    private func states(_ place: Workplace) throws -> [String] {
        try listed(place).map { "\($0["kind"] ?? "") \($0["state"] ?? "")" }
    }

    /// The slow lane is paused and resumed, and the worker is killed in between.
    private func survives(_ place: Workplace) async throws {
        let urls = place.draw(4)
        var worker = try place.worker(untilIdle: false)
        // There is a log now.
        try place.publish([(urls[3], ["16x16.png"], .slow)], id: "first")
        try await eventually { try await place.outcomes().count == 1 }
        let paused = try place.run("pause", "--lane", "slow", "--for", "1h", "--by", "ana", "--why", "a new disk")
        #expect(
            paused.status == 0 && paused.output.contains(" pause lane slow until "), "\(paused.output)\(paused.errors)")
        try await eventually { try states(place) == ["pause active"] }
        try place.publish([(urls[0], ["16x16.png"], .slow)], id: "slow")
        try place.publish([(urls[1], ["16x16.png"], .fast)], id: "fast")
        try await eventually { try await place.outcomes().count == 2 }
        #expect(Set(try await place.outcomes().map(\.job)) == ["first-0", "fast-0"])
        worker.signal(9)
        _ = try await worker.ended()
        worker = try place.worker(untilIdle: false)
        try place.publish([(urls[2], ["16x16.png"], .fast)], id: "later")
        try await eventually { try await place.outcomes().count == 3 }
        let lag = try place.run("lag")
        #expect(lag.output.contains(" pauses the slow lane until "), "\(lag.output)")
        let control = try #require(try listed(place).first)
        #expect(control["by"] as? String == "ana" && control["why"] as? String == "a new disk")
        #expect(control["named"] as? NSDictionary == ["lane": "slow"] && control["until"] is String)
        let resumed = try place.run("resume", "--all")
        #expect(
            resumed.output.contains("Ends the pause of the slow lane until ") && resumed.output.contains(" by ana."))
        try await eventually { try await place.outcomes().count == 4 }
        try await eventually { try states(place) == ["pause applied", "resume applied"] }
        #expect(try place.run("control", "list").output.contains("ended a pause"))
        worker.signal(15)
        #expect(try await worker.ended().status == 0)
        #expect(place.origin.requests(of: "/0.png") == 1)
    }

    @Test("A paused slow lane waits over a kill, is seen, and continues after the resume")
    func embedded() async throws { try await survives(Workplace()) }

    @Test("The same on Kafka", .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func kafka() async throws {
        let broker = try await KafkaBroker.shared.value
        try await survives(try await Workplace.onKafka(broker, partitions: 3))
    }

    @Test("A run until idle whose jobs are paused for longer than its patience ends with status 1, and says so")
    func untilIdle() async throws {
        let place = try Workplace()
        let urls = place.draw(2)
        try place.publish([(urls[0], ["16x16.png"], .fast)])
        #expect(try place.run("pause", "--host", "127.0.0.1").status == 0)
        let ended = try await place.worker([], patience: "1s").ended()
        #expect(ended.status == 1 && ended.errors.contains("pauses host 127.0.0.1 until "), "\(ended.errors)")
        #expect(try await place.outcomes().isEmpty)
        #expect(try await place.parkedRows().map(\.note.cause.code) == ["retry.paused"])
        #expect(try place.run("resume", "--host", "127.0.0.1").status == 0)
        #expect(try await place.work()["stored"] == 1)
    }
}
