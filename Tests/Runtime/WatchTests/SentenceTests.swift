import Clocks
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@testable import Watch

@Suite("The words and figures of the sentence", .timeLimit(.minutes(1)))
struct SentenceTests {
    private static let host = "https://a.example"

    @Test("A cause that is kept says when it was last seen: its figures are of then, the lanes' of now")
    func kept() {
        var scene = Scene()
        scene.look()
        scene.park(4, code: "fetch.server-error", host: Self.host)
        var steady = SteadyDiagnosis()
        var shown = scene.report
        shown.settle(by: &steady)
        let (headline, seenAt) = (shown.diagnosis.headline, scene.now)
        #expect(headline.hasPrefix("All 4 pending jobs wait for \(Self.host)") && !headline.contains("Last seen"))
        scene.unpark()
        for _ in 0..<2 {
            scene.look()
            shown = scene.report
            shown.settle(by: &steady)
            #expect(shown.diagnosis.cause == .hostBlocked)
            #expect(
                shown.diagnosis.headline == "\(headline) Last seen at \(Words.clock(seenAt, at: scene.now)).")
            #expect(shown.diagnosis.lanes.first == "Fast has nothing to do.")
        }
    }

    @Test(
        "Jobs that wait for a host after its block have the step that fits why it was blocked",
        arguments: [
            (code: "fetch.connection", asks: "Check that https://a.example is up"),
            (code: "fetch.too-many-requests", asks: "Lower its limits"), (code: nil, asks: Cause.hostBlocked.action),
        ] as [(code: String?, asks: String)])
    func afterBlock(code: String?, asks: String) {
        var scene = Scene()
        scene.look()
        if let code { scene.tell(Self.host, .blocked, code: code) }
        // Its block is over, and no job was tried since.
        scene.look(610)
        scene.park(4, code: "retry.host-blocked", host: Self.host)
        let report = scene.report
        #expect(report.blockedHosts?.isEmpty ?? true)
        #expect(report.diagnosis.cause == .hostBlocked && report.diagnosis.action.contains(asks))
        #expect(report.diagnosis.headline.contains("(\(code ?? "retry.host-blocked"))"), "\(report.diagnosis.headline)")
        #expect(report.waits.map { report.action(of: $0) }.allSatisfy { $0.contains(asks) })
    }

    /// `silent`: which of three workers do not respond.
    @Test(
        "Silent workers are counted, and one is named",
        arguments: [
            (silent: [1], says: "1 of 3 workers (10.0.0.1:9464) has not responded since "),
            (silent: [1, 3], says: "2 of 3 workers (10.0.0.1:9464 and 1 more) have not responded since "),
        ] as [(silent: [Int], says: String)])
    func silent(silent: [Int], says: String) {
        var scene = Scene()
        scene.look(20)
        scene.workers = (1...3).map { number in
            WorkerSight(
                "10.0.0.\(number):9464",
                silent.contains(number) ? .silent("connection refused") : .figures(Scene.figures(owned: 1)))
        }
        scene.look(8)
        #expect(scene.report.diagnosis.headline.hasPrefix(says), "\(scene.report.diagnosis.headline)")
        #expect(scene.report.diagnosis.headline.hasSuffix(" UTC: connection refused."))
    }

    @Test("A worker that serves its metrics only after it owns partitions is starting, not silent")
    func starting() {
        var scene = Scene(owner: nil)
        scene.workers = [WorkerSight("10.0.0.1:9464", .silent("connection refused"))]
        scene.publish(1, to: .jobsFast, 0)
        scene.look(30)
        #expect(scene.report.diagnosis.cause == .noWorker)
        for number in 0..<4 { scene.owners[PartitionID(Int32(number))] = "w1" }
        scene.look(4)
        #expect(scene.report.diagnosis.cause != .workerSilent, "\(scene.report.diagnosis.sentence)")
        let owned = scene.now - 2_000
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .workerSilent && scene.report.diagnosis.since == owned)
        scene.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4)))]
        scene.look()
        #expect(scene.report.diagnosis.cause != .workerSilent)
    }

    /// `waiting` jobs of one host are parked; `unread` jobs are of another.
    @Test(
        "What waits for a host is a number and a share of what is pending",
        arguments: [
            (waiting: 3, unread: 0, says: "All 3 pending jobs wait for https://a.example"),
            (waiting: 1, unread: 0, says: "The only pending job waits for https://a.example"),
            (waiting: 5, unread: 3, says: "5 of 8 pending jobs (63 %) wait for https://a.example"),
            (waiting: 1_240, unread: 0, says: "All 1,240 pending jobs wait for https://a.example"),
            (waiting: 1_240, unread: 260, says: "1,240 of 1,500 pending jobs (83 %) wait for https://a.example"),
            (waiting: 999, unread: 1, says: "999 of 1,000 pending jobs (99 %) wait for https://a.example"),
        ] as [(waiting: Int, unread: Int64, says: String)])
    func share(waiting: Int, unread: Int64, says: String) {
        var scene = Scene()
        scene.publish(unread, to: .jobsFast, 0)
        scene.look()
        scene.park(waiting, code: "fetch.server-error", host: Self.host)
        if unread > 0 { scene.sample(.jobsFast, 0, Int(unread), code: nil, host: "https://b.example") }
        #expect(scene.report.diagnosis.headline.hasPrefix(says), "\(scene.report.diagnosis.headline)")
    }

    /// A hundred of `waiting` retried jobs are in the sample.
    @Test(
        "What waits in an old retry topic is an estimate, where its sample leaves jobs out",
        arguments: [
            (unread: 0, says: "All pending jobs (about 1,240) wait for https://a.example"),
            (unread: 260, says: "About 1,240 of 1,500 pending jobs (83 %) wait for https://a.example"),
        ] as [(unread: Int64, says: String)])
    func estimate(unread: Int64, says: String) {
        var scene = Scene()
        scene.publish(1_240, to: .retry10s, 0)
        scene.publish(unread, to: .jobsFast, 0)
        scene.look()
        scene.sample(.retry10s, 0, 100, code: "fetch.server-error", host: Self.host)
        if unread > 0 { scene.sample(.jobsFast, 0, Int(unread), code: nil, host: "https://b.example") }
        #expect(scene.report.diagnosis.headline.hasPrefix(says), "\(scene.report.diagnosis.headline)")
    }

    @Test("Parked jobs are divided by the codes of their newest rows, and belong to their lane as the oldest of them does")
    func divided() {
        var scene = Scene()
        scene.look()
        scene.park(400, code: "fetch.server-error", host: Self.host, seconds: 7_200, isSampled: false)
        var sample = PlaceSample(.parked, PartitionID(0))
        for number in 0..<200 {
            sample.count(
                .init(lane: "fast", host: Self.host, code: number % 4 == 0 ? "fetch.timeout" : "fetch.server-error"),
                since: scene.now - 1_000)
        }
        scene.apply(.sample(sample))
        let report = scene.report
        #expect(report.waits.map(\.jobs) == [300, 100] && report.waits.allSatisfy(\.isEstimate))
        #expect(report.lanes[0].age(at: scene.now) == .seconds(7_200) && report.lanes[0].isLate(at: scene.now))
    }

    @Test(
        "A full limit is told in words that fit one and many",
        arguments: [
            (limit: 1, says: "its limit of 1 fetch at once"), (limit: 6, says: "its limit of 6 fetches at once"),
        ])
    func limit(limit: Int, says: String) {
        var scene = Scene()
        scene.publish(40, to: .jobsFast, 0)
        scene.look(14)
        scene.tell(Self.host, .open, inFlight: limit, of: limit)
        scene.head(.jobsFast, 0, seconds: 14)
        scene.sample(.jobsFast, 0, 40, code: nil, host: Self.host)
        #expect(scene.report.diagnosis.headline.contains("\(says) is full"), "\(scene.report.diagnosis.headline)")
    }

    @Test("Before the log answered once nothing is said of the lanes")
    func unanswered() {
        var scene = Scene()
        scene.apply(.silence("no broker"))
        #expect(scene.report.diagnosis.sentence == "The log has not responded yet: no broker.")
        scene.apply(.unpublished("data/log"))
        #expect(scene.report.diagnosis.sentence == "Nothing was published yet: there is no log at data/log.")
        scene.look()
        #expect(scene.report.diagnosis.lanes.count == 2)
    }
}
