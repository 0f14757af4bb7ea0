import Clocks
import ImageModel
import Ports
import Records
import TestSupport

@testable import Watch

extension StagedFault {
    /// Of workers, brokers, stores and disks.
    static let outside: [StagedFault] = [
        StagedFault(
            "all workers dead", .noWorker,
            ["No worker has been running since ", "Fast is late: 40 pending, the oldest for 14 s"]
        ) {
            $0.publish(40, to: .jobsFast, 1)
            ($0.owners, $0.workers) = ([:], [])
            $0.look(14)
            $0.head(.jobsFast, 1, seconds: 14)
        },
        StagedFault(
            "one worker stopped", .workerSilent,
            ["1 of 2 workers (10.0.0.2:9464) has not responded since ", " UTC: connection refused."]
        ) {
            $0.workers.append(WorkerSight("10.0.0.2:9464", .figures(Scene.figures(owned: 2))))
            $0.look()
            $0.workers[1] = WorkerSight("10.0.0.2:9464", .silent("connection refused"))
            $0.look(14)
        },
        StagedFault(
            "a worker that tells too much", .workerSilent,
            ["its response is larger than 2 MiB. Fast has nothing to do."]
        ) {
            $0.workers.append(WorkerSight("10.0.0.2:9464", .silent("its response is larger than 2 MiB")))
            $0.look(14)
        },
        StagedFault(
            "a clock that is an hour ahead", .clockSkewed,
            [
                "The clock of the worker at 10.0.0.2:9464 is 1 h ahead of the brokers': jobs and sources expire too early."
            ]
        ) {
            var figures = Scene.figures(owned: 2)
            figures.clockSkew = .hours(1)
            $0.workers.append(WorkerSight("10.0.0.2:9464", .figures(figures)))
            $0.look(2)
        },
        StagedFault(
            "two clocks that are behind", .clockSkewed,
            ["10.0.0.2:9464 is 45 s behind the brokers'", "too late; 1 other clock differs, too."]
        ) {
            for (number, skew) in [(2, -45_000), (3, -12_000), (4, 9_900)] as [(Int, Duration)] {
                var figures = Scene.figures(owned: 2)
                figures.clockSkew = skew
                $0.workers.append(WorkerSight("10.0.0.\(number):9464", .figures(figures)))
            }
            $0.look(2)
        },
        StagedFault(
            "brokers' clock that is an hour behind", .clockSkewed,
            ["The brokers' clock is 1 h behind the clocks of all 2 workers: the ages of jobs are wrong by as much."],
            asks: "Set the clock of the brokers' machines"
        ) {
            $0.workers = ([3_600_000, 3_599_000] as [Duration]).enumerated().map { number, skew in
                var figures = Scene.figures(owned: 2)
                figures.clockSkew = skew
                return WorkerSight("10.0.0.\(number):9464", .figures(figures))
            }
            $0.look(2)
        },
        StagedFault(
            "one worker stopped, of two that nobody asks", .noOwner, ["2 of 4 partitions have had no owner since "]
        ) {
            $0.workers = []
            $0.look()
            for number in [1, 2] as [Int32] { $0.owners[PartitionID(number)] = nil }
            $0.look(14)
        },
        StagedFault(
            "broker gone", .logUnreachable,
            ["The log has not responded since ", "(14 s): no broker", "as old as that"]
        ) {
            for _ in 0..<7 {
                $0.advance()
                $0.apply(.silence("no broker"))
            }
        },
        StagedFault(
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
        StagedFault("store full", .storeHalted, ["The store holds jobs back (store.full)"], asks: "df -h, df -i") {
            scene in
            for tries in 1...7 {
                scene.workers = [
                    WorkerSight(
                        "10.0.0.1:9464",
                        .figures(Scene.figures(owned: 4, failures: ["store.full": Double(tries)])))
                ]
                scene.look()
            }
        },
        StagedFault(
            "log's disk full", .storeHalted, ["The log's disk holds jobs back (log.full)"], asks: "the disk of data"
        ) {
            scene in
            for tries in 1...7 {
                scene.workers = [
                    WorkerSight(
                        "10.0.0.1:9464", .figures(Scene.figures(owned: 4, failures: ["log.full": Double(tries)])))
                ]
                scene.look()
            }
        },
        StagedFault(
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
        StagedFault(
            "store full, seen in the log alone", .storeHalted,
            ["(store.full), 30 jobs wait for it: There is no space left"], asks: "Free space"
        ) {
            $0.workers = []
            $0.look(14)
            $0.park(
                30, in: 2, code: "store.full", host: "https://a.example",
                message: "There is no space left in the store.")
        },
        StagedFault(
            "store hangs", .storeHalted,
            [
                "The store does not respond: the oldest of 20 sources that the worker at 10.0.0.1:9464 is storing has made no progress for 16 s."
            ], asks: "Check the disk, share or service of the store"
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
                                "fetch": .init(sources: 9, oldest: 29_000),
                                "store": .init(sources: 20, oldest: 16_400),
                                "look": .init(sources: 1, oldest: 15_100),
                            ])))
            ]
            $0.look()
        },
        StagedFault("renderer missing", .rendererHalted, ["The renderers hold jobs back (render.unavailable)"]) {
            scene in
            for tries in 1...7 {
                scene.workers = [
                    WorkerSight(
                        "10.0.0.1:9464",
                        .figures(Scene.figures(owned: 4, failures: ["render.unavailable": Double(tries)])))
                ]
                scene.look()
            }
        },
        StagedFault(
            "one host answers 429", .hostBlocked,
            [
                "82 of 100 pending jobs (82 %) wait for https://images.example (fetch.too-many-requests): It answered 429."
            ], asks: "Lower its limits (origins.NAME.concurrency"
        ) {
            $0.publish(18, to: .jobsFast, 0)
            $0.look(14)
            $0.park(
                82, code: "fetch.too-many-requests", host: "https://images.example",
                message: "It answered 429.")
            $0.sample(.jobsFast, 0, 18, code: nil, host: "https://other.example")
        },
    ]
}
