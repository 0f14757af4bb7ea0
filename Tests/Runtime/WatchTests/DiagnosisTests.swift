import Clocks
import ImageModel
import Ports
import Records
import Telemetry
import TestSupport
import Testing

@testable import Watch

@Suite("What holds the work up", .timeLimit(.minutes(1)))
struct DiagnosisTests {
    @Test("Each staged fault is named first, with what to do, within 15 seconds", arguments: StagedFault.all)
    func staged(fault: StagedFault) {
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
        var change = DeadLetterChange(PartitionID(0), isWhole: true)
        change.added = [.init(id: "evil", code: "job.poison", host: "", at: scene.now)]
        scene.apply(.deadLetters(change))
        #expect(scene.report.diagnosis.cause == .saturated)
        scene.sample(.jobsFast, 0, 9, code: nil, host: "https://b.example")
        scene.tell("https://b.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.diagnosis.sentence.hasPrefix("https://b.example (fetch.server-error) is blocked until "))
        scene.tell("https://b.example", .blocked, code: OriginRow.operatorName, by: OriginRow.operatorName)
        #expect(scene.report.diagnosis.sentence.hasPrefix("https://b.example (by an operator) is blocked until "))
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
        (scene.owners, scene.workers) = ([:], [])
        scene.look(8)
        #expect(scene.report.diagnosis.cause == .noWorker)
        scene.unreadable = [0, 1, 2, 3]
        scene.look(6)
        #expect(scene.report.diagnosis.cause == .logUnreachable)
    }

    @Test("A blocked host for which little waits is no cause, and one whose time is over or that was unblocked is none")
    func spared() {
        var scene = Scene()
        scene.look()
        #expect(scene.report.hosts == nil)
        scene.park(10, code: "retry.host-blocked", host: "https://b.example")
        scene.tell("https://c.example", .blocked, code: "fetch.server-error")
        #expect(scene.report.diagnosis.sentence.hasPrefix("All 10 pending jobs wait for https://b.example"))
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
        scene.park(1, code: "fetch.server-error", host: "https://a.example")
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
        scene.look()
        scene.park(40, code: "retry.host-crowded", host: "https://a.example")
        #expect(scene.report.metrics.text.contains("\nmezzotint_watch_oldest_ready_job_seconds{lane=\"fast\"} 20\n"))
        scene.unpark()
        scene.park(40, code: "fetch.server-error", host: "https://a.example")
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

    @Test(
        "A worker that dies again and again is never idle, though nothing is pending",
        arguments: [
            // Between two processes, as they come: nothing is over.
            (restarts: 0, away: 4, isClean: false, cause: .fine), (2, 4, false, .fine), (1, 4, true, .fine),
            // One end is a run's; a worker that ended cleanly may come as often as it likes.
            (0, 8, false, .idle), (1, 8, true, .idle), (2, 8, nil, .idle), (3, 4, true, .fine), (4, 8, true, .idle),
            (1, 8, false, .noWorker), (3, 4, false, .crashLoop), (3, 8, false, .crashLoop), (1, 700, false, .idle),
        ] as [(restarts: Int, away: Int, isClean: Bool?, cause: Cause)])
    func dying(restarts: Int, away: Int, isClean: Bool?, cause: Cause) {
        var scene = Scene(isShared: false)
        scene.look()
        for number in 0..<4 {
            let partition = PartitionID(Int32(number))
            scene.apply(.progress(ProgressRow(partition: partition, topics: [:], isClean: isClean, at: scene.now)))
        }
        for _ in 0..<restarts {
            scene.restart(isClean: isClean == true)
            scene.look()
        }
        scene.owners = [:]
        scene.workers = [WorkerSight(scene.workers[0].address, .silent("It does not respond."))]
        scene.look(away)
        #expect(scene.report.diagnosis.cause == cause, "\(scene.report.diagnosis.sentence)")
    }

    @Test("A job is blamed for a crash loop only if two crashes had it under way, and while it is unfinished")
    func innocent() {
        var scene = Scene()
        scene.look()
        for _ in 0..<3 {
            scene.restart()
            scene.look(4)
        }
        func quarantinedJob(_ crashes: Int) {
            scene.apply(
                .progress(
                    ProgressRow(
                        partition: PartitionID(2), topics: [:], crashes: 3,
                        quarantined: [.init(.jobsFast, 3, crashes: crashes)], at: scene.now)))
        }
        quarantinedJob(1)
        #expect(scene.report.diagnosis.cause == .crashLoop)
        quarantinedJob(2)
        #expect(scene.report.diagnosis.cause == .poisonJob)
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
        (scene.owners, scene.workers) = ([:], [])
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
        for _ in 0..<43_199 { scene.advance() }
        #expect(scene.report.loss?.records == 60, "a day has not passed")
        for _ in 0..<1_801 { scene.advance() }
        #expect(scene.report.loss == nil)
    }

    @Test("A loss is known after lagwatch and the worker were restarted, by the progress rows")
    func oldLosses() {
        var scene = Scene()
        func told(_ number: Int32, _ lost: ProgressRow.Lost?) {
            let row = ProgressRow(partition: PartitionID(number), topics: [:], lost: lost, at: scene.now)
            scene.apply(.progress(row))
        }
        scene.look()
        let missed = scene.now - .hours(20)
        told(1, .init(records: 40, at: missed - 1))
        told(2, .init(records: 20, at: missed))
        // Of a clock that was ahead, or of yesterday.
        told(3, .init(records: 7, at: scene.now + .days(400)))
        told(0, .init(records: 7, at: scene.now - .days(1)))
        #expect(scene.report.loss?.records == 60 && scene.report.loss?.last == missed)
        #expect(scene.report.diagnosis.cause == .jobsLost)
        told(1, nil)
        #expect(scene.report.loss?.records == 20)
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
            var change = DeadLetterChange(PartitionID(Int32(number)), isWhole: true)
            if number == 0 { change.added = [.init(id: "a", code: "job.not-json", host: "", at: scene.now)] }
            scene.apply(.deadLetters(change))
        }
        #expect(scene.report.diagnosis.sentence.hasPrefix("1 dead letter waits for an operator, the newest since "))
        #expect(scene.report.metrics.text.contains("\nmezzotint_dead_letters{partition=\"0\"} 1\n"))
        var change = DeadLetterChange(PartitionID(0), isWhole: true)
        change.discarded = [DeadLetter.Name(id: "a")]
        scene.apply(.deadLetters(change))
        #expect(scene.report.diagnosis.cause == .fine && scene.report.deadLetters == 0)
    }
}
