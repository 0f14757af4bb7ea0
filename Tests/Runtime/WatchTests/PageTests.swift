import Canonical
import Clocks
import Digest
import Failures
import Foundation
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@testable import Watch

@Suite("What the page's tables and squares show", .timeLimit(.minutes(1)))
struct PageTests {
    private static func page(_ scene: Scene) -> String { String(decoding: scene.report.page, as: UTF8.self) }

    @Test(
        "Squares without an owner alarm while a job is pending, and not after a run that left none",
        arguments: [(pending: 0, alarms: false), (pending: 1, alarms: true)] as [(pending: Int64, alarms: Bool)])
    func unowned(pending: Int64, alarms: Bool) {
        var scene = Scene()
        scene.publish(pending, to: .jobsFast, 0)
        (scene.owners, scene.workers) = ([:], [])
        scene.look(10)
        let page = Self.page(scene)
        #expect(page.contains("4 partitions: 4 without an owner."))
        #expect(page.contains("<path class=unowned ") == alarms && page.contains("<path class=rest ") == !alarms)
    }

    @Test(
        "A parked job is as old as its job on the page, in the JSON and in the squares, whether its row was sampled or not",
        arguments: [
            (seconds: 3, isSampled: true, cell: "1, 3 s", late: 0),
            (seconds: 90, isSampled: true, cell: "1, 1 min 30 s", late: 1),
            (seconds: 90, isSampled: false, cell: "1, 1 min 30 s", late: 1),
        ] as [(seconds: Int64, isSampled: Bool, cell: String, late: Int)])
    func parked(seconds: Int64, isSampled: Bool, cell: String, late: Int) throws {
        var scene = Scene()
        scene.look(20)
        scene.park(1, code: "fetch.connection", host: "https://a.example", seconds: seconds, isSampled: isSampled)
        let page = Self.page(scene)
        #expect(page.contains(">\(cell)<"), "\(page)")
        #expect(page.contains("4 partitions: \(4 - late) in time\(late > 0 ? ", \(late) late" : "")."))
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(scene.report.json)) as? [String: Any])
        let retry = try #require((json["partitions"] as? [[String: Any]])?.first?["parked"] as? [String: Any])
        #expect(retry["seconds"] as? Double == Double(seconds) && retry["records"] as? Int == 1)
    }

    /// Two old retry topics of partition 0 have a record each; nil: not sampled.
    @Test(
        "A job in an old retry topic is as old as its job on the page, in the JSON and in the squares",
        arguments: [
            (sampled: [1, 3], seconds: 3.0, cell: "2, 3 s", late: 0),
            (sampled: [90, 3], seconds: 90, cell: "2, 1 min 30 s", late: 1),
            (sampled: [90, nil], seconds: nil, cell: "2, age unknown", late: 1),
            (sampled: [nil, nil], seconds: nil, cell: "2, age unknown", late: 0),
        ] as [(sampled: [Int64?], seconds: Double?, cell: String, late: Int)])
    func retries(sampled: [Int64?], seconds: Double?, cell: String, late: Int) throws {
        var scene = Scene()
        for topic in [Topic.retry10s, .retry1m] { scene.publish(1, to: topic, 0) }
        scene.look(20)
        for (topic, age) in zip([Topic.retry10s, .retry1m], sampled) {
            // The record itself was appended a second ago.
            scene.head(topic, 0, seconds: 1)
            guard let age else { continue }
            var sample = PlaceSample(topic, PartitionID(0))
            sample.count(
                .init(lane: "fast", host: "https://a.example", code: "fetch.connection"),
                since: scene.now - .seconds(age))
            scene.apply(.sample(sample))
        }
        let page = Self.page(scene)
        #expect(page.contains(">\(cell)<"), "\(page)")
        #expect(page.contains("4 partitions: \(4 - late) in time\(late > 0 ? ", \(late) late" : "")."))
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(scene.report.json)) as? [String: Any])
        let retry = try #require((json["partitions"] as? [[String: Any]])?.first?["parked"] as? [String: Any])
        #expect(retry["seconds"] as? Double == seconds && retry["records"] as? Int == 2)
    }

    /// `told`: the code of the job's outcome; nil: none was read.
    @Test(
        "A failed job is one row, whatever the codes of its outcome and its dead letter",
        arguments: [
            (deadLetter: "fetch.connection", told: "fetch.unreachable", rows: ["fetch.unreachable 1 1"]),
            (deadLetter: "retry.host-given-up", told: "fetch.unreachable", rows: ["fetch.unreachable 1 1"]),
            (deadLetter: "fetch.server-error", told: "fetch.server-error", rows: ["fetch.server-error 1 1"]),
            (deadLetter: "fetch.connection", told: nil, rows: ["fetch.connection 0 1"]),
            (deadLetter: "job.not-json", told: "fetch.unreachable", rows: ["fetch.unreachable 1 0", "job.not-json 0 1"]),
        ] as [(deadLetter: String, told: String?, rows: [String])])
    func oneRow(deadLetter: String, told: String?, rows: [String]) {
        let host = "http://127.0.0.1:51255"
        var scene = Scene()
        scene.look()
        for number in 0..<4 {
            var change = DeadLetterChange(PartitionID(Int32(number)), isWhole: true)
            if number == 0 {
                change.added = [
                    .init(
                        id: "j1", code: deadLetter, host: host, at: scene.now,
                        origin: RecordOrigin(topic: .jobsFast, partition: PartitionID(0), offset: 0), offset: 0,
                        message: "It is not there.")
                ]
            }
            scene.apply(.deadLetters(change))
        }
        if let told { scene.end(.dead, 1, code: told, host: host, message: "It is not there.") }
        let failures = scene.report.failures
        #expect(failures.map { "\($0.code) \($0.count) \($0.standing ?? -1)" } == rows)
        for failure in failures {
            #expect(failure.first == scene.now && failure.last == scene.now && failure.job == "j1")
            #expect(failure.message == "It is not there.")
        }
        #expect(!Self.page(scene).contains("unknown, unknown"))
    }

    @Test("Each cell has its column's name for narrow windows, and codes stay on one line")
    func narrow() {
        var scene = Scene()
        scene.look()
        scene.park(3, code: "fetch.connection", host: "http://127.0.0.1:45989")
        scene.tell("http://127.0.0.1:45989", .blocked, code: "fetch.connection")
        scene.end(.failed, 2, code: "fetch.unreachable", host: "http://127.0.0.1:45989", message: "It is not there.")
        let page = Self.page(scene)
        #expect(page.contains("<td data-title=\"Code\" class=c>fetch.unreachable</td>"))
        #expect(page.contains("<td data-title=\"Why\" class=c>fetch.connection</td>"))
        for table in page.components(separatedBy: "<table>").dropFirst() {
            let head = table.prefix(while: { $0 != "\n" }).components(separatedBy: "</thead>")[0]
            let titles = head.matches(of: /<th [^>]*>([^<]*)</).map { String($0.1) }
            let body = table.components(separatedBy: "</tbody>")[0]
            for row in body.components(separatedBy: "<tr>").dropFirst(2) {
                #expect(row.matches(of: /<td data-title="([^"]*)"/).map { String($0.1) } == titles)
                #expect(row.components(separatedBy: "<td").count == titles.count + 1)
            }
        }
    }

    /// `until`: seconds from now until the retry is due and until its host's block ends; nil: it is not blocked.
    @Test(
        "A source's job waits until its retry is due and its host's block is over",
        arguments: [
            (due: -5, block: nil, says: "A job of this source waits in parked after retry.host-blocked, due."),
            (
                due: -5, block: 16,
                says: "A job of this source waits in parked after retry.host-blocked until \(Self.clock(16))."
            ),
            (
                due: 30, block: 16,
                says: "A job of this source waits in parked after retry.host-blocked until \(Self.clock(30))."
            ),
            (
                due: 30, block: nil,
                says: "A job of this source waits in parked after retry.host-blocked until \(Self.clock(30))."
            ),
        ] as [(due: Int64, block: Int64?, says: String)])
    func source(due: Int64, block: Int64?, says: String) {
        var scene = Scene()
        scene.look()
        if let block {
            var row = OriginRow(host: "https://a.example", by: "w1", at: scene.now)
            (row.state, row.code, row.until) = (.blocked, "fetch.connection", scene.now + .seconds(block))
            scene.apply(.hosts([row]))
        }
        let first = RecordOrigin(topic: .jobsFast, partition: PartitionID(0), offset: 3)
        let note = RetryNote(
            job: "a", lane: .fast, attempt: 1, notBefore: scene.now + .seconds(due), firstSeen: 77,
            cause: FailureNote(code: "retry.host-blocked", message: "m", verdict: .retry), origin: first)
        let row = ParkedRow(
            SourceKey(SHA256.digest(of: [])), JobIdentity(ofOwn: "a"), note, host: OriginHost(group: "https://a.example"),
            worksAs: .fast, body: Array("{\"url\":\"https://a.example/x.jpg\",\"variants\":[\"8x8.png\"]}".utf8)
        ).newRecord(partition: PartitionID(0), at: scene.now)
        let record = Record(
            topic: .parked, partition: PartitionID(0), offset: 0, timestamp: scene.now, key: row.key, value: row.value,
            headers: row.headers)
        var report = SourceReport(url: "https://a.example/x.jpg", key: "0f", partition: 0)
        report.waiting = RecordReading(rules: CanonicalRules()).waiting(
            [record], blocked: scene.state.blockedHosts(at: scene.now))
        #expect(String(decoding: report.page(at: scene.now), as: UTF8.self).contains("<p>\(says)</p>"))
    }

    /// After the one look of a scene.
    private static func clock(_ seconds: Int64) -> String {
        let now = Scene.start + 2_000
        return Words.clock(now + .seconds(seconds), at: now)
    }
}
