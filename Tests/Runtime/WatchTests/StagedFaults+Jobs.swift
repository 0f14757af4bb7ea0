import Clocks
import ImageModel
import Ports
import Records
import TestSupport

@testable import Watch

extension StagedFault {
    /// Of hosts, and of jobs themselves.
    static let jobs: [StagedFault] = [
        StagedFault(
            "one host that is left alone", .hostBlocked,
            [
                "https://images.example (fetch.too-many-requests) is blocked until ",
                " UTC: 82 of 100 pending jobs (82 %) wait for it.",
            ], asks: "ask who runs https://images.example for more"
        ) {
            $0.publish(18, to: .jobsFast, 0)
            $0.look(14)
            $0.park(82, code: "retry.host-blocked", host: "https://images.example")
            $0.sample(.jobsFast, 0, 18, code: nil, host: "https://other.example")
            $0.tell("https://quiet.example", .blocked, code: "fetch.deadline")
            $0.tell("https://images.example", .blocked, code: "fetch.too-many-requests")
        },
        StagedFault(
            "one host that a person has blocked", .paused,
            [
                "https://images.example (by an operator) is blocked until ",
                "all 40 pending jobs wait for it.",
            ], asks: "mezzotint origins unblock https://images.example. "
        ) {
            $0.look(14)
            $0.park(40, code: "retry.host-blocked", host: "https://images.example")
            $0.tell("https://images.example", .blocked, code: OriginRow.operatorName, by: OriginRow.operatorName)
        },
        StagedFault(
            "the slow lane paused", .paused,
            [
                "The slow lane is paused until ", " by ana@host (a new disk)", ": all 40 pending jobs wait.",
            ], asks: "End the pause when its reason is gone: mezzotint resume --lane slow."
        ) {
            $0.publish(40, to: .jobsSlow, 0)
            $0.look(14)
            $0.head(.jobsSlow, 0, seconds: 7_200)
            $0.sample(.jobsSlow, 0, 40, code: nil, host: "https://images.example")
            $0.pause([.lane(.slow)])
        },
        StagedFault(
            "one host slow", .hostSlow,
            [
                "https://slow.example is slow, or its limit is low: all 40 pending jobs wait for it, its limit of 6 fetches at once is full, and renderers are idle."
            ]
        ) {
            $0.publish(40, to: .jobsFast, 0)
            $0.look(14)
            $0.tell("https://slow.example", .open, inFlight: 6)
            $0.head(.jobsFast, 0, seconds: 14)
            $0.sample(.jobsFast, 0, 40, code: nil, host: "https://slow.example")
        },
        StagedFault(
            "one host that runs into deadlines", .hostSlow,
            ["https://slow.example responds slowly (fetch.deadline): "], asks: "https://slow.example"
        ) {
            $0.look(14)
            $0.park(4, code: "fetch.deadline", host: "https://slow.example")
        },
        StagedFault(
            "more jobs of one healthy host than may be in memory, with idle renderers", .readAhead,
            [
                "Fast jobs of https://a.example wait for our own read-ahead: 90 jobs of that lane are parked",
                "Fast is late: 90 pending (90 parked), the oldest for 20 s",
            ]
        ) {
            $0.look(14)
            $0.park(90, code: "retry.host-crowded", host: "https://a.example")
            $0.tell("https://a.example", .open, inFlight: 1)
        },
        StagedFault(
            "more jobs of one healthy host than may be in memory, with busy renderers", .saturated,
            ["Fast has more to do than is done; 88 % of the renderers are busy.", "(325 parked)"]
        ) {
            $0.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, renders: 2)))]
            $0.publish(1_173, to: .jobsFast, 0)
            $0.look(14)
            $0.head(.jobsFast, 0, seconds: 14)
            $0.park(325, code: "retry.host-crowded", host: "https://a.example")
            $0.sample(.jobsFast, 0, 500, code: nil, host: "https://a.example")
            $0.tell("https://a.example", .open, inFlight: 6)
        },
        StagedFault(
            "egress cut", .egress,
            [
                "60 hosts cannot be reached at once (fetch.connection), http://10.9.0.0 among them, and no host responds",
                "All 4,320 pending jobs wait.", "Fast is late: 4,320 pending (4,320 parked)",
            ]
        ) {
            $0.look(10)
            for number in 0..<4 {
                $0.park(
                    18, in: number, code: "fetch.connection", hosts: (0..<60).map { "http://10.9.0.\($0)" }, seconds: 60)
            }
        },
        StagedFault(
            "several hosts that fail while others respond", .hostsFail,
            ["3 hosts fail: 90 of 100 pending jobs (90 %) wait for them, most for http://c (fetch.server-error)."],
            asks: "Ask who runs http://c."
        ) {
            $0.publish(10, to: .jobsFast, 0)
            $0.look(10)
            $0.park(25, code: "fetch.server-error", hosts: ["http://a", "http://b"], seconds: 0)
            $0.park(40, code: "fetch.server-error", host: "http://c", seconds: 0)
            $0.sample(.jobsFast, 0, 10, code: nil, host: "http://d")
            $0.end(.stored, 40, host: "http://d")
        },
        StagedFault(
            "every job fails", .jobsFail,
            [
                "100 % of the jobs that ended in the last half minute failed (300 of 300): fetch.not-found at https://a.example. Example: job j1, https://a.example/a.jpg: It answered 404."
            ], asks: "requests sources that do not exist at https://a.example"
        ) {
            $0.look(10) {
                $0.end(.failed, 60, code: "fetch.not-found", host: "https://a.example", message: "It answered 404.")
            }
        },
        StagedFault(
            "five of five jobs fail at a first run", .jobsFail,
            ["100 % of the jobs that ended in the last 5 minutes failed (5 of 5): fetch.refused-address at"],
            asks: "add its address range to fetch.allow"
        ) {
            $0.end(.failed, 5, code: "fetch.refused-address", host: "http://127.0.0.1:8000")
        },
        StagedFault(
            "all jobs of one host fail, a tenth of all", .jobsFail,
            ["All 20 jobs of https://gone.example that ended in the last 5 minutes failed: fetch.forbidden."],
            asks: "credentials that https://gone.example expects"
        ) {
            $0.end(.stored, 180, host: "https://a.example")
            $0.end(.failed, 20, code: "fetch.forbidden", host: "https://gone.example")
        },
        StagedFault(
            "every job expires", .jobsExpire,
            [
                "100 % of the jobs that ended in the last half minute expired (300 of 300). Example"
            ]
        ) {
            $0.look(10) { $0.end(.expired, 60, code: "expired", host: "https://a.example") }
        },
        StagedFault(
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
        StagedFault(
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
        StagedFault(
            "a worker that is killed again and again", .crashLoop,
            [
                "The worker at 10.0.0.1:9464 was started 3 times within 10 s, the last time at ",
                "The log of the process before ended with: 10:28:36 ERROR No space.",
            ]
        ) {
            for _ in 0..<3 {
                $0.restart(after: "10:28:36 ERROR No space.")
                $0.look(4)
            }
        },
        StagedFault(
            "variants recreated under a worker", .topicRecreated,
            ["The worker at 10.0.0.1:9464 reads a topic that was recreated or truncated (log.recreated)."],
            asks: "mezzotint topics restore"
        ) {
            $0.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4)))]
            $0.look()
            $0.workers = [
                WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 3, failures: ["log.recreated": 1])))
            ]
            $0.look(12)
        },
        StagedFault(
            "two workers, two store folders, one of them silent", .storeMismatch,
            ["A worker's store is not the one that the log's rows are bound to (store.mismatched)."],
            asks: "store.adopt=true"
        ) {
            $0.workers = [
                WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, failures: ["store.mismatched": 3])))
            ]
            $0.look()
            $0.workers = [WorkerSight("10.0.0.1:9464", .silent("it answers with status 503"))]
            $0.look(12)
        },
        StagedFault(
            "topics missing", .topicsUnusable, ["The topics do not fit."], asks: "mezzotint topics check"
        ) {
            for _ in 0..<7 {
                $0.advance()
                $0.apply(.silence("The topics do not fit.", code: "log.topics"))
            }
        },
        StagedFault("a disk with 2 MiB left", .diskFills, ["The disk of store at 10.0.0.1:9464 has 2,048 KiB left."]) {
            var figures = Scene.figures(owned: 4)
            figures.diskFree = ["store": 2 << 20, "data": 1 << 40]
            $0.workers = [WorkerSight("10.0.0.1:9464", .figures(figures))]
            $0.look()
        },
        StagedFault(
            "only invalid jobs", .deadLetters,
            [
                "875 dead letters wait for an operator, the newest since ",
                "; 100 % of the jobs that ended in the last 5 minutes are dead letters. Example: job j1",
            ],
            asks: "discard them once they are fixed: mezzotint dead discard --all"
        ) {
            for number in 0..<4 {
                var change = DeadLetterChange(PartitionID(Int32(number)), isWhole: true)
                if number == 0 {
                    let now = $0.now
                    change.added = (0..<875).map { .init(id: "\($0)", code: "job.not-json", host: "", at: now) }
                }
                $0.apply(.deadLetters(change))
            }
            $0.end(.dead, 875, code: "job.not-json", host: "")
        },
        StagedFault(
            "two kinds of dead letters", .deadLetters,
            ["; 100 % of the jobs that ended in the last 5 minutes are dead letters, 75 % of them by job.not-json."],
            asks: "mezzotint dead list shows the records"
        ) {
            for number in 0..<4 {
                var change = DeadLetterChange(PartitionID(Int32(number)), isWhole: true)
                if number == 0 {
                    change.added = [
                        .init(id: "1", code: "job.not-json", host: "", at: $0.now - 9),
                        .init(id: "2", code: "job.unsigned", host: "", at: $0.now),
                    ]
                }
                $0.apply(.deadLetters(change))
            }
            $0.end(.dead, 30, code: "job.not-json", host: "")
            $0.end(.dead, 10, code: "job.unsigned", host: "")
        },
        StagedFault(
            "one fast job of many that is retried for long", .retrying,
            ["1 job of https://a.example failed and is retried (fetch.server-error): It answered 503."],
            asks: "mezzotint origins unblock https://a.example"
        ) {
            $0.publish(400, to: .jobsFast, 0)
            $0.look(10)
            $0.head(.jobsFast, 0, seconds: 1)
            $0.park(1, code: "fetch.server-error", host: "https://a.example", message: "It answered 503.")
            $0.sample(.jobsFast, 0, 400, code: nil, host: "https://b.example")
        },
        StagedFault(
            "a poison job", .poisonJob,
            ["the owners of partition 2 crashed 2 times, and the record jobs.fast-2-3 may be why"]
        ) {
            $0.look(14)
            $0.apply(
                .progress(
                    ProgressRow(
                        partition: PartitionID(2), topics: [:], crashes: 2,
                        quarantined: [.init(.jobsFast, 3, crashes: 2)], at: $0.now)))
        },
        StagedFault(
            "a poison job that was set aside", .poisonJob,
            ["Workers crashed by the job evil, which became a dead letter at "],
            asks: "mezzotint dead show evil"
        ) {
            $0.look(14)
            var change = DeadLetterChange(PartitionID(0), isWhole: true)
            change.added = [.init(id: "evil", code: "job.poison", host: "", at: $0.now)]
            $0.apply(.deadLetters(change))
        },
        StagedFault(
            "fast late with idle renderers", .saturated,
            ["Fast has more to do than is done; 0 % of the renderers are busy."], asks: "more cores do not help"
        ) {
            $0.publish(40, to: .jobsFast, 0)
            $0.look(14)
            $0.head(.jobsFast, 0, seconds: 14)
        },
        StagedFault(
            "fast overload", .saturated,
            [
                "Fast has more to do than is done; 100 % of the renderers are busy.", "Fast is late: ",
                "(target 5 s), growing by 15/s",
            ]
        ) { scene in
            scene.workers = [WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: 4, renders: 2)))]
            scene.look(14) {
                $0.publish(40, to: .jobsFast, 0)
                $0.finish(10, of: .jobsFast, 0)
            }
            scene.head(.jobsFast, 0, seconds: 10)
        },
    ]
}
