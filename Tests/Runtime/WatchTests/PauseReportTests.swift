import Clocks
import ImageModel
import Records
import Telemetry
import TestSupport
import Testing

@testable import Watch

@Suite("Pauses on the page: their own cause, and no lateness", .timeLimit(.minutes(1)))
struct PauseReportTests {
    private static func late() -> Scene {
        var scene = Scene()
        scene.publish(40, to: .jobsFast, 0)
        scene.look(14)
        scene.head(.jobsFast, 0, seconds: 60)
        scene.sample(.jobsFast, 0, 40, code: nil, host: "https://a.example")
        return scene
    }

    private static func value(_ name: String, in report: WatchReport) -> String? {
        report.metrics.text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }

    @Test(
        "What a pause holds back is not late, in report, JSON and metrics",
        arguments: [
            (Pause.Scope.all, true), (.lane(.fast), true), (.host("a.example"), true),
            (.host("https://a.example"), true),
            (.lane(.slow), false), (.host("b.example"), false),
        ])
    func mutes(scope: Pause.Scope, isMuted: Bool) {
        var scene = Self.late()
        #expect(scene.report.lanes[0].isLate(at: scene.now) && scene.report.diagnosis.cause == .saturated)
        scene.pause([scope])
        let (report, lane) = (scene.report, scene.report.lanes[0])
        #expect(lane.isLate(at: scene.now) == !isMuted && (lane.ready == nil) == isMuted)
        #expect(report.diagnosis.cause == (isMuted ? .paused : .saturated))
        #expect(report.waits.map(\.reason) == [isMuted ? .paused : .turn])
        #expect((Self.value(#"mezzotint_watch_oldest_ready_job_seconds{lane="fast"}"#, in: report) == "0") == isMuted)
        // The age stays visible.
        #expect(lane.age(at: scene.now) ?? .zero >= .seconds(60))
        let json = String(decoding: report.json, as: UTF8.self)
        #expect(
            json.contains(#""pauses":[{"control":"c-1","#) && json.contains(#""by":"ana@host","why":"a new disk"}"#))
        let page = String(decoding: report.page, as: UTF8.self)
        #expect(page.contains("by ana@host (a new disk)"))
    }

    @Test("A pause is the cause while it lasts, also if nothing waits, and no longer")
    func idle() {
        var scene = Scene()
        scene.look(40)
        #expect(scene.report.diagnosis.cause == .fine)
        scene.pause([.host("a.example")])
        #expect(scene.report.diagnosis.cause == .paused)
        #expect(scene.report.diagnosis.sentence.contains("Host a.example is paused until "))
        #expect(scene.report.diagnosis.sentence.contains("no job waits for that yet"))
        #expect(Self.value(#"mezzotint_pauses{scope="host"}"#, in: scene.report) == "1")
        scene.look(602)
        #expect(scene.report.diagnosis.cause == .fine && scene.report.pauses.isEmpty)
        #expect(Self.value(#"mezzotint_pauses{scope="host"}"#, in: scene.report) == "0")
    }

    @Test("Jobs that a pause parked wait for their turn once it is over")
    func over() {
        var scene = Scene()
        scene.look(14)
        scene.park(40, code: RetryCause.Code.paused.rawValue, host: "https://a.example")
        #expect(scene.report.waits.map(\.reason) == [.turn])
        scene.pause([.host("a.example")])
        #expect(scene.report.waits.map(\.reason) == [.paused])
        #expect(scene.report.waits.map { scene.report.action(of: $0) }.allSatisfy { $0.contains("mezzotint resume") })
    }
}
