import Clocks
import Foundation
import ImageModel
import Ports
import Records
import Telemetry
import TestSupport
import Testing

@testable import Watch

@Suite("What is told of lanes and of what waits", .timeLimit(.minutes(1)))
struct LaneReportTests {
    private static func json(_ report: WatchReport) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any])
    }

    private static func fast(_ report: WatchReport) throws -> [String: Any] {
        try #require((try json(report)["lanes"] as? [[String: Any]])?.first)
    }

    private static func page(_ report: WatchReport) -> String { String(decoding: report.page, as: UTF8.self) }

    @Test("Jobs that are tried again are their lane's: how many, and how old")
    func parked() throws {
        var scene = Scene()
        // Rows that no owner has counted yet.
        scene.publish(87, to: .parked, 0)
        scene.look()
        #expect(scene.report.lanes[0].age(at: scene.now) == nil)
        #expect(try Self.fast(scene.report)["parked"] is NSNull)
        #expect(!scene.report.metrics.text.contains("\nmezzotint_watch_oldest_job_seconds{"))
        #expect(
            scene.report.diagnosis.sentence.contains(
                "Fast has nothing new to do; how many jobs are parked is not known."))
        scene.park(87, code: "fetch.server-error", host: "https://a.example")
        let report = scene.report
        #expect(
            report.diagnosis.sentence.contains(
                "Fast is late: 87 pending (87 parked), the oldest for 20 s (target 5 s)."))
        #expect(report.diagnosis.sentence.hasSuffix("Slow has nothing to do."))
        let lane = try Self.fast(report)
        #expect(lane["oldestSeconds"] as? Int == 20 && lane["parked"] as? Int == 87 && lane["waiting"] as? Int == 0)
        #expect(report.metrics.text.contains("\nmezzotint_watch_oldest_job_seconds{lane=\"fast\"} 20\n"))
        #expect(report.metrics.text.contains("\nmezzotint_watch_oldest_job_seconds{lane=\"slow\"} 0\n"))
        #expect(lane["late"] as? Bool == true)
        #expect(Self.page(report).contains("<dt>Parked</dt><dd>87, the oldest came 20 s ago</dd>"))
    }

    @Test("An owner that ended before it counted parked jobs: a sample of all rows of `parked` counts them")
    func uncounted() {
        var scene = Scene()
        scene.publish(1, to: .parked, 0)
        scene.publish(7, to: .parked, 1)
        scene.look()
        #expect(scene.report.lanes[0].parked == nil)
        #expect(scene.state.partitionsToSample(9).map(\.partition) == [PartitionID(0), PartitionID(1)])
        // The epoch row alone, and two rows behind one.
        scene.apply(.sample(PlaceSample(.parked, PartitionID(0))))
        scene.sample(.parked, 1, 2, code: "fetch.server-error", host: "https://a.example")
        let lane = scene.report.lanes[0]
        #expect(lane.parked?.jobs == 2 && lane.parked?.isEstimate == false && lane.parked?.since == scene.now - 20_000)
        scene.publish(500, to: .parked, 1)
        scene.look()
        #expect(scene.report.lanes[0].parked == nil)
    }

    @Test("A partition that cannot be read takes what waits in it along, and leaves no 0 behind")
    func unreadable() throws {
        var scene = Scene()
        scene.publish(3, to: .jobsFast, 3)
        scene.look()
        scene.head(.jobsFast, 3, seconds: 60)
        scene.unreadable = [3]
        scene.look(4)
        let lane = try Self.fast(scene.report)
        for name in ["oldestSeconds", "waiting", "parked"] { #expect(lane[name] is NSNull, "\(name)") }
        #expect(!scene.report.metrics.text.contains("\nmezzotint_watch_oldest_job_seconds{lane=\"fast\"}"))
        #expect(scene.report.diagnosis.sentence.contains("Fast is not known (1 partition left out)."))
        #expect(!Self.page(scene.report).contains("<dt>Oldest</dt><dd>none"))
    }

    @Test("Places of an old retry topic that were not sampled are taken to be like those that were, and that is an estimate")
    func scaled() throws {
        var scene = Scene()
        for number in 0..<4 { scene.publish(100, to: .retry1m, number) }
        scene.publish(50, to: .jobsFast, 0)
        scene.look()
        for number in 0..<2 {
            scene.sample(.retry1m, number, 100, code: "fetch.server-error", host: "https://\(number).example")
        }
        scene.sample(.jobsFast, 0, 50, code: nil, host: "https://a.example")
        let report = scene.report
        #expect(report.waits.map(\.jobs) == [200, 200, 50] && report.waits.map(\.isEstimate) == [true, true, false])
        #expect(report.lanes[0].parked?.text == "~400")
        let sampled = try #require(try Self.json(report)["sampled"] as? [String: Int])
        #expect(sampled == ["topicPartitions": 3, "of": 5])
    }

    @Test("What cannot be read is not shown as nothing: neither pending jobs nor rates")
    func unknownIsNotNothing() {
        var scene = Scene()
        scene.look(4)
        #expect(Self.page(scene.report).contains("Nothing is pending."))
        scene.unreadable = [1, 2, 3]
        scene.look(6)
        let page = Self.page(scene.report)
        #expect(!page.contains("Nothing is pending.") && !page.contains("0.0/s"))
    }

    @Test("What waits is not to be mended by another thing than the sentence says")
    func oneAction() {
        var scene = Scene()
        scene.publish(40, to: .jobsFast, 0)
        for tries in 1...7 {
            scene.workers = [
                WorkerSight(
                    "10.0.0.1:9464", .figures(Scene.figures(owned: 4, failures: ["store.full": Double(tries)])))
            ]
            scene.look()
        }
        scene.sample(.jobsFast, 0, 40, code: nil, host: "https://a.example")
        #expect(scene.report.diagnosis.cause == .storeHalted)
        #expect(!Self.page(scene.report).contains("start more workers"))
        #expect(
            scene.report.waits.map { scene.report.action(of: $0) } == [
                "They start once the cause at the top of the page is gone."
            ])
        scene.look(40)
        scene.head(.jobsFast, 0, seconds: 60)
        #expect(scene.report.diagnosis.cause == .saturated)
        #expect(scene.report.waits.map { scene.report.action(of: $0) } == [scene.report.diagnosis.action])
        scene.tell("https://a.example", .blocked, code: OriginRow.operatorName, by: OriginRow.operatorName)
        #expect(scene.report.diagnosis.cause == .paused)
        let unblock = "mezzotint origins unblock https://a.example."
        #expect(scene.report.waits.allSatisfy { scene.report.action(of: $0).contains(unblock) })
    }

    @Test("The remaining time of other jobs is not that of jobs that a host holds back")
    func heldBack() {
        var scene = Scene()
        scene.look(20) { $0.publish(4, to: .jobsFast, 0) }
        scene.look(14) { $0.finish(5, of: .jobsFast, 0) }
        #expect(scene.report.lanes[0].drainSeconds != nil)
        scene.park(4, code: "retry.host-blocked", host: "https://a.example")
        scene.look { $0.finish(5, of: .jobsFast, 0) }
        let lane = scene.report.lanes[0]
        #expect(lane.lag.records == 0 && lane.parked?.jobs == 4 && lane.drain.map { $0 > 0 } == true)
        #expect(lane.drainSeconds == nil)
    }

    @Test("An action is \"as above\" only if it is the same")
    func asAbove() {
        var scene = Scene()
        scene.look()
        scene.tell("https://a.example", .blocked, code: "fetch.server-error")
        scene.tell("https://b.example", .blocked, code: "fetch.resolution")
        scene.park(4, code: "retry.host-blocked", host: "https://a.example")
        scene.park(4, in: 1, code: "retry.host-blocked", host: "https://b.example")
        let page = Self.page(scene.report)
        #expect(!page.contains("as above"))
        #expect(page.contains("Ask who runs https://a.example.") && page.contains("getent hosts b.example."))
    }

    @Test("Records that workers may have died of are named, those of most deaths first")
    func quarantined() {
        var scene = Scene()
        scene.look()
        let quarantined = (1...5).map { ProgressRow.QuarantinedJob(.jobsFast, Int64($0), crashes: $0) }
        scene.apply(
            .progress(
                ProgressRow(partition: PartitionID(2), topics: [:], crashes: 5, quarantined: quarantined, at: scene.now)))
        #expect(
            scene.report.diagnosis.sentence.contains(
                "one of the records jobs.fast-2-5, jobs.fast-2-4, jobs.fast-2-3 and 2 more may be why."))
    }

    @Test("What was so at the first look is said to be so at least since then")
    func since() {
        var scene = Scene(owner: nil)
        scene.publish(1, to: .jobsFast, 0)
        scene.look(10)
        #expect(scene.report.diagnosis.sentence.hasPrefix("No worker has been running since at least "))
        scene.owners[PartitionID(0)] = "w1"
        scene.look(12)
        #expect(scene.report.diagnosis.sentence.hasPrefix("3 of 4 partitions have had no owner since at least "))
        scene.owners = [:]
        scene.look(8)
        #expect(scene.report.diagnosis.sentence.hasPrefix("No worker has been running since "))
    }

    @Test("The chart does not say that none waited while something waits of which nobody knows how long")
    func chart() {
        var scene = Scene()
        scene.look()
        #expect(scene.report.lanes[0].atMost == "no job waited")
        scene.publish(2, to: .jobsFast, 0)
        scene.look()
        #expect(scene.report.lanes[0].atMost == "not known")
    }

    @Test("The JSON says how old it is, since when its cause is so, and how many dead letters stand")
    func ages() throws {
        var scene = Scene()
        scene.look()
        scene.owners = [:]
        scene.look(10)
        scene.advance()
        let fields = try Self.json(scene.report)
        let clock = { (name: String) in (fields[name] as? String).map { "\($0.dropFirst(11).prefix(8)) UTC" } }
        #expect(clock("at") == Words.clock(scene.now, at: scene.now))
        #expect(clock("respondedAt") == Words.clock(scene.now - 2_000, at: scene.now))
        #expect(clock("since") == Words.clock(Scene.start + 4_000, at: scene.now))
        #expect(Words.clock(0, at: scene.now) == "1970-01-01 00:00:00 UTC")
        #expect(fields["deadLetters"] is NSNull && fields["moreDeadLetters"] as? Bool == false)
        for number in 0..<4 {
            var change = DeadLetterChange(PartitionID(Int32(number)), isWhole: true)
            if number == 0 { change.added = [.init(id: "a", code: "job.not-json", host: "", at: scene.now)] }
            scene.apply(.deadLetters(change))
        }
        let told = try Self.json(scene.report)
        #expect(told["deadLetters"] as? Int == 1)
        let failure = try #require((told["failures"] as? [[String: Any]])?.first)
        for name in ["message", "url"] { #expect(failure[name] is NSNull, "\(name)") }
        #expect(failure["job"] as? String == "a" && failure["lastSeen"] as? String == told["at"] as? String)
    }

    @Test("A blocked host of which no worker tells any more waits for an unknown number of jobs")
    func untold() throws {
        var scene = Scene()
        scene.look()
        scene.tell("https://a.example", .blocked, code: "fetch.deadline", inFlight: 2)
        scene.look(40)
        let host = try #require((try Self.json(scene.report)["hosts"] as? [[String: Any]])?.first)
        #expect(host["state"] as? String == "blocked")
        for name in ["limit", "inFlight", "waitingFast", "waitingSlow"] { #expect(host[name] is NSNull, "\(name)") }
    }
}
