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
        /// A part of what is to be done; nil: the cause's own action.
        let asks: String?
        let stage: @Sendable (inout Scene) -> Void

        init(
            _ name: String, _ cause: Cause, _ says: [String], asks: String? = nil,
            _ stage: @escaping @Sendable (inout Scene) -> Void
        ) {
            (testDescription, self.cause, self.says, self.asks, self.stage) = (name, cause, says, asks, stage)
        }
    }

    static let faults: [Fault] = [
        Fault(
            "all workers dead", .noWorker,
            ["No worker has been running since ", "Fast is late: 40 pending, the oldest for 14 s"]
        ) {
            $0.publish(40, to: .jobsFast, 1)
            ($0.owners, $0.workers) = ([:], [])
            $0.look(14)
            $0.head(.jobsFast, 1, seconds: 14)
        },
        Fault("one worker stopped", .workerSilent, ["The worker at 10.0.0.2:9464 of 2 does not respond since "]) {
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
        Fault(
            "a clock that is an hour ahead", .clockSkewed,
            [
                "The clock of the worker at 10.0.0.2:9464 is 1 h ahead of the brokers': jobs and sources expire too early."
            ]
        ) {
            var figures = Scene.figures(owned: 2)
            figures.clockSkew = 3_600
            $0.workers.append(WorkerSight("10.0.0.2:9464", .figures(figures)))
            $0.look(2)
        },
        Fault(
            "two clocks that are behind", .clockSkewed,
            ["10.0.0.2:9464 is 45 s behind the brokers'", "too late; 1 other clock differs, too."]
        ) {
            for (number, skew) in [(2, -45.0), (3, -12.0), (4, 9.9)] {
                var figures = Scene.figures(owned: 2)
                figures.clockSkew = skew
                $0.workers.append(WorkerSight("10.0.0.\(number):9464", .figures(figures)))
            }
            $0.look(2)
        },
        Fault(
            "brokers' clock that is an hour behind", .clockSkewed,
            ["The brokers' clock is 1 h behind the clocks of all 2 workers: the ages of jobs are wrong by as much."],
            asks: "Set the clock of the brokers' machines"
        ) {
            $0.workers = [3_600.0, 3_599].enumerated().map { number, skew in
                var figures = Scene.figures(owned: 2)
                figures.clockSkew = skew
                return WorkerSight("10.0.0.\(number):9464", .figures(figures))
            }
            $0.look(2)
        },
        Fault("one worker stopped, of two that nobody asks", .noOwner, ["2 of 4 partitions have had no owner since "]) {
            $0.workers = []
            $0.look()
            for number in [1, 2] as [Int32] { $0.owners[PartitionID(number)] = nil }
            $0.look(14)
        },
        Fault(
            "broker gone", .logUnreachable,
            ["The log has not responded since ", "(14 s): no broker", "as old as that"]
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
        Fault("store full", .storeHalted, ["The store holds jobs back (store.full)"], asks: "df -h, df -i") { scene in
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
            "store full before a worker begins", .storeHalted, ["The store holds jobs back (store.full)"],
            asks: "Free space"
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
            ["(store.full), about 30 jobs wait for it: There is no space left"], asks: "Free space"
        ) {
            $0.workers = []
            $0.publish(30, to: .retry1m, 2)
            $0.look(14)
            $0.sample(
                .retry1m, 2, 20, code: "store.full", host: "https://a.example",
                message: "There is no space left in the store.")
        },
        Fault(
            "store hangs", .storeHalted,
            [
                "The store does not respond: the oldest of 20 sources that the worker at 10.0.0.1:9464 is storing has made no progress for 16 s."
            ], asks: "Check the disk or the share of store.directory"
        ) {
            $0.publish(40, to: .jobsFast, 1)
            $0.look(14)
            $0.head(.jobsFast, 1, seconds: 14)
            $0.workers = [
                WorkerSight(
                    "10.0.0.1:9464",
                    .figures(
                        Scene.figures(
                            owned: 4,
                            steps: [
                                "fetch": .init(sources: 9, oldestSeconds: 29),
                                "store": .init(sources: 20, oldestSeconds: 16.4),
                                "look": .init(sources: 1, oldestSeconds: 15.1),
                            ])))
            ]
            $0.look()
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
                "82 % of the pending jobs wait (82 jobs) for https://images.example (fetch.too-many-requests): It answered 429."
            ], asks: "Lower its limits (origins.NAME.concurrency"
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
                " UTC: 82 % of the pending jobs wait (82 jobs) for it.",
            ], asks: "ask who runs https://images.example for more"
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
            [
                "https://images.example (by a person) is blocked until ",
                "100 % of the pending jobs wait (40 jobs) for it.",
            ], asks: "mezzotint origins unblock https://images.example. "
        ) {
            $0.publish(40, to: .retry1m, 0)
            $0.look(14)
            $0.sample(.retry1m, 0, 40, code: "retry.host-blocked", host: "https://images.example")
            $0.tell("https://images.example", .blocked, code: OriginRow.operatorName, by: OriginRow.operatorName)
        },
        Fault(
            "one host slow", .hostSlow,
            [
                "https://slow.example is slow, or its limit is low: 100 % of the pending jobs wait (40 jobs) for it, all 6 fetches that it allows at once are running, and renderers are idle."
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
            ["https://slow.example responds slowly (fetch.deadline): "], asks: "https://slow.example"
        ) {
            $0.publish(4, to: .retry10s, 0)
            $0.look(14)
            $0.sample(.retry10s, 0, 4, code: "fetch.deadline", host: "https://slow.example")
        },
        Fault(
            "more jobs of one healthy host than may be in memory, with idle renderers", .readAhead,
            [
                "Fast jobs of https://a.example wait for our own read-ahead: 90 jobs of that lane are in delay topics",
                "Fast is late: 90 pending (90 retried), the oldest for 20 s",
            ]
        ) {
            $0.publish(90, to: .retry10s, 0)
            $0.look(14)
            $0.sample(.retry10s, 0, 90, code: "retry.host-crowded", host: "https://a.example")
            $0.tell("https://a.example", .open, inFlight: 1)
        },
        Fault(
            "more jobs of one healthy host than may be in memory, with busy renderers", .saturated,
            ["Fast has more to do than is done; 88 % of the renderers are busy.", "(325 retried)"]
        ) {
            $0.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, renders: 2)))]
            $0.publish(1_173, to: .jobsFast, 0)
            $0.publish(325, to: .retry10s, 0)
            $0.look(14)
            $0.head(.jobsFast, 0, seconds: 14)
            $0.sample(.retry10s, 0, 325, code: "retry.host-crowded", host: "https://a.example")
            $0.sample(.jobsFast, 0, 500, code: nil, host: "https://a.example")
            $0.tell("https://a.example", .open, inFlight: 6)
        },
        Fault(
            "egress cut", .egress,
            [
                "60 hosts cannot be reached at once (fetch.connection), http://10.9.0.0 among them, and no host responds",
                "100 % of the pending jobs wait (4,320 jobs).", "Fast is late: 4,320 pending (4,320 retried)",
            ]
        ) {
            for number in 0..<4 { $0.publish(1_080, to: .retry1m, number) }
            $0.look(10)
            for number in 0..<4 {
                var sample = PlaceSample(.retry1m, PartitionID(Int32(number)))
                for job in 0..<1_080 {
                    sample.count(
                        .init(lane: "fast", host: "http://10.9.0.\(job % 60)", code: "fetch.connection"),
                        since: $0.now - 60_000)
                }
                $0.apply(.sample(sample))
            }
        },
        Fault(
            "several hosts that fail while others respond", .hostsFail,
            ["3 hosts fail: 90 % of the pending jobs wait (90 jobs) for them, most for http://c (fetch.server-error)."],
            asks: "Ask who runs http://c."
        ) {
            $0.publish(90, to: .retry1m, 0)
            $0.publish(10, to: .jobsFast, 0)
            $0.look(10)
            var sample = PlaceSample(.retry1m, PartitionID(0))
            for (host, jobs) in [("http://a", 25), ("http://b", 25), ("http://c", 40)] {
                for _ in 0..<jobs {
                    sample.count(.init(lane: "fast", host: host, code: "fetch.server-error"), since: $0.now)
                }
            }
            $0.apply(.sample(sample))
            $0.sample(.jobsFast, 0, 10, code: nil, host: "http://d")
            $0.end(.stored, 40, host: "http://d")
        },
        Fault(
            "every job fails", .jobsFail,
            [
                "100 % of the jobs that ended in the last half minute failed (300 of 300): fetch.not-found at https://a.example. Example: job j1, https://a.example/a.jpg: It answered 404."
            ], asks: "requests sources that do not exist at https://a.example"
        ) {
            $0.look(10) {
                $0.end(.failed, 60, code: "fetch.not-found", host: "https://a.example", message: "It answered 404.")
            }
        },
        Fault(
            "five of five jobs fail at a first run", .jobsFail,
            ["100 % of the jobs that ended in the last 5 minutes failed (5 of 5): fetch.refused-address at"],
            asks: "add its address range to fetch.allow"
        ) {
            $0.end(.failed, 5, code: "fetch.refused-address", host: "http://127.0.0.1:8000")
        },
        Fault(
            "all jobs of one host fail, a tenth of all", .jobsFail,
            ["All 20 jobs of https://gone.example that ended in the last 5 minutes failed: fetch.forbidden."],
            asks: "credentials that https://gone.example expects"
        ) {
            $0.end(.stored, 180, host: "https://a.example")
            $0.end(.failed, 20, code: "fetch.forbidden", host: "https://gone.example")
        },
        Fault(
            "every job expires", .jobsExpire,
            [
                "100 % of the jobs that ended in the last half minute expired before they were begun (300 of 300). Example"
            ]
        ) {
            $0.look(10) { $0.end(.expired, 60, code: "expired", host: "https://a.example") }
        },
        Fault(
            "retention takes unread jobs", .jobsLost,
            ["Retention removed at least 600 jobs from jobs.slow before a worker had read them"]
        ) {
            $0.publish(630, to: .jobsSlow, 1)
            $0.finish(30, of: .jobsSlow, 1)
            $0.look()
            $0.remove(below: 630, of: .jobsSlow, 1)
            $0.look()
            $0.finish(600, of: .jobsSlow, 1)
            $0.look()
        },
        Fault(
            "a backlog that is older than half of what its topic keeps", .retentionShort,
            [
                "jobs.slow keeps records for 1 h and its oldest pending job is 40 min old: retention removes it in 20 min, read or not."
            ]
        ) {
            $0.apply(.retention([.jobsSlow: 3_600_000, .jobsFast: 3_600_000]))
            $0.publish(9, to: .jobsSlow, 1)
            $0.look(10)
            $0.head(.jobsSlow, 1, seconds: 2_400)
        },
        Fault(
            "a worker that is killed again and again", .crashLoop,
            ["The worker at 10.0.0.1:9464 was started 3 times within 10 s, the last time at "]
        ) {
            for _ in 0..<3 {
                $0.restart()
                $0.look(4)
            }
        },
        Fault(
            "two workers, two store folders, one of them silent", .storeMismatch,
            ["A worker's store is not the one that the log's rows are bound to (store.foreign)."],
            asks: "store.adopt=true"
        ) {
            $0.workers = [
                WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, failures: ["store.foreign": 3])))
            ]
            $0.look()
            $0.workers = [WorkerSight("10.0.0.1:9464", .silent("it answers with status 503"))]
            $0.look(12)
        },
        Fault(
            "topics missing", .topicsUnusable, ["The topics do not fit."], asks: "mezzotint topics check"
        ) {
            for _ in 0..<7 {
                $0.advance()
                $0.apply(.silence("The topics do not fit.", code: "log.topics"))
            }
        },
        Fault("a disk with 2 MiB left", .diskFills, ["The disk of store at 10.0.0.1:9464 has 2,048 KiB left."]) {
            var figures = Scene.figures(owned: 4)
            figures.diskFree = ["store": 2 << 20, "data": 1 << 40]
            $0.workers = [WorkerSight("10.0.0.1:9464", .figures(figures))]
            $0.look()
        },
        Fault(
            "only invalid jobs", .deadLetters,
            [
                "875 dead letters wait for a person, the newest since ",
                "; 100 % of the jobs that ended in the last 5 minutes are dead letters. Example: job j1",
            ],
            asks: "discard them once they are fixed: mezzotint dead discard --all"
        ) {
            for number in 0..<4 {
                var change = LetterChange(PartitionID(Int32(number)), isWhole: true)
                if number == 0 {
                    let now = $0.now
                    change.added = (0..<875).map { .init(id: "\($0)", code: "job.not-json", host: "", at: now) }
                }
                $0.apply(.letters(change))
            }
            $0.end(.dead, 875, code: "job.not-json", host: "")
        },
        Fault(
            "one fast job of many that is retried for long", .retrying,
            ["1 job of https://a.example failed and is retried (fetch.server-error): It answered 503."],
            asks: "mezzotint origins unblock https://a.example"
        ) {
            $0.publish(1, to: .retry1m, 0)
            $0.publish(400, to: .jobsFast, 0)
            $0.look(10)
            $0.head(.jobsFast, 0, seconds: 1)
            $0.sample(
                .retry1m, 0, 1, code: "fetch.server-error", host: "https://a.example", message: "It answered 503.")
            $0.sample(.jobsFast, 0, 400, code: nil, host: "https://b.example")
        },
        Fault(
            "a poison job", .killerJob,
            ["the owners of partition 2 crashed 2 times, and the record jobs.fast-2-3 may be why"]
        ) {
            $0.look(14)
            $0.apply(
                .progress(
                    ProgressRow(
                        partition: PartitionID(2), topics: [:], deaths: 2,
                        suspects: [.init(.jobsFast, 3, deaths: 2)], at: $0.now)))
        },
        Fault(
            "a poison job that was set aside", .killerJob,
            ["Workers crashed by the job evil, which became a dead letter at "],
            asks: "mezzotint dead show evil"
        ) {
            $0.look(14)
            var change = LetterChange(PartitionID(0), isWhole: true)
            change.added = [.init(id: "evil", code: "job.poison", host: "", at: $0.now)]
            $0.apply(.letters(change))
        },
        Fault(
            "fast overload", .saturated,
            [
                "Fast has more to do than is done; 0 % of the renderers are busy.", "Fast is late: ",
                "(target 5 s), growing by 15/s",
            ]
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
        let report = scene.report
        let diagnosis = report.diagnosis
        #expect(scene.now - begun <= 16_000)
        #expect(diagnosis.cause == fault.cause, "\(diagnosis.sentence)")
        for words in fault.says { #expect(diagnosis.sentence.contains(words), "\(diagnosis.sentence)") }
        if let asks = fault.asks {
            #expect(diagnosis.action.contains(asks), "\(diagnosis.action)")
        } else {
            #expect(diagnosis.action == fault.cause.action)
        }
        #expect(diagnosis.action.hasSuffix("."))
        // What waits for the cause is not sent to its turn, or to one of many hosts.
        for wait in report.waits where fault.cause.stopsJobs && [.turn, .host].contains(wait.reason) {
            #expect(report.action(of: wait).contains("once the cause at the top of the page is gone"))
        }
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
        #expect(scene.report.diagnosis.sentence.hasPrefix("100 % of the pending jobs wait"))
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
        scene.publish(1, to: .jobsFast, 0)
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .fine)
        scene.owners = owners
        scene.finish(1, of: .jobsFast, 0)
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
        #expect(scene.report.diagnosis.sentence.hasPrefix("No job has ended at w1@10.0.0.1 since "))
        scene.finish(1, of: .jobsFast, 1)
        scene.look()
        #expect(scene.report.diagnosis.cause == .saturated)
    }

    @Test("A run that ended is idle; a backlog without a worker is not")
    func idle() {
        var scene = Scene()
        scene.look()
        (scene.owners, scene.workers) = ([:], [])
        scene.look(10)
        #expect(scene.report.diagnosis.headline == "Idle. No worker is running; nothing is pending.")
        #expect(scene.report.diagnosis.cause == .idle)
        // Nor is what the run left of jobs that failed or were lost.
        scene.end(.failed, 3, code: "fetch.not-found", host: "https://a.example")
        #expect(scene.report.diagnosis.cause == .jobsFail)
        scene.publish(8, to: .jobsSlow, 0)
        scene.look()
        scene.remove(below: 8, of: .jobsSlow, 0)
        scene.look()
        #expect(scene.report.pending == 0 && scene.report.diagnosis.cause == .jobsLost)
        scene.publish(1, to: .retry1m, 0)
        scene.look()
        #expect(scene.report.diagnosis.cause == .noWorker)
    }

    @Test("Before the first publish nothing is wrong, and after it the log is seen")
    func unpublished() {
        var scene = Scene()
        scene.apply(.unpublished("data/log"))
        #expect(scene.report.diagnosis.cause == .idle)
        #expect(
            scene.report.diagnosis.sentence.hasPrefix("Nothing was published yet: there is no log at data/log."))
        scene.look()
        #expect(scene.report.diagnosis.cause == .fine)
    }

    @Test("Lagwatch is starting, and nothing is said to be well, until owners, places and workers were seen")
    func starting() {
        var scene = Scene(owner: nil)
        scene.workers = []
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .starting)
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .idle)
        scene = Scene()
        scene.workers = []
        scene.look()
        scene.apply(.asked(["10.0.0.1:9464"]))
        #expect(scene.report.diagnosis.cause == .starting)
        for _ in 0..<16 { scene.advance() }
        #expect(scene.report.diagnosis.cause != .starting)
    }

    @Test("A healthy host's full read-ahead never mutes that fast is late, and a host that fails does")
    func ready() {
        var scene = Scene()
        scene.publish(40, to: .retry1m, 0)
        scene.look()
        scene.sample(.retry1m, 0, 40, code: "retry.host-crowded", host: "https://a.example")
        #expect(scene.report.metrics.text.contains("\nmezzotint_watch_oldest_ready_job_seconds{lane=\"fast\"} 20\n"))
        scene.sample(.retry1m, 0, 40, code: "fetch.server-error", host: "https://a.example")
        #expect(scene.report.metrics.text.contains("\nmezzotint_watch_oldest_ready_job_seconds{lane=\"fast\"} 0\n"))
        #expect(scene.report.lanes[0].isLate(at: scene.now))
        // A fast job of another host, behind one of the host that fails.
        scene.publish(2, to: .jobsFast, 0)
        scene.look(8)
        scene.head(.jobsFast, 0, seconds: 8)
        var sample = PlaceSample(.jobsFast, PartitionID(0))
        sample.count(.init(lane: "fast", host: "https://a.example", code: nil), since: scene.now - 8_000)
        sample.count(.init(lane: "fast", host: "https://b.example", code: nil), since: scene.now - 2_000)
        scene.apply(.sample(sample))
        scene.tell("https://a.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.lanes[0].ready == scene.now - 2_000)
        // The other host's limit is full, and renderers are idle.
        scene.tell("https://b.example", .open, inFlight: 6)
        #expect(scene.report.lanes[0].ready == nil)
    }

    @Test("A worker that is killed every 5 seconds changes the page three times in 75 seconds, at most")
    func steady() {
        var scene = Scene()
        scene.look()
        var steady = SteadyDiagnosis()
        var shown: [Cause] = []
        scene.publish(400, to: .jobsFast, 0)
        for turn in 0..<37 {
            // Dead for two looks of three; what is restored or late meanwhile differs from look to look.
            switch turn % 3 {
            case 0: scene.restart()
            case 1: scene.owners = [:]
            default: scene.owners = Dictionary(uniqueKeysWithValues: (0..<4).map { (PartitionID(Int32($0)), "w1@h") })
            }
            scene.look()
            scene.head(.jobsFast, 0, seconds: turn % 2 == 0 ? 30 : 1)
            var report = scene.report
            report.settle(by: &steady)
            if report.diagnosis.cause != shown.last { shown.append(report.diagnosis.cause) }
        }
        #expect(shown.count <= 4 && shown.last == .crashLoop, "\(shown)")
        // What is over is over soon.
        scene.finish(400, of: .jobsFast, 0)
        scene.look(620)
        var report = scene.report
        report.settle(by: &steady)
        #expect(report.diagnosis.cause == .fine)
    }

    @Test("A job is blamed for a crash loop only if two crashes had it under way, and while it is unfinished")
    func innocent() {
        var scene = Scene()
        scene.look()
        for _ in 0..<3 {
            scene.restart()
            scene.look(4)
        }
        func suspect(_ deaths: Int) {
            scene.apply(
                .progress(
                    ProgressRow(
                        partition: PartitionID(2), topics: [:], deaths: 3,
                        suspects: [.init(.jobsFast, 3, deaths: deaths)], at: scene.now)))
        }
        suspect(1)
        #expect(scene.report.diagnosis.cause == .crashLoop)
        suspect(2)
        #expect(scene.report.diagnosis.cause == .killerJob)
        scene.publish(4, to: .jobsFast, 2)
        scene.finish(4, of: .jobsFast, 2)
        scene.look()
        #expect(scene.report.diagnosis.cause == .crashLoop)
    }

    @Test("A loss stays for a day, and what workers count of it is not counted twice")
    func losses() {
        var scene = Scene()
        scene.publish(100, to: .jobsFast, 0)
        scene.look()
        scene.remove(below: 60, of: .jobsFast, 0)
        scene.owners = [:]
        scene.look(8)
        #expect(scene.report.diagnosis.cause == .noWorker)
        #expect(scene.report.diagnosis.sentence.hasSuffix("Lost within the last day: at least 60 jobs."))
        scene.owners = Dictionary(uniqueKeysWithValues: (0..<4).map { (PartitionID(Int32($0)), "w1@h") })
        scene.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, failures: ["log.expired": 60])))]
        scene.look(6)
        scene.finish(100, of: .jobsFast, 0)
        scene.look()
        #expect(scene.report.loss?.records == 60 && scene.report.diagnosis.cause == .jobsLost)
        #expect(scene.report.metrics.text.contains("\nmezzotint_watch_lost_records 60\n"))
        for _ in 0..<43_200 { scene.advance() }
        #expect(scene.report.loss == nil)
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
