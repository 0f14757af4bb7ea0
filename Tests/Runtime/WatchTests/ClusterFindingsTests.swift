import Clocks
import Failures
import ImageModel
import Ports
import Records
import Telemetry
import TestSupport
import Testing

@testable import Watch

@Suite("What others do to the cluster", .timeLimit(.minutes(1)))
struct ClusterFindingsTests {
    private let place = LogPoint(.jobsFast, PartitionID(2), nil)

    @Test("A transaction that stays open is named with its first record; records behind it wait")
    func openTransaction() throws {
        var scene = Scene(cluster: ClusterName(bootstrap: "broker:9092", group: "mezzotint", prefix: "mezzotint."))
        scene.publish(40, to: .jobsFast, 2)
        scene.finish(40, of: .jobsFast, 2)
        scene.hidden[place] = 21
        scene.look(8)
        #expect(scene.state.hiddenToRead(9, at: scene.now) == [LogPoint(.jobsFast, PartitionID(2), 40)])
        scene.apply(.hidden(LogPoint(.jobsFast, PartitionID(2), 40), appended: scene.now - 90_000))
        scene.apply(.head(LogPoint(.jobsFast, PartitionID(2), 40), appended: nil))
        #expect(scene.report.diagnosis.cause != .openTransaction, "it may end yet")
        scene.look(4)
        let diagnosis = scene.report.diagnosis
        #expect(diagnosis.cause == .openTransaction)
        #expect(
            diagnosis.headline
                == "An open transaction hides mezzotint.jobs.fast, partition 2, from offset 40 on; its first record was appended 1 min 34 s ago. Nothing behind it is read."
        )
        let command = "kafka-transactions.sh --bootstrap-server broker:9092"
        #expect(
            diagnosis.action
                == "Find the producer: \(command) describe-producers --topic mezzotint.jobs.fast --partition 2. If it does not end its transaction, abort it: \(command) abort --topic mezzotint.jobs.fast --partition 2 --start-offset 40"
        )
        let lane = try #require(scene.report.lanes.first)
        #expect(lane.lag.records == 21 && lane.isLate(at: scene.now))
        #expect(scene.report.metrics.text.contains("\nmezzotint_watch_open_transactions 1\n"))
        scene.hidden = [:]
        scene.look()
        #expect(scene.report.diagnosis.cause != .openTransaction)
    }

    @Test("Transactions that end in their time are no cause, however many follow one another")
    func passing() {
        var scene = Scene()
        scene.hidden[place] = 3
        for _ in 0..<20 {
            scene.publish(1, to: .jobsFast, 2)
            scene.finish(1, of: .jobsFast, 2)
            scene.look()
            #expect(scene.report.diagnosis.cause != .openTransaction)
        }
    }

    @Test(
        "A commit marker at the end is nothing that waits; a job behind it is, though nothing was committed meanwhile")
    func marker() {
        var scene = Scene()
        scene.publish(5, to: .jobsFast, 0)
        scene.finish(4, of: .jobsFast, 0)
        scene.look()
        scene.apply(.head(LogPoint(.jobsFast, PartitionID(0), 4), appended: nil))
        #expect(scene.report.lanes[0].lag.records == 0)
        scene.publish(1, to: .jobsFast, 0)
        scene.look()
        #expect(scene.report.lanes[0].lag.records == 2, "until the record behind the marker is read")
        #expect(scene.state.headsToRead(9) == [LogPoint(.jobsFast, PartitionID(0), 4)])
    }

    @Test("A member that holds partitions and shows nothing of a worker is named; a worker that stands still is not")
    func foreignMember() {
        var scene = Scene(cluster: ClusterName(bootstrap: "broker:9092", group: "mezzotint", prefix: "mezzotint."))
        let worker = LogMember(id: "1", client: "w1", host: "10.0.0.1", partitions: [PartitionID(0), PartitionID(1)])
        let other = LogMember(
            id: "2", client: "rdkafka", host: "10.0.0.9", partitions: [PartitionID(2), PartitionID(3)])
        scene.workers = []
        scene.apply(
            .epoch(EpochRow(partition: PartitionID(0), epoch: 1, owner: "w1", isClean: false, at: scene.now)))
        scene.apply(.members([worker, other]))
        scene.look(14)
        #expect(scene.state.partitionsToSearch(9, at: scene.now) == [], "a worker restores first")
        scene.look(2)
        scene.apply(.members([worker, other]))
        #expect(scene.state.partitionsToSearch(9, at: scene.now) == [PartitionID(2)])
        #expect(scene.report.diagnosis.cause != .foreignMember)
        // Its last owner was another.
        scene.apply(
            .epoch(EpochRow(partition: PartitionID(2), epoch: 1, owner: "w1", isClean: true, at: scene.now)))
        scene.apply(.searched(PartitionID(2)))
        let diagnosis = scene.report.diagnosis
        #expect(diagnosis.cause == .foreignMember)
        #expect(
            diagnosis.headline.hasPrefix(
                "A program that is not a worker (client id rdkafka, host 10.0.0.9) has been a member of mezzotint since "
            ))
        #expect(diagnosis.headline.hasSuffix(" and holds 2 partitions (2, 3): their jobs wait."))
        #expect(diagnosis.action.hasPrefix("Stop the program with client id rdkafka on host 10.0.0.9, "))
        // Nobody restores its partitions, and no job in them gets a turn.
        scene.publish(5, to: .jobsFast, 2)
        scene.owners[PartitionID(2)] = "rdkafka@10.0.0.9"
        scene.look()
        scene.sample(.jobsFast, 2, 5, code: nil, host: "https://a.example")
        let report = scene.report
        #expect(report.waits.map(\.reason) == [.owner] && report.partitions[2].state == .owned)
        #expect(report.waits.allSatisfy { report.action(of: $0).contains("the cause at the top of the page") })
        scene.apply(.members([worker]))
        #expect(scene.report.diagnosis.cause != .foreignMember)
    }

    @Test(
        "A member that may still restore is not searched for, nor one whose metrics or whose word on hosts show a worker",
        // One whose client id names no number of partitions is named within a minute.
        arguments: [(partitionsUsed: Int?.some(4), seconds: 112), (nil, 38)])
    func restoring(partitionsUsed: Int?, seconds: Int) {
        var scene = Scene()
        let member = LogMember(
            id: "1", client: "new", host: "10.0.0.1", partitions: [PartitionID(0)], partitionsUsed: partitionsUsed)
        let changelog = LogPoint(.variants, PartitionID(0), nil)
        let million = PartitionOffsets(
            topic: .variants, partition: PartitionID(0), bounds: 0..<1_000_000, committed: nil)
        scene.apply(.offsets([.success(million)], of: [changelog]))
        scene.apply(.members([member]))
        scene.look(seconds)
        #expect(scene.state.partitionsToSearch(9, at: scene.now) == [])
        scene.look(4)
        #expect(scene.state.partitionsToSearch(9, at: scene.now) == [PartitionID(0)])
        scene.apply(.searched(PartitionID(0)))
        #expect(scene.state.foreignMembers.map(\.member) == [member])
        scene.tell("https://a.example", .blocked, by: "new")
        #expect(scene.state.foreignMembers.isEmpty && scene.state.partitionsToSearch(9, at: scene.now) == [])
    }

    @Test("Added partitions are named, with the records that nobody reads, before other causes where there are such")
    func addedPartitions() {
        var scene = Scene()
        scene.look()
        scene.apply(.grown([GrownTopic(.jobsSlow, partitions: 6, used: 4, unread: 0)]))
        #expect(scene.report.diagnosis.cause == .partitionsAdded)
        #expect(
            scene.report.diagnosis.headline
                == "The workers use 4 partitions of each topic, and jobs.slow has 6, 0 records unread. Nobody reads the others."
        )
        scene.workers = [WorkerSight("10.0.0.1:9464", .silent("connection refused"))]
        scene.look(14)
        #expect(scene.report.diagnosis.cause == .workerSilent)
        scene.apply(.grown([GrownTopic(.jobsSlow, partitions: 6, used: 4, unread: 28)]))
        #expect(scene.report.diagnosis.cause == .partitionsAdded)
        #expect(scene.report.diagnosis.headline.contains("jobs.slow has 6, 28 records unread."))
        scene.apply(.grown([]))
        #expect(scene.report.diagnosis.cause == .workerSilent)
    }

    /// Seen to fail: "Idle. Nothing is to be done", while config/kafka.md's first step was done, which stops all workers.
    @Test("Records in added partitions are named when no worker runs, too")
    func addedPartitionsWithoutWorkers() {
        var scene = Scene()
        scene.look()
        (scene.owners, scene.workers) = ([:], [])
        scene.look(10)
        #expect(scene.report.diagnosis.cause == .idle)
        scene.apply(.grown([GrownTopic(.jobsSlow, partitions: 6, used: 4, unread: 2)]))
        #expect(scene.report.diagnosis.cause == .partitionsAdded)
    }

    @Test("A topic whose retention is too short is named as the cluster names it, in a command that can be pasted")
    func shortRetention() {
        var scene = Scene(cluster: ClusterName(bootstrap: "broker:9092", group: "mezzotint", prefix: "mezzotint."))
        scene.look()
        scene.apply(.retention([.jobsSlow: 3_600_000, .jobsFast: 3_600_000]))
        scene.publish(9, to: .jobsSlow, 1)
        scene.look(10)
        scene.head(.jobsSlow, 1, seconds: 2_400)
        let diagnosis = scene.report.diagnosis
        #expect(diagnosis.cause == .retentionShort)
        let command =
            "kafka-configs.sh --bootstrap-server broker:9092 --alter --entity-type topics --entity-name mezzotint.jobs.slow --add-config retention.ms=1209600000"
        #expect(diagnosis.action.contains("(\(command))"), "\(diagnosis.action)")
    }

    @Test("A run that ends beside an open transaction prints commands that can be pasted")
    func hiddenCommands() {
        let failure = LogFailure.hidden(
            topic: .jobsFast, partition: PartitionID(2), offset: 40, count: 21,
            tools: ToolTopic(bootstrap: "broker:9092", name: "mezzotint.jobs.fast"))
        let (command, place) = (
            "kafka-transactions.sh --bootstrap-server broker:9092", "--topic mezzotint.jobs.fast --partition 2"
        )
        #expect(
            failure.description.hasSuffix(
                "Find its producer: \(command) describe-producers \(place). End it, or abort the transaction: \(command) abort \(place) --start-offset 40. Then run the worker again."
            ))
    }

    @Test("Missing topics are named with the command that makes them, not as a log that is away")
    func missingTopics() {
        var scene = Scene()
        let failure = LogFailure.topics(
            problems: [
                "13 topics are missing. Run mezzotint topics create, or ask your Kafka administrator to create them: a."
            ], remedy: "")
        scene.apply(.silence(failure.description, code: failure.code))
        #expect(scene.report.diagnosis.cause == .topicsUnusable)
        #expect(scene.report.diagnosis.headline.hasPrefix("13 topics are missing. Run mezzotint topics create, "))
        scene.look()
        scene.apply(.unusableTopics("1 topic is missing."))
        #expect(scene.report.diagnosis.headline == "1 topic is missing.")
        scene.apply(.unusableTopics(nil))
        #expect(scene.report.diagnosis.cause == .fine)
    }
}
