import Clocks
import ImageModel
import Records
import TestSupport
import Testing

@testable import Watch

@Suite("Which host is blamed, and when", .timeLimit(.minutes(1)))
struct HostBlameTests {
    /// Fast jobs of one host, all that it allows at once in flight; `seconds` of looks since the first came.
    private static func burst(of seconds: Int, renders: Int?, calm: Int = 20) -> Scene {
        var scene = Scene()
        scene.look(calm)
        let figures = renders.map { Scene.figures(owned: 4, renders: $0) }
        scene.workers = figures.map { [WorkerSight("10.0.0.1:9464", .figures($0))] } ?? []
        scene.publish(40, to: .jobsFast, 0)
        scene.look(seconds)
        scene.head(.jobsFast, 0, seconds: Int64(seconds))
        var sample = PlaceSample(.jobsFast, PartitionID(0))
        for _ in 0..<40 {
            sample.count(
                .init(lane: "fast", host: "https://a.example", code: nil), since: scene.now - .seconds(seconds), message: "")
        }
        scene.apply(.sample(sample))
        scene.park(60, code: "retry.host-crowded", host: "https://a.example", seconds: Int64(seconds))
        scene.tell("https://a.example", .open, inFlight: 6)
        return scene
    }

    @Test(
        "A host's full limit is a cause only while renderers are known to be idle",
        arguments: [
            // The calm before the jobs came says nothing of them.
            (seconds: 6, renders: 2, cause: Cause.saturated), (seconds: 20, renders: 2, cause: .saturated),
            (seconds: 20, renders: 1, cause: .saturated),
            // Two looks are moments.
            (seconds: 4, renders: 0, cause: .fine), (seconds: 6, renders: 0, cause: .hostSlow),
            (seconds: 20, renders: 0, cause: .hostSlow), (seconds: 20, renders: nil, cause: .saturated),
        ] as [(Int, Int?, Cause)])
    func full(seconds: Int, renders: Int?, cause: Cause) {
        let diagnosis = Self.burst(of: seconds, renders: renders).report.diagnosis
        #expect(diagnosis.cause == cause, "\(diagnosis.sentence)")
        #expect(cause == .hostSlow || !diagnosis.headline.contains("a.example"))
    }

    @Test("The share of busy renderers is of the time in which jobs waited", arguments: [6, 20])
    func use(seconds: Int) {
        let diagnosis = Self.burst(of: seconds, renders: 2).report.diagnosis
        #expect(diagnosis.headline == "Fast has more to do than is done; 100 % of the renderers are busy.")
    }

    @Test(
        "A late lane is never fine, however few of the pending jobs its late ones are",
        arguments: [
            (
                code: "fetch.server-error", by: "w1", says: "10 jobs of https://b.example wait (fetch.server-error).",
                asks: "Ask who runs"
            ),
            (
                code: OriginRow.operatorName, by: OriginRow.operatorName, says: "wait (by an operator).",
                asks: "mezzotint origins unblock https://b.example."
            ),
        ])
    func few(code: String, by: String, says: String, asks: String) {
        var scene = Scene()
        scene.publish(10, to: .jobsFast, 0)
        scene.publish(1_000, to: .jobsSlow, 0)
        scene.look(20) { $0.finish(1, of: .jobsSlow, 0) }
        scene.head(.jobsFast, 0, seconds: 20)
        scene.head(.jobsSlow, 0, seconds: 20)
        scene.sample(.jobsFast, 0, 10, code: nil, host: "https://b.example")
        scene.sample(.jobsSlow, 0, 100, code: nil, host: "https://a.example")
        scene.tell("https://b.example", .blocked, code: code, by: by)
        let diagnosis = scene.report.diagnosis
        #expect(diagnosis.cause == .retrying && diagnosis.sentence.contains(says), "\(diagnosis.sentence)")
        #expect(diagnosis.action.contains(asks), "\(diagnosis.action)")
        #expect(diagnosis.lanes[0].hasPrefix("Fast is late: "))
    }
}
