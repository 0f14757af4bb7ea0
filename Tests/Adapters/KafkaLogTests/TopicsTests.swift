internal import Clocks
import Failures
import KafkaSetup
import Ports
import Records
import Synchronization
import TestSupport
import Testing

@testable import KafkaLog

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
            #expect(
                problems.count == Topic.allCases.count && problems.allSatisfy { $0.contains("has 3 partitions, not 5") }
            )
            let log = try await bench.log()
            #expect(log.partitionCount == 3)
            await log.close()
        }

        @Test("Once they are made, their leaders answer the first question")
        func served() async throws {
            let bench = try await KafkaBench(partitions: 64)
            let questions = try KafkaQuestions(bench.configuration)
            let places = Topic.allCases.flatMap { topic in (0..<Int32(64)).map { KafkaPlace(topic, PartitionID($0)) } }
            let leaders = try #require(questions.leaders(within: 10_000))
            for answer in questions.offsetsOnce(places, leaders: leaders, within: 10_000) {
                #expect(throws: Never.self) { try answer.get() }
            }
        }

        @Test(
            "A backlog is named once its oldest record has waited for half of what the topic keeps",
            arguments: [(3_600_000, 7_200_000, false), (3_600_001, 7_200_000, true), (.days(10_000_000), .milliseconds(-1), false)]
                as [(Duration, Duration, Bool)])
        func aging(age: Duration, kept: Duration, isNamed: Bool) {
            let sentence =
                "jobs has a record that has waited for 60 min, and retention.ms=7200000 removes it after 120 min. Start more workers, or raise retention.ms."
            #expect(KafkaTopics.agingBacklog("jobs", age: age, kept: kept) == (isNamed ? sentence : nil))
        }

        /// Seen to fail: "--topic TOPIC".
        @Test("Commands name the bootstrap servers, the topics, and the number that every topic can have")
        func commands() {
            let configuration = KafkaConfiguration.test { ($0.bootstrap, $0.prefix) = ("a:9092,b:9092", "t.") }
            let grown = [
                GrownTopic(.jobsSlow, partitions: 9, used: 6, unread: 1),
                GrownTopic(.jobsFast, partitions: 12, used: 6, unread: nil),
            ]
            let lacking = Topic.allCases.filter { $0 != .jobsFast }.map { "t." + $0.rawValue }.joined(separator: " ")
            let tool = "kafka-topics.sh --bootstrap-server a:9092,b:9092"
            #expect(
                KafkaTopics.text(of: grown, configuration).hasSuffix(
                    " stop all workers, give every topic the same number (for topic in \(lacking); do \(tool) --alter --topic $topic --partitions 12; done), and start the workers."
                ))
            let all = Topic.allCases.map { GrownTopic($0, partitions: 12, used: 6, unread: nil) }
            #expect(KafkaTopics.text(of: all, configuration).hasSuffix(" stop all workers and start the workers."))
            #expect(configuration.command("--delete", [.retry1m]) == "\(tool) --delete --topic t.retry.1m")
            #expect(
                KafkaTopics.command(configuration, "t.dead", "retention.bytes=-1")
                    == "Set it with kafka-configs.sh --bootstrap-server a:9092,b:9092 --alter --entity-type topics --entity-name t.dead --add-config retention.bytes=-1."
            )
        }

        @Test(
            "No request asks for more partitions than a cluster makes at once",
            arguments: [(12, 1), (1_000, 3), (20_000, Topic.allCases.count)])
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
            #expect(
                problems[0]
                    == "1 topic is missing. Run mezzotint topics create, or ask your Kafka administrator to create it: \(prefix)dead."
            )
            #expect(
                problems[1].hasPrefix(
                    "Topics have more than the 2 partitions that workers and publishers use: \(prefix)control (4, 0 records unread). "))
            #expect(problems[2].hasPrefix("\(prefix)variants has cleanup.policy=delete, and needs compact. "))
            #expect(problems[3].hasPrefix("\(prefix)variants has delete.retention.ms=1000, and needs 604800000. "))
            #expect(problems[4].hasPrefix("\(prefix)variants has min.compaction.lag.ms=0, and needs 3600000. "))
            await #expect(throws: LogFailure.self) { try await bench.log() }
        }

        @Test("A topic that is missing is made with as many partitions as the others have, where nobody says a number")
        func added() async throws {
            let bench = try await KafkaBench(partitions: 2)
            #expect(bench.configuration.partitions != 2)
            let name = bench.configuration.prefix + "dead"
            _ = try await bench.broker.tool("topics", "--delete", "--topic", name)
            try await eventually {
                let problems = try await KafkaTopics.check(bench.configuration)
                return problems.count == 1 && problems[0].hasPrefix("1 topic is missing. Run mezzotint topics create, ")
            }
            // The old one's files go meanwhile.
            try await eventually {
                do throws(LogFailure) {
                    let made = try await KafkaTopics.create(bench.configuration, partitions: nil, replication: 1)
                    return made.text == "Created 1 topic: 2 partitions each, replication factor 1."
                        && made.problems == []
                } catch { return false }
            }
            #expect(try await KafkaTopics.check(bench.configuration) == [])
        }

        @Test(
            "Each setting that a topic needs is looked at, and named with what it is and what it must be",
            arguments: [
                (
                    topic: Topic.jobsFast, setting: "message.timestamp.type", value: "CreateTime",
                    says: "and needs LogAppendTime."
                ),
                (
                    .jobsSlow, "cleanup.policy", "compact",
                    "and needs delete: compaction removes jobs that nobody has done."
                ),
                (
                    .retry, "cleanup.policy", "compact",
                    "and needs delete: compaction removes jobs that nobody has done."
                ),
                (
                    .parked, "cleanup.policy", "delete", "and needs compact: retention removes jobs that wait."
                ),
                (
                    .jobsFast, "retention.ms", "3600000",
                    "and needs 86400000 or more: jobs that wait longer are removed."
                ),
                (.jobsSlow, "retention.bytes", "1000000", "and needs -1: a backlog that is larger loses jobs."),
                (.outcomes, "max.message.bytes", "1000", "and needs 2097152."),
                (.dead, "min.insync.replicas", "2", "and 1 copy of each record: no append is acknowledged."),
            ])
        func settings(topic: Topic, setting: String, value: String, says: String) async throws {
            let bench = try await KafkaBench(partitions: 1)
            let name = bench.configuration.prefix + topic.rawValue
            _ = try await bench.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", name, "--add-config",
                "\(setting)=\(value)")
            try await eventually { try await KafkaTopics.check(bench.configuration) != [] }
            let problems = try await KafkaTopics.check(bench.configuration)
            #expect(problems.count == 1 && problems[0].hasPrefix("\(name) has \(setting)=\(value), \(says)"))
            #expect(
                problems[0].contains(
                    "Set it with kafka-configs.sh --bootstrap-server \(bench.configuration.bootstrap) --alter --entity-type topics --entity-name \(name) "
                ))
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
                    == "Created \(Topic.allCases.count) topics: 2 partitions each, replication factor 1 (the cluster has one broker; the default is 3)."
            )
            #expect(made.problems == [])
        }

        @Test(
            "A worker goes on beside a topic that grew, says so, and so does one that starts; unread records are counted"
        )
        func grown() async throws {
            let bench = try await KafkaBench(partitions: 2)
            let name = bench.configuration.prefix + "jobs.fast"
            let said = Mutex<[String]>([])
            let log = try await bench.log({ text in said.withLock { $0.append(text) } })
            let owner = Owner(KafkaLogConsumer(log))
            try await owner.start()
            await owner.own(2)
            _ = try await bench.broker.tool("topics", "--alter", "--topic", name, "--partitions", "4")
            let producer = try KafkaProducer(bench.configuration) { _ in }
            try await eventually {
                await producer.append([.text(.jobsFast, 3, "unread")], within: 4) { nil }[0].offset != nil
            }
            await producer.close()
            let begin = "Topics have more than the 2 partitions that workers and publishers use: \(name) (4, "
            try await eventually { said.withLock { $0.contains { $0.hasPrefix(begin) } } }
            #expect(
                try await KafkaTopics.check(bench.configuration).first?.hasPrefix(begin + "1 record unread). ") == true)
            let view = try await KafkaLogView.open(bench.configuration)
            #expect(try await view.grownTopics() == [GrownTopic(.jobsFast, partitions: 4, used: 2, unread: 1)])
            #expect(view.partitionCount == 2 && view.isInPlace)
            await view.close()

            // The group shares out all four; the new ones belong to nobody.
            let before = owner.listener.count
            let (otherLog, other) = try await bench.worker()
            #expect(otherLog.partitionCount == 2)
            try await other.start()
            await owner.releaseAll(after: before, count: 2)
            try await eventually {
                let held = owner.listener.all.held.union(other.listener.all.held)
                return held == [PartitionID(0), PartitionID(1)]
            }
            for listener in [owner.listener, other.listener] {
                #expect(!listener.all.contains { if case .failed = $0 { true } else { false } })
            }
            await other.stop()
            await otherLog.close()
            await owner.stop()
            await log.close()
        }

        @Test("A topic that was made anew with fewer partitions than have had an owner is named, and nobody starts")
        func shrunk() async throws {
            let bench = try await KafkaBench(partitions: 3)
            let log = try await bench.log()
            _ = await log.append([.text(.variants, 2, "owned")])
            await log.close()
            let name = bench.configuration.prefix + "retry.1m"
            _ = try await bench.broker.tool("topics", "--delete", "--topic", name)
            try await eventually {
                (try? await bench.broker.tool("topics", "--create", "--topic", name, "--partitions", "2")) != nil
            }
            let says = "The workers have used 3 partitions of each topic, and \(name) has 2."
            try await eventually { try await KafkaTopics.check(bench.configuration).contains { $0.hasPrefix(says) } }
            do throws(LogFailure) {
                _ = try await KafkaLog.open(bench.configuration)
                Issue.record("a log was opened that lacks a partition")
            } catch {
                #expect(error.code == "log.topics" && error.description.hasPrefix(says))
                let steps =
                    "Delete these topics (kafka-topics.sh --bootstrap-server \(bench.configuration.bootstrap) --delete --topic \(name)), and create them with the right number (mezzotint topics create --partitions 3)."
                #expect(error.description.hasSuffix(steps), "\(error)")
            }
            // What it says helps.
            _ = try await bench.broker.tool("topics", "--delete", "--topic", name)
            try await eventually {
                try await KafkaTopics.create(bench.configuration, partitions: 3, replication: 1).problems.isEmpty
            }
            let again = try await bench.log()
            await again.close()
        }

        @Test(
            "No worker starts where jobs get lost, and one that runs ends where a job topic is compacted, or parked is not",
            arguments: [
                (.retry1m, "cleanup.policy", "compact"), (.jobsFast, "cleanup.policy", "[compact,delete]"),
                (.jobsSlow, "retention.ms", "60000"), (.jobsFast, "retention.bytes", "1000000"),
                (.parked, "cleanup.policy", "delete"), (.parked, "cleanup.policy", "[compact,delete]"),
            ] as [(Topic, String, String)])
        func losing(topic: Topic, setting: String, value: String) async throws {
            let bench = try await KafkaBench(partitions: 1)
            let name = bench.configuration.prefix + topic.rawValue
            let (log, owner) = try await bench.worker()
            try await owner.start()
            await owner.own(1)
            _ = try await bench.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", name, "--add-config",
                "\(setting)=\(value)")
            try await eventually { try await KafkaTopics.check(bench.configuration) != [] }
            let (otherLog, other) = try await bench.worker()
            do {
                try await other.start()
                Issue.record("a worker started on a topic that loses jobs")
            } catch let failure as LogFailure {
                #expect(failure.code == "log.topics" && failure.description.hasPrefix("\(name) has \(setting)="))
            }
            await otherLog.close()
            if setting == "cleanup.policy" {
                await owner.listener.until { $0.contains { if case .failed(.topics) = $0 { true } else { false } } }
            }
            await owner.stop()
            await log.close()
        }

        @Test("A worker that uses fewer partitions than others have owned ends, and both numbers are named")
        func mixed() async throws {
            let bench = try await KafkaBench(partitions: 2)
            let log = try await bench.log()
            let appended = await log.append([.text(.variants, 1, "{}")])
            #expect(appended.allSatisfy { $0.offset != nil })
            await log.close()
            let problems = try KafkaTopics.problems(
                try KafkaQuestions(bench.configuration), bench.configuration, used: 1)
            #expect(
                problems.filter { $0.effect == .endsWorker }.map(\.text) == [
                    "Other workers use 2 partitions of each topic, and this worker uses 1. Start this worker again."
                ])
        }

        @Test("A consumer that has stopped is gone before the next look at the topics")
        func released() async throws {
            let bench = try await KafkaBench(partitions: 1)
            let log = try await bench.log()
            weak var released: KafkaLogConsumer?
            do {
                let consumer = KafkaLogConsumer(log)
                released = consumer
                let owner = Owner(consumer)
                try await owner.start()
                await owner.own(1)
                await owner.stop()
            }
            let stopped = ContinuousClock.now
            try await eventually { released == nil }
            #expect(ContinuousClock.now - stopped < .seconds(10))
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
