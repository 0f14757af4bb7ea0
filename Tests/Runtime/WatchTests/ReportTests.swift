import Clocks
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import Telemetry
import TestSupport
import Testing

@testable import Watch

@Suite("What is shown of a watch", .timeLimit(.minutes(1)))
struct ReportTests {
    private static func json(_ report: WatchReport) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any])
    }

    private static func text(_ report: WatchReport) -> String { String(decoding: report.page, as: UTF8.self) }

    @Test("The state has just the fields that scripts rely on, before the first look too")
    func fields() throws {
        var scene = Scene()
        for _ in 0..<2 {
            let fields = try Self.json(scene.report)
            #expect(
                Set(fields.keys) == [
                    "sentence", "cause", "action", "since", "at", "respondedAt", "lanes", "pauses", "waits", "sampled",
                    "failures", "ended", "lost",
                    "deadLetters", "moreDeadLetters", "partitions", "workers", "hosts",
                ])
            #expect((fields["partitions"] as? [Any])?.count == 4 && (fields["lanes"] as? [Any])?.count == 2)
            scene.look()
        }
    }

    @Test("config/lagwatch.md has each field of the state, in its array's row, and no field that there is not")
    func documented() throws {
        var scene = Scene()
        scene.publish(3, to: .jobsFast, 0)
        scene.look()
        scene.owners[PartitionID(1)] = nil
        scene.look()
        scene.sample(.jobsFast, 0, 3, code: nil, host: "https://a.example")
        scene.apply(
            .ended([
                JobEnd(code: "c", host: "h", message: "m", job: "j", url: "https://a/", source: "0f", at: scene.now)
            ]))
        scene.tell("https://a.example", .blocked, code: "fetch.deadline")
        let scopes: [Pause.Scope] = [.all, .lane(.slow), .host("a.example")]
        scene.pause(scopes)
        let page = try Project.text("config/lagwatch.md")
        let values = Set(
            WatchReport.WaitReport.Reason.allCases.map(\.rawValue)
                + WatchReport.PartitionReport.State.allCases.map(\.rawValue) + OriginRow.State.allCases.map(\.rawValue))
        let documented = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
        for (name, value) in try Self.json(scene.report) {
            // Some rows tell of several fields that are no objects.
            let row = try #require(documented.first { $0.split(separator: "|")[0].contains("`\(name)`") })
            guard let rows = value as? [[String: Any]] ?? (value as? [String: Any]).map({ [$0] }) else { continue }
            #expect(!rows.isEmpty, "\(name)")
            let said = row.matches(of: /`([a-zA-Z]+)`/).map { String($0.1) }.dropFirst()
            let fields = rows.reduce(into: Set()) { Self.add($1, to: &$0) }
            #expect(fields.subtracting(said) == [], "\(name): not in the page")
            #expect(Set(said).subtracting(fields).subtracting(values) == [], "\(name): in the page alone")
        }
    }

    /// The names in an object and in all that it has.
    private static func add(_ object: [String: Any], to names: inout Set<String>) {
        for (name, value) in object {
            names.insert(name)
            for inner in value as? [[String: Any]] ?? (value as? [String: Any]).map({ [$0] }) ?? [] {
                add(inner, to: &names)
            }
        }
    }

    @Test("Unknown values are null, unknown and without a sample; never 0")
    func unknown() throws {
        let report = Scene().report
        let lane = try #require((try Self.json(report)["lanes"] as? [[String: Any]])?.first)
        for name in ["oldestSeconds", "waiting", "inPerSecond", "donePerSecond", "drainSeconds"] {
            #expect(lane[name] is NSNull, "\(name)")
        }
        let partition = try #require((try Self.json(report)["partitions"] as? [[String: Any]])?.first)
        #expect(partition["state"] as? String == "unknown" && partition["owner"] is NSNull)
        #expect((partition["fast"] as? [String: Any])?["records"] is NSNull)
        let metrics = report.metrics.text
        for family in [
            "consumer_lag_records{", "watch_oldest_job_seconds{", "watch_workers_live ", "dead_letters{",
            "watch_blocked_hosts ", "watch_partitions_owned ",
        ] {
            #expect(!metrics.contains("\nmezzotint_\(family)"), "\(family)")
        }
        #expect(metrics.contains("\nmezzotint_watch_log_connected 0\n"))
        #expect(Self.text(report).contains("<dt>Unread</dt><dd>unknown</dd>"))
        var known = Scene()
        known.look()
        #expect(
            known.report.metrics.text.contains(
                "\nmezzotint_consumer_lag_records{topic=\"jobs.fast\",partition=\"0\"} 0\n"))
        #expect(known.report.metrics.text.contains("\nmezzotint_watch_workers_live 1\n"))
    }

    @Test("What owners tell that they finished behind an unfinished job does not wait")
    func finishedAhead() throws {
        var scene = Scene()
        scene.publish(10, to: .jobsFast, 2)
        scene.finish(3, of: .jobsFast, 2)
        scene.look()
        let progress = TopicProgress(
            next: 2, committed: 2, finished: [2, 5, 6, 9], fingerprint: RecordFingerprint(offset: 0, timestamp: 1))
        for _ in 0..<2 {
            scene.head(.jobsFast, 2, seconds: 3)
            scene.apply(.progress(ProgressRow(partition: PartitionID(2), topics: [.jobsFast: progress], at: scene.now)))
            let metrics = scene.report.metrics.text
            #expect(metrics.contains("\nmezzotint_consumer_lag_records{topic=\"jobs.fast\",partition=\"2\"} 4\n"))
            scene.look()
        }
    }

    @Test("A partition that cannot be read empties nothing but itself, and says so")
    func unreadable() throws {
        var scene = Scene()
        scene.publish(7, to: .jobsFast, 2)
        scene.unreadable = [3]
        scene.look(4)
        scene.head(.jobsFast, 2, seconds: 3)
        let report = scene.report
        #expect(report.lanes[0].lag == Lag(records: 7, oldest: scene.now - 3000, unknown: 1))
        #expect(report.partitions.map(\.state) == [.owned, .owned, .owned, .unreadable])
        #expect(
            report.partitions[3].lanes[0].records == nil && report.partitions[3].message?.contains("its leader") == true
        )
        #expect(report.metrics.text.contains("\nmezzotint_watch_partitions_unreadable 1\n"))
        scene.unreadable = []
        scene.look()
        #expect(scene.report.lanes[0].lag.unknown == 0)
    }

    @Test("A sample stands for all that waits where it was taken, and is called an estimate where it is one")
    func samples() {
        var scene = Scene()
        scene.publish(1_000, to: .jobsFast, 0)
        scene.publish(10, to: .jobsSlow, 0)
        scene.look()
        scene.sample(.jobsFast, 0, 100, code: nil, host: "https://a.example")
        scene.sample(.jobsSlow, 0, 10, code: nil, host: "https://b.example")
        let waits = scene.report.waits
        #expect(waits.map(\.jobs) == [1_000, 10] && waits.map(\.isEstimate) == [true, false])
        #expect(waits.map(\.reason) == [.turn, .turn])
        scene.tell("https://b.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.waits.map(\.reason) == [.turn, .host])
        scene.owners = [:]
        scene.look()
        #expect(scene.report.waits.map(\.reason) == [.owner, .owner])
        scene.finish(1_000, of: .jobsFast, 0)
        scene.look()
        #expect(scene.report.waits.map(\.host) == ["https://b.example"])
    }

    @Test("Where to look next: unknown heads first, a head that stands still never again")
    func heads() {
        var scene = Scene(partitions: 2)
        scene.publish(5, to: .jobsFast, 0)
        scene.publish(5, to: .retry1m, 1)
        scene.look()
        #expect(scene.state.headsToRead(9).map(\.topic) == [.retry1m, .jobsFast])
        scene.head(.jobsFast, 0, seconds: 1)
        #expect(scene.state.headsToRead(9).map(\.topic) == [.retry1m])
        scene.finish(1, of: .jobsFast, 0)
        scene.look()
        // Younger than the one that was read: late, at most.
        #expect(scene.report.lanes[0].lag.oldest == scene.now - 3000)
        #expect(scene.state.headsToRead(9).map(\.topic) == [.retry1m, .jobsFast])
        #expect(scene.state.headsToRead(1).map(\.offset) == [0])
    }

    @Test("Whatever jobs, hosts and messages are named, the page has no markup of theirs and drives nothing")
    func hostile() throws {
        let evil = "\"><script>alert(1)</script>'\u{202E}\u{1B}[2J"
        var scene = Scene(owner: evil)
        scene.workers = [WorkerSight(evil, .silent(evil))]
        scene.look(8)
        scene.park(3, code: evil, host: evil, message: evil)
        scene.apply(
            .ended([
                JobEnd(
                    code: evil, host: evil, message: evil, job: evil, url: "https://a/?\(evil)", source: evil,
                    at: scene.now)
            ])
        )
        scene.tell(evil, .blocked, code: evil)
        scene.unreadable = [1]
        scene.look()
        let (page, json) = (Self.text(scene.report), String(decoding: scene.report.json, as: UTF8.self))
        #expect(!page.contains("<script>") && !page.contains("alert(1)</script>"))
        #expect(page.components(separatedBy: "<script").count == 2)
        for text in [page, scene.report.metrics.text] {
            #expect(!text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" })
        }
        #expect(page.contains("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;\\u202e\\u001b[2J"))
        #expect(page.contains("href=\"/source?key=&quot;&gt;&lt;script"))
        #expect(try Self.json(scene.report)["sentence"] as? String != nil && json.hasSuffix("}\n"))
    }

    @Test("A failure leads to its source by the source's key, and nowhere where its outcome names none")
    func links() {
        var scene = Scene()
        scene.look()
        for source in ["0f", nil] {
            scene.apply(
                .ended([
                    JobEnd(
                        code: "c", host: "h", message: "m", job: "j", url: "https://a/x?…", source: source,
                        at: scene.now)
                ]))
            let page = Self.text(scene.report)
            #expect(page.contains("<a href=\"/source?key=0f\">https://a/x?…</a>") == (source != nil))
            #expect(page.contains("https://a/x?…"))
        }
    }

    @Test("Texts of others are cut by what they take, not by how many characters they look like")
    func cut() throws {
        let long = "e" + String(repeating: "\u{301}", count: 900)
        #expect(Words.cut(long) == "e" + String(repeating: "\u{301}", count: 119) + "…")
        #expect(Words.cut("äö", 3) == "ä…" && Words.cut("äö", 4) == "äö" && Words.cut("\u{1B}[2J", 8) == "\\u001b[2…")
        let page = "mezzotint_partitions_owned 1\nmezzotint_build_info{version=\"\(long)\",client=\"\(long)\"} 1\n"
        let figures = try #require(WorkerFigures(page))
        #expect(figures.version?.utf8.count == 82 && figures.client == figures.version)
        var scene = Scene(owner: long)
        scene.workers = (0..<2).map { WorkerSight("10.0.0.\($0):9464", .figures(figures)) }
        scene.look()
        scene.tell("https://a.example", .blocked)
        #expect(scene.report.page.count < 20_000 && scene.report.json.count < 20_000)
    }

    @Test("Workers that were not asked yet are listed, as each answers it is shown, and one that is not asked is not")
    func oneByOne() throws {
        var scene = Scene(owner: nil)
        scene.look()
        let addresses = ["10.0.0.1:9464", "10.0.0.2:9464"]
        scene.apply(.asked(addresses))
        #expect(scene.state.workers(silent: false) == addresses && scene.state.workers(silent: true).isEmpty)
        #expect(scene.report.metrics.text.contains("\nmezzotint_watch_workers_asked 2\n"))
        #expect(!Self.text(scene.report).contains("list it in watch.workers"))
        scene.apply(.workers([WorkerSight(addresses[1], .figures(Scene.figures(owned: 7)))]))
        scene.apply(.workers([WorkerSight("10.0.0.3:9464", .figures(Scene.figures(owned: 7)))]))
        let rows = try #require(try Self.json(scene.report)["workers"] as? [[String: Any]])
        #expect(rows.map { $0["responds"] as? Bool } == [false, true])
        #expect(rows.map { $0["partitions"] as? Int } == [nil, 7])
        scene.apply(.workers([WorkerSight(addresses[0], .silent("no answer"))]))
        #expect(scene.state.workers(silent: true) == [addresses[0]])
        scene.apply(.asked([addresses[1]]))
        #expect(scene.report.workers.map(\.figures?.owned) == [7])
    }

    @Test("Pending jobs are counted by lane")
    func counted() {
        var scene = Scene()
        scene.publish(1, to: .jobsFast, 0)
        scene.publish(2, to: .jobsSlow, 0)
        scene.look()
        let sentence = scene.report.diagnosis.sentence
        #expect(sentence.contains("Fast: 1 pending, ") && sentence.contains("Slow: 2 pending, "), "\(sentence)")
    }

    @Test("The page says how old is what it shows, so that its script needs no clock of ours")
    func age() {
        var scene = Scene()
        #expect(Self.text(scene.report).contains("<span id=age>As of never.</span>"))
        scene.look()
        for _ in 0..<3 { scene.advance() }
        #expect(Self.text(scene.report).contains("<span id=age data-age=6000>As of "))
    }

    @Test("A page of 1,000 partitions, 200 workers and 5,000 hosts is made within 100 ms, in less than 200 KB")
    func large() {
        var scene = Scene(partitions: 1_000)
        scene.workers = (0..<200).map { WorkerSight("10.0.\($0).1:9464", .figures(Scene.figures(owned: 5))) }
        for number in 0..<1_000 {
            scene.owners[PartitionID(Int32(number))] = "worker-\(number % 200)@10.0.\(number % 200).1"
            scene.publish(Int64(number + 1), to: .jobsFast, number)
        }
        scene.look()
        for number in 0..<1_000 { scene.head(.jobsFast, number, seconds: Int64(number % 90)) }
        for number in 0..<1_000 {
            let hosts = (number < 100 ? 50 : 1, number * 50)
            scene.park(
                500 / hosts.0, in: number, code: "fetch.server-error",
                hosts: (0..<hosts.0).map { "https://images-\(hosts.1 + $0).a-long-name.example" }, lane: .slow, seconds: 60,
                message: String(repeating: "The origin answered 503. ", count: 8), isSampled: number < 100)
        }
        for number in 0..<500 {
            scene.apply(
                .ended([
                    JobEnd(
                        code: "fetch.not-found", host: "https://images-\(number).example",
                        message: String(repeating: "m", count: 1_000),
                        job: String(repeating: "j", count: 256), url: "https://images-\(number).example/a.jpg",
                        at: scene.now)
                ]))
        }
        #expect(scene.report.waits.count == 5_900)
        // A processor's time: others have the machine, too.
        let begun = clock()
        let page = scene.report.page
        let took = Duration.microseconds((clock() - begun) * 1_000_000 / Int(CLOCKS_PER_SEC))
        print("A page of 1,000 partitions, 200 workers, 5,000 hosts: \(page.count) bytes, \(took.seconds) s")
        #expect(page.count < 200_000)
        #expect(took < .milliseconds(100))
        // The oldest first.
        let isShown = String(decoding: page, as: UTF8.self).contains("class=n>989</td>")
        #expect(isShown)
    }

    @Test("An hour of a lane is sixty points, and its rates are the last minute's")
    func history() {
        var scene = Scene(partitions: 1)
        scene.look(2 * 3_600) { $0.publish(2, to: .jobsSlow, 0) }
        let lane = scene.report.lanes[1]
        #expect(lane.minutes.count == 60 && lane.minutes.dropLast().allSatisfy { $0.published == 60 })
        #expect(lane.rates?.in == 1 && lane.rates?.out == 0 && lane.drainSeconds == nil)
        let before = lane.minutes[0].at
        #expect(scene.now - before <= LaneHistory.span)
        scene.look(60) { $0.finish(60, of: .jobsSlow, 0) }
        #expect(scene.report.lanes[1].drainSeconds.map { $0 > 0 } == true)
    }
}
