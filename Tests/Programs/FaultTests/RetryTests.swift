import Canonical
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Jobs that fail for now, come to the wrong partition, or come too late", .timeLimit(.minutes(2)))
struct RetryTests {
    private let picture = LocalOrigin.Answer.bytes(
        Pixels.photograph(width: 120, height: 90, seed: 9).png, type: "image/png")

    @Test("An origin that comes back: the job is stored, and its attempts counted")
    func comesBack() async throws {
        let place = try Workplace()
        place.origin.serve("/a.png", .status(503), .status(503), picture)
        try place.publish([(place.origin.url("/a.png"), ["32x32-q80.webp"], .slow)])
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["stored"] == 1 && summary["fetches"] == 1 && summary["requests"] == 3)
        let outcome = try #require(try await place.outcomes().first)
        #expect(outcome.kind == .stored && outcome.attempts == 2 && outcome.lane == .slow && outcome.job == "job-0")
    }

    @Test("One that does not: after retry.attempts a dead letter with the original bytes, listed, shown and discarded")
    func dead() async throws {
        let place = try Workplace("retry.attempts=3")
        place.origin.serve("/a.png", .status(500))
        let url = place.origin.url("/a.png")
        try place.publish([(url, ["32x32-q80.webp"], .fast)])
        let original = try #require(try await place.records(.jobsFast).first?.value)
        #expect(try await place.work()["dead"] == 1)
        #expect(place.origin.requestCount == 3)

        let listed = try place.run("dead", "list", "--json")
        let deadLetters = try #require(
            try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [NSDictionary])
        let deadLetter = try #require(deadLetters.first)
        #expect(
            deadLetters.count == 1 && deadLetter["code"] as? String == "fetch.server-error"
                && deadLetter["attempts"] as? Int == 3)
        #expect(deadLetter["url"] as? String == url)
        let message = "The origin answered 500 for \(url). Gave up after 3 attempts (retry.attempts)."
        #expect(deadLetter["message"] as? String == message)
        #expect(try await place.outcomes().first?.failure?.message == message)
        let id = try #require(deadLetter["id"] as? String)
        #expect(try place.run("dead", "show", id).output.contains(String(decoding: original, as: UTF8.self)))
        #expect(try place.run("dead", "discard", id).status == 0)
        #expect(try place.run("dead", "list", "--json").output.trimmingCharacters(in: .whitespacesAndNewlines) == "[]")
        let discarded = try place.run("dead", "show", id)
        #expect(discarded.status == 1 && discarded.errors.contains("The dead letter '\(id)' was discarded at 20"))
    }

    @Test(
        "A dead letter that was replayed names the time and the new job, to whoever shows, replays or discards it again"
    )
    func replayed() async throws {
        let place = try Workplace("retry.attempts=1")
        place.origin.serve("/a.png", .status(500))
        try place.publish([(place.origin.url("/a.png"), ["32x32-q80.webp"], .fast)])
        #expect(try await place.work()["dead"] == 1)
        let listed = try place.run("dead", "list", "--json")
        let deadLetters = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [NSDictionary]
        let id = try #require(deadLetters?.first?["id"] as? String)
        let replayed = try place.run("dead", "replay", id, "--json")
        let report = try JSONSerialization.jsonObject(with: Data(replayed.output.utf8)) as? [String: Any]
        let job = try #require((report?["ids"] as? [[String: Any]])?.first?["id"] as? String)
        #expect(job == id)
        for words in [["show", id], ["replay", id], ["discard", id]] {
            let again = try place.run("dead", words[0], words[1])
            #expect(again.status == 1 && again.errors.contains("The dead letter '\(id)' was replayed at 20"))
            #expect(again.errors.contains(" as job '\(job)'. 'mezzotint outcomes --job ID' shows"))
        }
    }

    @Test("Each retry is logged with its attempt, the next one's time and when the job is given up")
    func logged() async throws {
        let place = try Workplace("retry.base=50ms", "retry.attempts=3")
        let port = try #require((20_000..<31_000).shuffled().first(where: KafkaBroker.isFree))
        let url = "http://127.0.0.1:\(port)/a.png"
        try place.publish([(url, ["32x32-q80.webp"], .fast)])
        let ended = try await place.worker().ended()
        let lines = ended.errors.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }.filter { $0["code"] as? String == "fetch.connection" && $0["job"] != nil }
        let texts = lines.compactMap { $0["msg"] as? String }
        #expect(texts.count == 3, "\(ended.errors)")
        for (index, text) in texts.prefix(2).enumerated() {
            #expect(text.hasPrefix("The connection for \(url) failed: "), "\(text)")
            #expect(text.contains(". Attempt \(index + 1) of 3 failed. Next attempt in 0."), "\(text)")
            #expect(text.contains(#/s; gives up at 20\d\d-\d\d-\d\dT[\d:.]+Z\.$/#), "\(text)")
            #expect(lines[index]["attempt"] as? Int == index + 1 && lines[index]["nextAt"] is String)
        }
        #expect(
            texts.last?.hasSuffix(" Check that the host responds. Gave up after 3 attempts (retry.attempts).") == true)
    }

    @Test("A refused address is not asked, and counts as no request")
    func unasked() async throws {
        let place = try Workplace()
        try place.publish([("http://169.254.169.254/a.png", ["32x32.png"], .fast)])
        let summary = try Summary(try await place.worker().ended())
        #expect(summary["failed"] == 1 && summary["requests"] == 0)
    }

    @Test("A retry that waits when the worker stops is done at the next start, and --until-idle waits for it")
    func kept() async throws {
        let place = try Workplace("retry.base=2s", "retry.cap=2s")
        place.origin.serve("/a.png", .status(503), picture)
        try place.publish([(place.origin.url("/a.png"), ["32x32-q80.webp"], .fast)])
        let worker = try place.worker()
        await worker.says("fetch.server-error")
        worker.signal(SIGINT)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try Summary(ended)["jobs"] == 0)
        #expect(try await place.outcomes().isEmpty)
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["stored"] == 1)
        #expect(place.origin.requestCount == 2)
    }

    @Test("A parked job that is due after the worker's patience does not keep it")
    func impatient() async throws {
        let place = try Workplace("retry.base=5s", "retry.cap=5s")
        place.origin.serve("/a.png", .status(500))
        try place.publish([(place.origin.url("/a.png"), ["32x32-q80.webp"], .fast)])
        let ended = try await place.worker([], patience: "0s").ended()
        let summary = try Summary(ended)
        #expect(ended.status == 0 && summary["jobs"] == 0 && summary["waiting"] == 1, "\(ended.errors)")
        #expect(place.origin.requestCount == 1)
        let url = place.origin.url("/a.png")
        let shown = try place.run("outcomes", "--url", url)
        #expect(shown.output.contains("fetch.server-error"), "\(shown.output)")
        #expect(
            shown.status == 1
                && shown.errors.contains(
                    "is pending in parked: no outcome yet, its last attempt failed (fetch.server-error)."),
            "\(shown.errors)")
        let told = try place.run("outcomes", "--json", "--url", url).output
        #expect(told.contains("\"code\":\"fetch.server-error\",\"message\":\"The origin answered 500"), "\(told)")
    }

    @Test("A job whose time is over is answered as expired, without a fetch")
    func expired() async throws {
        let place = try Workplace()
        place.origin.serve("/a.png", picture)
        let url = place.origin.url("/a.png")
        let line = "{\"url\":\"\(url)\",\"variants\":[\"10x10.png\"],\"expires\":978307200000}"
        let published = try place.run("publish", "-", input: line)
        #expect(published.status == 0, "\(published.errors)")
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["expired"] == 1 && place.origin.requestCount == 0)
    }

    @Test("A job that a foreign producer put on the wrong partition is done once, on the right one")
    func rekeyed() async throws {
        let place = try Workplace()
        place.origin.serve("/a.png", picture)
        let url = place.origin.url("/a.png")
        let right = try CanonicalRules().source(of: url).key.partition(of: 8)
        let wrong = PartitionID((right.number + 3) % 8)
        let body = Array("{\"url\":\"\(url)\",\"variants\":[\"32x32-q80.webp\"]}".utf8)
        try await place.append([NewRecord(topic: .jobsSlow, partition: wrong, key: Array("theirs".utf8), value: body)])
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["stored"] == 1 && summary["fetches"] == 1)
        let outcomes = try await place.records(.outcomes)
        #expect(outcomes.map(\.partition) == [right])
        #expect(try OutcomeReport(outcomes[0]).job == "jobs.slow-\(wrong)-0")
    }

    @Test(
        "A job that the owner of its own partition sent away is done where it stands: two who count otherwise would send it for ever"
    )
    func sentBack() async throws {
        let place = try Workplace()
        place.origin.serve("/a.png", picture)
        let url = place.origin.url("/a.png")
        let home = try CanonicalRules().source(of: url).key.partition(of: 8)
        let other = PartitionID((home.number + 3) % 8)
        let body = Array("{\"url\":\"\(url)\",\"variants\":[\"32x32-q80.webp\"]}".utf8)
        var headers = RecordHeaders()
        headers.append(EventHeader.rekeyed, "jobs.slow-\(home)-7")
        try await place.append([
            NewRecord(topic: .jobsSlow, partition: other, key: Array("k".utf8), value: body, headers: headers)
        ])
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["stored"] == 1)
        #expect(try await place.records(.outcomes).map(\.partition) == [other])
        #expect(try await place.records(.jobsSlow).map(\.partition) == [other])
    }
}
