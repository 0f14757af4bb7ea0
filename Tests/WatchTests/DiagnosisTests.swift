import ImageModel
import Ports
import Records
import Telemetry
import Testing

@testable import Watch

@Suite("What holds the work up", .timeLimit(.minutes(1)))
struct DiagnosisTests {
    /// A fault, what is staged for it, and what the first sentence must say within 15 seconds.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let cause: Cause
        let says: [String]
        let stage: @Sendable (inout Scene) -> Void

        init(_ name: String, _ cause: Cause, _ says: [String], _ stage: @escaping @Sendable (inout Scene) -> Void) {
            (testDescription, self.cause, self.says, self.stage) = (name, cause, says, stage)
        }
    }

    static let faults: [Fault] = [
        Fault("all workers dead", .noWorker, ["No worker runs since ", "Fast is late: 40 wait, the oldest waits 14 s"])
        {
            $0.publish(40, to: .jobsFast, 1)
            ($0.owners, $0.workers) = ([:], [])
            $0.look(14)
            $0.head(.jobsFast, 1, seconds: 14)
        },
        Fault("one worker stopped", .workerSilent, ["The worker at 10.0.0.2:9464 of 2 does not answer since "]) {
            $0.workers.append(WorkerSight("10.0.0.2:9464", .figures(Scene.figures(owned: 2))))
            $0.look()
            $0.workers[1] = WorkerSight("10.0.0.2:9464", .silent("connection refused"))
            $0.look(14)
        },
        Fault(
            "a worker that tells too much", .workerSilent, ["its answer is larger than 2 MiB. Fast has nothing to do."]
        ) {
            $0.workers.append(WorkerSight("10.0.0.2:9464", .silent("its answer is larger than 2 MiB")))
            $0.look(14)
        },
        Fault("one worker stopped, of two that nobody asks", .noOwner, ["2 of 4 partitions have no owner since "]) {
            $0.workers = []
            $0.look()
            for number in [1, 2] as [Int32] { $0.owners[PartitionID(number)] = nil }
            $0.look(14)
        },
        Fault(
            "broker gone", .logUnreachable, ["The log does not answer since ", "(14 s): no broker", "as old as that"]
        ) {
            for _ in 0..<7 {
                $0.advance()
                $0.apply(.silence("no broker"))
            }
        },
        Fault(
            "a restore that stands still", .restoring,
            [
                "3 of 4 partitions are being restored, 90,000 rows to go at most: none has come in since ",
                "stands still",
            ]
        ) {
            $0.workers = [
                WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, restoring: 3, rowsLeft: 90_000)))
            ]
            $0.look(14)
        },
        Fault("store full", .storeHalted, ["The store holds jobs back (store.full)"]) { scene in
            for tries in 1...7 {
                scene.workers = [
                    WorkerSight(
                        "10.0.0.1:9464",
                        .figures(Scene.figures(owned: 4, failures: ["store.full": Double(tries)])))
                ]
                scene.look()
            }
        },
        Fault(
            "store full before a worker begins", .storeHalted, ["The store holds jobs back (store.full)"]
        ) { scene in
            for tries in 1...7 {
                scene.workers = [
                    WorkerSight(
                        "10.0.0.1:9464",
                        .figures(
                            Scene.figures(owned: 4, restoring: 4, failures: ["store.full": Double(tries)])))
                ]
                scene.look()
            }
        },
        Fault(
            "store full, seen in the log alone", .storeHalted,
            ["(store.full), about 30 jobs wait for it: There is no space left"]
        ) {
            $0.workers = []
            $0.publish(30, to: .retry1m, 2)
            $0.look(14)
            $0.sample(
                .retry1m, 2, 20, code: "store.full", host: "https://a.example",
                message: "There is no space left in the store.")
        },
        Fault("renderer missing", .rendererHalted, ["The renderers hold jobs back (render.unavailable)"]) { scene in
            for tries in 1...7 {
                scene.workers = [
                    WorkerSight(
                        "10.0.0.1:9464",
                        .figures(Scene.figures(owned: 4, failures: ["render.unavailable": Double(tries)])))
                ]
                scene.look()
            }
        },
        Fault(
            "one host answers 429", .hostBlocked,
            [
                "82 % of what waits (82 jobs) waits for https://images.example (fetch.too-many-requests): It answered 429."
            ]
        ) {
            $0.publish(82, to: .retry1m, 0)
            $0.publish(18, to: .jobsFast, 0)
            $0.look(14)
            $0.sample(
                .retry1m, 0, 82, code: "fetch.too-many-requests", host: "https://images.example",
                message: "It answered 429.")
            $0.sample(.jobsFast, 0, 18, code: nil, host: "https://other.example")
        },
        Fault(
            "one host that is left alone", .hostBlocked,
            [
                "https://images.example (fetch.too-many-requests) is blocked until ",
                " UTC: 82 % of what waits (82 jobs) waits for it.",
            ]
        ) {
            $0.publish(82, to: .retry1m, 0)
            $0.publish(18, to: .jobsFast, 0)
            $0.look(14)
            $0.sample(.retry1m, 0, 82, code: "retry.host-blocked", host: "https://images.example")
            $0.sample(.jobsFast, 0, 18, code: nil, host: "https://other.example")
            $0.tell("https://quiet.example", .blocked, code: "fetch.deadline")
            $0.tell("https://images.example", .blocked, code: "fetch.too-many-requests")
        },
        Fault(
            "one host that a person has blocked", .paused,
            ["https://images.example (by a person) is blocked until ", "100 % of what waits (40 jobs) waits for it."]
        ) {
            $0.publish(40, to: .retry1m, 0)
            $0.look(14)
            $0.sample(.retry1m, 0, 40, code: "retry.host-blocked", host: "https://images.example")
            $0.tell("https://images.example", .blocked, code: OriginRow.operatorName, by: OriginRow.operatorName)
        },
        Fault(
            "one host slow", .hostSlow,
            [
                "https://slow.example answers slowly: 100 % of what waits (40 jobs) waits for it, and it is asked 6 at once"
            ]
        ) {
            $0.publish(40, to: .jobsFast, 0)
            $0.look(14)
            $0.tell("https://slow.example", .open, inFlight: 6)
            $0.head(.jobsFast, 0, seconds: 14)
            $0.sample(.jobsFast, 0, 40, code: nil, host: "https://slow.example")
        },
        Fault(
            "one host that runs into deadlines", .hostSlow,
            ["https://slow.example answers slowly: ", "(fetch.deadline)"]
        ) {
            $0.publish(4, to: .retry10s, 0)
            $0.look(14)
            $0.sample(.retry10s, 0, 4, code: "fetch.deadline", host: "https://slow.example")
        },
        Fault(
            "one host with more jobs than may be in memory", .hostSlow,
            ["https://slow.example answers slowly: ", "(retry.host-crowded)"]
        ) {
            $0.publish(90, to: .retry10s, 0)
            $0.look(14)
            $0.sample(.retry10s, 0, 90, code: "retry.host-crowded", host: "https://slow.example")
        },
        Fault(
            "a poison job", .killerJob,
            ["the owners of partition 2 died 2 times, and the record jobs.fast-2-3 may be why"]
        ) {
            $0.look(14)
            $0.apply(
                .progress(
                    ProgressRow(
                        partition: PartitionID(2), topics: [:], deaths: 2,
                        suspects: [.init(.jobsFast, 3, deaths: 2)], at: $0.now)))
        },
        Fault("a poison job that was set aside", .killerJob, ["Workers died of the job evil, which was set aside at "])
        {
            $0.look(14)
            var change = LetterChange(PartitionID(0), isWhole: true)
            change.added = [.init(id: "evil", code: "job.poison", host: "", at: $0.now)]
            $0.apply(.letters(change))
        },
        Fault(
            "fast overload", .saturated,
            ["Fast has more to do than is done.", "Fast is late: ", "(target 5 s), growing by 15/s"]
        ) { scene in
            scene.look(14) {
                $0.publish(40, to: .jobsFast, 0)
                $0.finish(10, of: .jobsFast, 0)
            }
            scene.head(.jobsFast, 0, seconds: 10)
        },
    ]

    @Test("Each staged fault is named first, with what to do, within 15 seconds", arguments: faults)
    func staged(fault: Fault) {
        var scene = Scene()
        scene.look()
        let begun = scene.now
        fault.stage(&scene)
        let diagnosis = scene.report.diagnosis
        #expect(scene.now - begun <= 16_000)
        #expect(diagnosis.cause == fault.cause, "\(diagnosis.sentence)")
        for words in fault.says { #expect(diagnosis.sentence.contains(words), "\(diagnosis.sentence)") }
        #expect(diagnosis.action == fault.cause.action && diagnosis.action.hasSuffix("."))
    }

    @Test("What comes first in the list is said, whatever else is so")
    func precedence() {
        var scene = Scene()
        scene.look(10)
        scene.publish(9, to: .jobsFast, 0)
        scene.look()
        scene.head(.jobsFast, 0, seconds: 60)
        // Its job is set aside: that is over.
        var change = LetterChange(PartitionID(0), isWhole: true)
        change.added = [.init(id: "evil", code: "job.poison", host: "", at: scene.now)]
        scene.apply(.letters(change))
        #expect(scene.report.diagnosis.cause == .saturated)
        scene.sample(.jobsFast, 0, 9, code: nil, host: "https://b.example")
        scene.tell("https://b.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.diagnosis.sentence.hasPrefix("https://b.example (fetch.server-error) is blocked until "))
        scene.tell("https://b.example", .blocked, code: OriginRow.operatorName, by: OriginRow.operatorName)
        #expect(scene.report.diagnosis.sentence.hasPrefix("https://b.example (by a person) is blocked until "))
        #expect(scene.report.diagnosis.cause == .paused)
        scene.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, restoring: 1, rowsLeft: 7)))]
        scene.look()
        #expect(scene.report.diagnosis.cause == .restoring)
        scene.unreadable = [3]
        scene.look(6)
        #expect(scene.report.diagnosis.sentence.hasPrefix("1 of 4 partitions cannot be read since "))
        scene.owners[PartitionID(1)] = nil
        scene.look(12)
        #expect(scene.report.diagnosis.cause == .noOwner)
        scene.owners = [:]
        scene.look(8)
        #expect(scene.report.diagnosis.cause == .noWorker)
        scene.unreadable = [0, 1, 2, 3]
        scene.look(6)
        #expect(scene.report.diagnosis.cause == .logUnreachable)
    }

    @Test("A blocked host for which little waits is no cause, and one whose time is over or that was unblocked is none")
    func spared() {
        var scene = Scene()
        scene.publish(10, to: .retry1m, 0)
        scene.look()
        #expect(scene.report.hosts == nil)
        scene.sample(.retry1m, 0, 4, code: "retry.host-blocked", host: "https://b.example")
        scene.tell("https://c.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.diagnosis.sentence.hasPrefix("100 % of what waits"))
        scene.tell("https://b.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.diagnosis.sentence.hasPrefix("https://b.example (fetch.server-error) is blocked until "))
        #expect(scene.report.blockedHosts?.map(\.host) == ["https://b.example", "https://c.example"])
        scene.tell("https://c.example", .open)
        scene.advance()
        var row = OriginRow(host: "https://b.example", by: OriginRow.operatorName, at: scene.now)
        row.state = .open
        scene.apply(.hosts([row]))
        #expect(scene.report.blockedHosts == [])
        scene.look(700)
        #expect(scene.report.troubledHosts == [])
    }

    @Test("A rebalance is no outage, and what is over is not said any more")
    func over() {
        var scene = Scene()
        scene.look()
        let owners = scene.owners
        scene.owners = [:]
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .fine)
        scene.owners = owners
        scene.look(20)
        #expect(scene.report.diagnosis.cause == .fine)
        scene.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, failures: ["store.full": 1])))]
        scene.look(20)
        #expect(scene.report.diagnosis.cause == .storeHalted)
        scene.look(16)
        #expect(scene.report.diagnosis.cause == .fine)
    }

    @Test("A worker that nobody asks, and that stands still while it owns jobs, is named")
    func standstill() {
        var scene = Scene()
        scene.workers = []
        scene.publish(5, to: .jobsFast, 0)
        scene.publish(5, to: .jobsFast, 1)
        scene.look()
        scene.head(.jobsFast, 0, seconds: 1)
        scene.head(.jobsFast, 1, seconds: 1)
        scene.look(18)
        #expect(scene.report.diagnosis.sentence.hasPrefix("Nothing comes on at w1@10.0.0.1 since "))
        scene.finish(1, of: .jobsFast, 1)
        scene.look()
        #expect(scene.report.diagnosis.cause == .saturated)
    }

    @Test("Nothing seen is starting; dead letters are told where nothing else is")
    func calm() {
        var scene = Scene()
        #expect(scene.report.diagnosis.cause == .starting)
        scene.look()
        #expect(
            scene.report.diagnosis.sentence == "Jobs are begun in time. Fast has nothing to do. Slow has nothing to do."
        )
        for number in 0..<4 {
            var change = LetterChange(PartitionID(Int32(number)), isWhole: true)
            if number == 0 { change.added = [.init(id: "a", code: "job.not-json", host: "", at: scene.now)] }
            scene.apply(.letters(change))
        }
        #expect(scene.report.diagnosis.sentence.hasPrefix("1 dead letter waits for a person, the newest since "))
        #expect(scene.report.metrics.text.contains("\nmezzotint_dead_letters{partition=\"0\"} 1\n"))
        var change = LetterChange(PartitionID(0), isWhole: true)
        change.discarded = ["a"]
        scene.apply(.letters(change))
        #expect(scene.report.diagnosis.cause == .fine && scene.report.letters == 0)
    }
}
