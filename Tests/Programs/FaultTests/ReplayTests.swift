import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Replays of dead letters, by a real worker", .timeLimit(.minutes(2)))
struct ReplayTests {
    @Test(
        "A ramp stops while the origin fails, and goes to the end once it does not; each replay has an outcome of its own"
    )
    func ramp() async throws { try await ramp(at: try Workplace("retry.attempts=1")) }

    @Test("The same on Kafka", .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func rampOnKafka() async throws {
        let broker = try await KafkaBroker.shared.value
        try await ramp(at: try await Workplace.onKafka(broker, partitions: 3, "retry.attempts=1"))
    }

    private func ramp(at place: Workplace) async throws {
        let picture = Workplace.picture(1).png
        let paths = (0..<13).map { "/\($0).png" }
        for path in paths { place.origin.serve(path, .status(500)) }
        try place.publish(paths.map { (place.origin.url($0), ["32x32.png"], .slow) })
        #expect(try await place.work()["dead"] == 13)
        let worker = try place.worker(untilIdle: false)

        let stopped = try place.run("dead", "replay", "--host", "127.0.0.1", "--ramp", "--json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(stopped.output.utf8)) as? NSDictionary)
        #expect(stopped.status == 1 && report["replayed"] as? Int == 1 && report["left"] as? Int == 12)
        #expect(stopped.errors.contains("1 of 1 jobs of the last batch failed, the newest with fetch.server-error."))
        let first = try #require((report["ids"] as? [NSDictionary])?.first?["id"] as? String)
        try await eventually { try await place.outcomes().count { $0.job == first } == 2 }
        #expect(try place.run("dead", "show", first).lines.contains { $0.split(separator: " ") == ["replays", "1"] })

        for path in paths { place.origin.serve(path, .bytes(picture, type: "image/png")) }
        let whole = try place.run("dead", "replay", "--code", "fetch.server-error", "--ramp", "--rate", "1000")
        #expect(whole.status == 0 && whole.lines.last == "Replayed 13.", "\(whole.errors)")
        #expect(try place.run("dead", "list").output == "There are no dead letters.\n")
        try await eventually { try await place.outcomes().count { $0.kind == .stored } == 13 }
        let waited = try place.run("publish", "--wait", "--variants", "16x16.png", place.origin.url(paths[0]))
        #expect(waited.status == 0 && waited.lines.count == 2, "\(waited.output)\(waited.errors)")
        worker.signal(15)
        _ = try await worker.ended()
        let ids = try await place.records(.outcomes).compactMap { $0.header("ce_id") }
        #expect(Set(ids).count == 28)
        #expect(try place.run("outcomes", "--json").lines.count == ids.count)
        #expect(try place.run("outcomes", "--failed", "--job", first).lines.count == 2)
        let why = try place.run("why", "--json", place.origin.url(paths[0]), "8x8.png")
        #expect(why.status == 0 && why.output.contains("\"lastFetch\":{"), "\(why.errors)")
        #expect(
            ids.filter { $0.hasPrefix(first + "/") } == [
                "\(first)/outcome", "\(first)/outcome/1", "\(first)/outcome/2",
            ])
        let shown = try place.run("outcomes", "--job", first, "--json")
        let found = try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? NSDictionary
        let ended = try #require(found?["outcomes"] as? [NSDictionary])
        #expect(ended.map { $0["kind"] as? String } == ["dead", "dead", "stored"])
        #expect(ended.map { $0["replays"] as? Int } == [0, 1, 2])
        #expect(ended.map { $0["replayedAs"] as? String } == [first, first, nil])
    }
}
