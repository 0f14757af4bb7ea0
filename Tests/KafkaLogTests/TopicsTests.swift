import Failures
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

extension KafkaTests {
    @Suite("Topics")
    struct Topics {
        @Test("Made once, they fit, and making them again changes nothing; other numbers than are asked for are named")
        func created() async throws {
            let bench = try await KafkaBench(partitions: 3)
            #expect(try await KafkaTopics.check(bench.configuration) == [])
            let again = try await KafkaTopics.create(bench.configuration, partitions: nil, replication: 1)
            #expect(again.problems == [] && again.text == nil)
            let problems = try await KafkaTopics.create(bench.configuration, partitions: 5, replication: 1).problems
            #expect(problems.count == Topic.allCases.count && problems.allSatisfy { $0.contains("has 3 partitions, not 5") })
            let log = try await bench.log()
            #expect(log.partitionCount == 3)
            await log.close()
        }

        @Test(
            "No request asks for more partitions than a cluster makes at once",
            arguments: [(12, 1), (1_000, 3), (20_000, 13)])
        func batches(partitions: Int, requests: Int) {
            let plans = TopicPlan.all(KafkaConfiguration(), partitions: partitions, replication: 1)
            let batches = TopicPlan.batches(plans)
            #expect(batches.count == requests && batches.flatMap { $0 } == plans)
            #expect(batches.allSatisfy { $0.count == 1 || $0.count * partitions <= 5_000 })
        }

        @Test("Each problem is named: a topic that is missing, counts that differ, a policy that loses rows")
        func problems() async throws {
            let bench = try await KafkaBench(partitions: 2)
            let prefix = bench.configuration.prefix
            _ = try await bench.broker.tool("topics", "--delete", "--topic", prefix + "dead")
            _ = try await bench.broker.tool("topics", "--alter", "--topic", prefix + "control", "--partitions", "4")
            _ = try await bench.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", prefix + "variants", "--add-config",
                "cleanup.policy=delete,delete.retention.ms=1000,min.compaction.lag.ms=0")
            try await eventually { try await KafkaTopics.check(bench.configuration).count == 5 }
            let problems = try await KafkaTopics.check(bench.configuration)
            #expect(problems[0] == "\(prefix)dead is missing.")
            #expect(problems[1].contains("\(prefix)control: 4. Give all the highest number with kafka-topics --alter"))
            #expect(problems[2] == "\(prefix)variants has cleanup.policy=delete, and needs compact.")
            #expect(problems[3] == "\(prefix)variants has delete.retention.ms=1000, and needs 604800000.")
            #expect(problems[4] == "\(prefix)variants has min.compaction.lag.ms=0, and needs 3600000.")
            await #expect(throws: LogFailure.self) { try await bench.log() }
        }

        @Test("A topic that is missing is made with as many partitions as the others have, where nobody says a number")
        func added() async throws {
            let bench = try await KafkaBench(partitions: 2)
            #expect(bench.configuration.partitions != 2)
            let name = bench.configuration.prefix + "dead"
            _ = try await bench.broker.tool("topics", "--delete", "--topic", name)
            try await eventually { try await KafkaTopics.check(bench.configuration) == ["\(name) is missing."] }
            // The old one's files go meanwhile.
            try await eventually {
                do throws(LogFailure) {
                    let made = try await KafkaTopics.create(bench.configuration, partitions: nil, replication: 1)
                    return made.text == "Made 1 topic of 2 partitions in 1 copy." && made.problems == []
                } catch { return false }
            }
            #expect(try await KafkaTopics.check(bench.configuration) == [])
        }

        @Test(
            "Each setting that a topic needs is looked at, and named with what it is and what it must be",
            arguments: [
                (topic: Topic.jobsFast, setting: "message.timestamp.type", value: "CreateTime", says: "and needs LogAppendTime."),
                (.jobsSlow, "cleanup.policy", "compact", "and needs delete."), (.retry, "cleanup.policy", "compact", "and needs delete."),
                (.outcomes, "max.message.bytes", "1000", "and needs 2097152."),
                (.dead, "min.insync.replicas", "2", "and 1 copy of each record: no append is acknowledged."),
            ])
        func settings(topic: Topic, setting: String, value: String, says: String) async throws {
            let bench = try await KafkaBench(partitions: 1)
            let name = bench.configuration.prefix + topic.rawValue
            _ = try await bench.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", name, "--add-config", "\(setting)=\(value)")
            try await eventually { try await KafkaTopics.check(bench.configuration) != [] }
            #expect(try await KafkaTopics.check(bench.configuration) == ["\(name) has \(setting)=\(value), \(says)"])
        }

        @Test("Brokers that do not answer are named, instead of topics that seem to be missing")
        func unreachable() async throws {
            let configuration = KafkaConfiguration.test { $0.bootstrap = "127.0.0.1:1" }
            do throws(LogFailure) {
                _ = try await KafkaTopics.check(configuration)
                Issue.record("nobody listens there")
            } catch {
                #expect(error.code == "log.unavailable" && error.description.contains("127.0.0.1:1"), "\(error)")
            }
        }

        @Test("What is made is said, and that there are fewer copies than are wanted")
        func made() async throws {
            var configuration = try await KafkaBench(partitions: 1).configuration
            configuration.prefix += "said."
            let made = try await KafkaTopics.create(configuration, partitions: 2)
            #expect(
                made.text
                    == "Made \(Topic.allCases.count) topics of 2 partitions in 1 copy, fewer than 3: the cluster has no more brokers."
            )
            #expect(made.problems == [])
        }

        @Test("Where numbers differ the remedy is another than to make topics; a worker whose topic grew ends, and says why")
        func grown() async throws {
            let bench = try await KafkaBench(partitions: 2)
            let name = bench.configuration.prefix + "jobs.fast"
            let (log, owner) = try await bench.worker()
            _ = try await bench.broker.tool("topics", "--alter", "--topic", name, "--partitions", "4")
            try await eventually { try await KafkaTopics.check(bench.configuration).count == 1 }
            do throws(LogFailure) {
                _ = try await KafkaLog.open(bench.configuration)
                Issue.record("a log of differing topics was opened")
            } catch {
                #expect(error.description.hasSuffix("or take another kafka.prefix. No worker starts before they are alike."))
            }
            try await owner.start()
            await owner.listener.until { $0.contains { if case .failed(.topics) = $0 { true } else { false } } }
            #expect(owner.listener.all.held.isEmpty)
            await owner.stop()
            await log.close()
        }

        @Test("More replicas than brokers are refused, with the number to give")
        func replication() async throws {
            var configuration = try await KafkaBench(partitions: 1).configuration
            configuration.prefix += "more."
            do throws(LogFailure) {
                _ = try await KafkaTopics.create(configuration, partitions: 1, replication: 3)
                Issue.record("topics of three replicas were made on one broker")
            } catch {
                #expect(error.code == "log.topics")
                #expect(error.description.hasSuffix("the cluster has 1. Give --replication 1."))
            }
        }
    }
}
