import Canonical
import Clocks
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@Suite("mezzotint dead: filters, and what a replay publishes", .timeLimit(.minutes(1)))
struct DeadCommandTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) throws -> Ended { try run(words) }
    private func run(_ words: [String]) throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data"] + words, in: folder.url)
    }

    private func listed(_ words: String...) throws -> [String?] {
        let ended = try run(["dead", "list", "--json"] + words)
        let deadLetters = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [NSDictionary]
        return try #require(deadLetters).map { $0["id"] as? String }
    }

    private func object(_ words: String...) throws -> (status: Int32, report: NSDictionary, errors: String) {
        let ended = try run(["dead", "replay", "--json"] + words)
        let report = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? NSDictionary
        return (ended.status, try #require(report), ended.errors)
    }

    private static let good = #"{"url":"http://a.example/b.jpg","variants":["8x8.png"]}"#

    private func deadLetter(
        _ number: Int, code: String = "render.crashed", url: String? = nil, body: String = good, replays: Int = 0
    ) -> NewRecord {
        let headers: RecordHeaders = replays > 0 ? [RecordHeader("mz_replays", "\(replays)")] : []
        let record = Record(
            topic: number == 1 ? .jobsSlow : .jobsFast, partition: PartitionID(2), offset: Int64(number), timestamp: 0,
            key: Array("k\(number)".utf8), value: Array(body.utf8), headers: headers)
        return DeadLetter(
            of: record, id: "job-\(number)", cause: FailureNote(code: code, message: "m", verdict: .deadLetter),
            attempts: 1, url: url.map { SourceURL($0) }, at: 1
        ).newRecord(partition: PartitionID(2))
    }

    private func append(_ records: [NewRecord]) async throws {
        let log = try EmbeddedLog(folder.file("data/log"))
        for result in await log.append(records) { #expect(result.offset != nil) }
        await log.close()
    }

    private func records(_ topic: Topic) async throws -> [Record] {
        let log = try EmbeddedLog(folder.file("data/log"))
        var all: [Record] = []
        for partition in log.partitions { all += try await log.read(topic, partition, from: 0, limit: 100) }
        await log.close()
        return all
    }

    @Test("Dead letters are published again on their lanes under their ids and go off the list; an invalid job stays")
    func replay() async throws {
        try await append(
            (0..<4).map { deadLetter($0, code: $0 < 2 ? "render.crashed" : "job.x", body: $0 < 3 ? Self.good : "{}") })
        #expect(try run("dead", "replay").status == 2)
        #expect(try run("dead", "replay", "--code", "render.crashed", "--limit", "0").status == 2)
        let both = try run("dead", "replay", "--code", "render.crashed", "job-0")
        #expect(both.status == 2 && both.errors.contains("Give either ids or a filter"))
        #expect(try run("dead", "replay", "job-0", "--limit", "3").errors.contains("--limit requires a filter"))
        let none = try run("dead", "replay", "--code", "nosuch")
        #expect(none.status == 1 && none.output == "Replayed 0.\n")
        #expect(none.errors == "No dead letter matches. 'mezzotint dead list' lists them all.\n")
        let replayed = try run("dead", "replay", "--code", "render.crashed")
        #expect(replayed.status == 0, "\(replayed.errors)")
        #expect(
            replayed.lines.first?.hasPrefix("CODE") == true
                && replayed.lines[1].firstMatch(of: #/^render\.crashed +2 /#) != nil)
        #expect(replayed.lines.suffix(3) == ["job-0 → job-0/outcome/1", "job-1 → job-1/outcome/1", "Replayed 2."])
        for (id, topic) in [("job-0", Topic.jobsFast), ("job-1", .jobsSlow)] {
            let record = try #require(try await records(topic).first { $0.header("ce_id") == id })
            #expect(record.header("mz_replays") == "1" && record.value == Array(Self.good.utf8))
            #expect(try run("outcomes", "--job", id).errors.contains("is pending in \(topic.rawValue)"))
        }
        let rest = try object("job-2", "job-3", "job-9")
        #expect(rest.status == 1 && rest.report["replayed"] as? Int == 1 && rest.report["left"] as? Int == 1)
        #expect(
            rest.report["ids"] as? [NSDictionary] == [["from": "job-2", "id": "job-2", "replays": 1]],
            "\(rest.report)")
        #expect(rest.errors.contains("No dead letter has the id 'job-9'") && rest.errors.contains("Dead letter 'job-3': "))
        #expect(try listed() == ["job-3"])
        // A second time, when it is no longer there.
        #expect(try run("dead", "replay", "job-2").errors.contains("The dead letter 'job-2' was replayed at 20"))
    }

    @Test("A list and a dry run show what filters let through; the dry run publishes nothing")
    func filters() async throws {
        try await append([
            deadLetter(0, code: "fetch.server-error", url: "https://a.example/1.jpg"),
            deadLetter(1, code: "fetch.server-error", url: "https://b.example/1.jpg"),
            deadLetter(2, code: "render.crashed", url: "https://a.example/2.jpg"), deadLetter(3, code: "job.empty", body: "{}"),
        ])
        #expect(try listed("--host", "a.example") == ["job-0", "job-2"])
        #expect(try listed("--host", "a.example", "--code", "render.crashed") == ["job-2"])
        #expect(try listed("--since", "1h").count == 4 && listed("--until", "1h").isEmpty)
        #expect(try listed("--since", "2100-01-01").isEmpty && listed("--until", "2100-01-01T00:00:00Z").count == 4)
        #expect(try run("dead", "list", "--host", "c.example").output == "No dead letter matches.\n")
        for words in [["--since", "yesterday"], ["--host", "::"], ["--until", "2026-13-01T00:00:00Z"]] {
            #expect(try run(["dead", "list"] + words).status == 2, "\(words)")
            #expect(try run(["dead", "replay"] + words).status == 2, "\(words)")
        }
        let dry = try object("--since", "1h", "--dry-run", "--limit", "4")
        #expect(dry.status == 1 && dry.report["replayed"] as? Int == 0 && dry.report["wouldReplay"] as? Int == 3)
        #expect(dry.report["left"] as? Int == 4 && dry.errors.contains("Dead letter 'job-3': "))
        let reasons = try #require(dry.report["reasons"] as? [NSDictionary])
        #expect(reasons.map { $0["code"] as? String } == ["fetch.server-error", "job.empty", "render.crashed"])
        #expect(
            reasons.map { $0["letters"] as? Int } == [2, 1, 1] && reasons.map { $0["hosts"] as? Int } == [2, 0, 1])
        let text = try run("dead", "replay", "--host", "a.example", "--dry-run")
        #expect(text.status == 0 && text.lines.last == "Would replay 2.", "\(text.output)")
        let published = try await records(.jobsFast)
        #expect(try listed().count == 4 && published.isEmpty)
    }

    @Test("A job is replayed three times at most, or as often as an option says, and stays on the list then")
    func cap() async throws {
        try await append([deadLetter(0, replays: 2), deadLetter(2, replays: 3)])
        let capped = try object("--code", "render.crashed")
        #expect(capped.status == 1 && capped.report["replayed"] as? Int == 1 && capped.report["left"] as? Int == 1)
        #expect(capped.errors.contains("Dead letter 'job-2': its job was replayed 3 times and died each time."))
        #expect(try listed() == ["job-2"])
        #expect(try run("dead", "show", "job-2").lines.contains { $0.split(separator: " ") == ["replays", "3"] })
        #expect(
            try run("dead", "replay", "job-2", "--max-replays", "4").lines == [
                "job-2 → job-2/outcome/4", "Replayed 1.",
            ])
    }

    @Test("A dead letter of a replay that came before the first one left the list stays on it")
    func early() async throws {
        try await append([deadLetter(0), deadLetter(0, replays: 1)])
        let log = try EmbeddedLog(folder.file("data/log"))
        let first = try #require(try await log.standingDeadLetters(in: PartitionID(2)).deadLetters.first)
        _ = await log.append([first.discard(partition: PartitionID(2), at: 2, replayedAs: "job-0")])
        #expect(try await log.standingDeadLetters(in: PartitionID(2)).deadLetters.map(\.replays) == [1])
        await log.close()
    }

    @Test("Without a worker, a ramp publishes one job, and says when it stops waiting")
    func noWorker() async throws {
        try await append((0..<4).map { deadLetter($0) })
        let ended = try run(
            "dead", "replay", "--code", "render.crashed", "--ramp", "--timeout", "300ms", "--rate", "50")
        #expect(ended.status == 1 && ended.lines.last == "Replayed 1. 3 stay on the list.")
        #expect(
            ended.errors.contains("The replay stopped: 1 of 1 jobs of the last batch have no outcome after 300 ms."))
        #expect(try run("dead", "replay", "job-1", "--timeout", "1s").status == 2)
    }
}
