import Foundation
import Glibc
import ImageModel
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

/// Positions that a cluster takes away: topics recreated, offsets expired or set back. No job is lost by it.
@Suite(
    "Positions that are lost on a real Kafka", .timeLimit(.minutes(4)),
    .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct LostPositionTests {
    private static let variants = ["24x24.png"]

    private func publish(_ urls: some Collection<String>, _ lane: Lane, _ id: String, to place: Workplace) throws {
        try place.publish(urls.map { ($0, Self.variants, lane) }, id: id)
    }

    /// Ids of the jobs that were answered, each answer once.
    private func answered(_ place: Workplace) async throws -> [String] { try await place.outcomes().map(\.job) }

    private func recreate(_ topic: String, partitions: Int = 12, of place: Workplace, on broker: KafkaBroker)
        async throws
    {
        let name = try #require(place.kafka).prefix + topic
        _ = try await broker.tool("topics", "--delete", "--topic", name)
        // The old one's files go meanwhile.
        try await eventually {
            do {
                _ = try await broker.tool(
                    "topics", "--create", "--topic", name, "--partitions", "\(partitions)", "--replication-factor", "1")
                return true
            } catch { return false }
        }
    }

    @Test(
        "A topic that is recreated under a running worker is named, and its jobs are all done",
        arguments: ["jobs.slow", "jobs.fast"])
    func recreated(topic: String) async throws {
        let broker = try await KafkaBroker.shared.value
        let place = try await Workplace.onKafka(broker, partitions: 1)
        let urls = place.draw(25)
        let lane = topic == "jobs.slow" ? Lane.slow : .fast
        try publish(urls[..<10], lane, "old", to: place)
        let worker = try place.worker(untilIdle: false)
        try await eventually { try await self.answered(place).count == 10 }
        try await recreate(topic, partitions: 1, of: place, on: broker)
        try publish(urls[10...], lane, "new", to: place)
        try await eventually { try await Set(self.answered(place)).count == 25 }
        worker.signal(SIGTERM)
        let ended = try await worker.ended()
        #expect(ended.status == 0 && ended.errors.contains("log.recreated"), "\(ended.errors)")
        let log = try await place.open()
        #expect(try await log.committed(.jobs(lane), PartitionID(0)) == 15)
        await log.close()
        #expect(try await place.work()["jobs"] == 0)
        #expect(place.origin.requestCount == 25)
    }

    @Test("A topic that was recreated while no worker ran, and is longer by now, is read from its beginning")
    func recreatedMeanwhile() async throws {
        let broker = try await KafkaBroker.shared.value
        let place = try await Workplace.onKafka(broker, partitions: 1)
        let urls = place.draw(25)
        try publish(urls[..<10], .slow, "old", to: place)
        #expect(try await place.work()["jobs"] == 10)
        try await recreate("jobs.slow", partitions: 1, of: place, on: broker)
        try publish(urls[10...], .slow, "new", to: place)
        let again = try place.worker()
        let ended = try await again.ended()
        #expect(ended.status == 0)
        #expect(try Summary(ended)["jobs"] == 15, "\(ended.errors)")
        // The next start finds the log that it knows.
        let last = try await place.worker().ended()
        #expect(try Summary(last)["jobs"] == 0 && !last.errors.contains("log.recreated"), "\(last.errors)")
    }

    /// Brokers 2 and 3 have the log. 3 goes, and comes back when 2 is gone: it lacks what was read meanwhile.
    @Test("A log that an unclean election truncates under a running worker is named, and all that is in it is done")
    func truncated() async throws {
        let broker = try await KafkaBroker.start(brokers: 3) { _ in
            ["group.min.session.timeout.ms=500", "broker.session.timeout.ms=3000", "broker.heartbeat.interval.ms=500"]
        }
        let place = try await Workplace.onKafka(broker, partitions: 1, replication: 3)
        let name = try #require(place.kafka).prefix + "jobs.slow"
        _ = try await broker.tool("topics", "--delete", "--topic", name)
        try await eventually {
            do {
                _ = try await broker.tool(
                    "topics", "--create", "--topic", name, "--replica-assignment", "2:3", "--config",
                    "min.insync.replicas=1", "--config", "unclean.leader.election.enable=true")
                return true
            } catch { return false }
        }
        let urls = place.draw(13)
        try publish(urls[..<4], .slow, "both", to: place)
        let worker = try place.worker(untilIdle: false)
        try await eventually { try await self.answered(place).count == 4 }
        try await broker.run("kill", "3")
        try publish(urls[4..<10], .slow, "one", to: place)
        try await eventually { try await self.answered(place).count == 10 }
        try await broker.run("kill", "2")
        try await broker.run("revive", "3")
        try publish(urls[10...], .slow, "new", to: place)
        try await eventually { try await Set(self.answered(place)).count == 13 }
        let log = try await place.open()
        #expect(try await log.bounds(.jobsSlow, PartitionID(0)).upperBound == 7)
        await log.close()
        worker.signal(SIGTERM)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(
            ended.errors.contains("log.recreated") && ended.errors.contains("is not the log that was read"),
            "\(ended.errors)")
        #expect(place.origin.requestCount == 13)
        #expect(try await place.work()["jobs"] == 0)
    }

    /// Nobody who starts meanwhile does anything either: it would fetch again what is stored.
    @Test(
        "A changelog that is recreated stops its partitions until its rows are restored, and nothing is fetched twice")
    func changelog() async throws {
        let broker = try await KafkaBroker.shared.value
        let place = try await Workplace.onKafka(broker, partitions: 1)
        let kafka = try #require(place.kafka)
        let urls = place.draw(25)
        try publish(urls[..<10], .fast, "old", to: place)
        let worker = try place.worker(untilIdle: false)
        try await eventually { try await self.answered(place).count == 10 }
        _ = try await broker.tool("topics", "--delete", "--topic", kafka.prefix + "variants")
        try await eventually {
            do { return try await KafkaTopics.create(kafka, partitions: 1, replication: 1).problems.isEmpty } catch {
                return false
            }
        }
        await worker.says("variants, partition 0, is not the log that was read")
        try publish(urls[10...], .fast, "new", to: place)
        let early = try place.run("topics", "restore")
        #expect(early.status == 1 && early.errors.contains("Stop all workers first"), "\(early.errors)")
        worker.signal(SIGTERM)
        let ended = try await worker.ended()
        #expect(ended.status == 0 && ended.errors.contains("log.recreated"), "\(ended.errors)")

        let again = try await place.worker().ended()
        #expect(again.status == 1 && again.errors.contains("mezzotint topics restore"), "\(again.errors)")
        #expect(try Summary(again)["jobs"] == 0 && Summary(again)["waiting"] == 15, "\(again.errors)")
        #expect(place.origin.requestCount == 10)
        // It keeps the index aside. Another folder has none.
        let elsewhere = try TemporaryFolder()
        let lost = try place.run("topics", "restore", "--index", elsewhere.url.path, "--json")
        #expect(lost.status == 1 && lost.output.contains(#""rows":0,"parked":0,"missing":10,"isOpen":false"#), "\(lost.output)")
        #expect(lost.errors.contains("10 variants that outcomes name are in no index"), "\(lost.errors)")
        let dry = try place.run("topics", "restore", "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("20 rows would be published"), "\(dry.output) \(dry.errors)")
        let restored = try place.run("topics", "restore", "--json")
        #expect(
            restored.status == 0 && restored.output.contains(#""rows":20,"parked":0,"missing":0,"isOpen":true"#),
            "\(restored.output)")
        let rows = try await place.records(.variants).count
        #expect(try place.run("topics", "restore").output.contains("0 rows were published"))
        #expect(try await place.records(.variants).count == rows)

        #expect(try await place.work()["stored"] == 15)
        try FileManager.default.removeItem(at: place.folder.url.appending(path: "data/index"))
        try publish(urls, .fast, "again", to: place)
        #expect(try await place.work()["unchanged"] == 25)
        #expect(place.origin.requestCount == 25)
    }

    @Test("An operator's reset to the earliest offset is named, and does the jobs again")
    func reset() async throws {
        let broker = try await KafkaBroker.shared.value
        let place = try await Workplace.onKafka(broker, partitions: 2)
        let urls = place.draw(10)
        try publish(urls, .fast, "job", to: place)
        #expect(try await place.records(.jobsFast).count == 10)
        let first = try await place.worker().ended()
        #expect(try Summary(first)["jobs"] == 10, "\(first.errors)")
        let kafka = try #require(place.kafka)
        try await eventually {
            do {
                _ = try await broker.tool(
                    "groups", "--reset-offsets", "--to-earliest", "--execute", "--group", kafka.group, "--topic",
                    kafka.prefix + "jobs.fast")
                return true
            } catch { return false }
        }
        let ended = try await place.worker().ended()
        let summary = try Summary(ended)
        #expect(summary["jobs"] == 10 && summary["unchanged"] == 10, "\(ended.errors)")
        #expect(ended.errors.contains("was set back"))
        #expect(try await place.work()["jobs"] == 0)
    }

    @Test("An operator's reset to the latest offset is named, and what is skipped is not done")
    func skipped() async throws {
        let broker = try await KafkaBroker.shared.value
        let place = try await Workplace.onKafka(broker, partitions: 1)
        let urls = place.draw(10)
        try publish(urls[..<4], .fast, "job", to: place)
        #expect(try await place.work()["jobs"] == 4)
        try publish(urls[4...], .fast, "skipped", to: place)
        let kafka = try #require(place.kafka)
        try await eventually {
            do {
                _ = try await broker.tool(
                    "groups", "--reset-offsets", "--to-latest", "--execute", "--group", kafka.group, "--topic",
                    kafka.prefix + "jobs.fast")
                return true
            } catch { return false }
        }
        let ended = try await place.worker().ended()
        #expect(try Summary(ended)["jobs"] == 0, "\(ended.errors)")
        #expect(ended.errors.contains("is 10, and 6 records below it have no answer"), "\(ended.errors)")
        #expect(try await !place.worker().ended().errors.contains("set it back"))
    }

    @Test("Records that retention removes unread are named, at work and before it, and those that are left are done")
    func expired() async throws {
        let broker = try await KafkaBroker.start { _ in
            ["log.retention.check.interval.ms=500", "log.initial.task.delay.ms=500"]
        }
        for isRunning in [true, false] {
            let place = try await Workplace.onKafka(broker, partitions: 1, "kafka.timing.session=30s")
            let name = try #require(place.kafka).prefix + "jobs.slow"
            let urls = place.draw(40)
            try publish(urls[..<10], .slow, "read", to: place)
            let worker = try place.worker(untilIdle: false)
            try await eventually { try await self.answered(place).count == 10 }
            // What is appended together is a segment of its own, and all but the last one go.
            _ = try await broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", name, "--add-config",
                "segment.ms=1,retention.bytes=1")
            if isRunning {
                worker.signal(SIGSTOP)
                // Until the broker has answered the fetch that waits there (fetch.wait.max.ms is half a second).
                try await Task.sleep(for: .seconds(1))
            } else {
                worker.signal(SIGTERM)
                _ = try await worker.ended()
            }
            try publish(urls[10..<39], .slow, "lost", to: place)
            try publish(urls[39...], .slow, "left", to: place)
            let log = try await place.open()
            try await eventually { try await log.bounds(.jobsSlow, PartitionID(0)) == 39..<40 }
            // No worker starts on a topic that loses jobs.
            _ = try await broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", name, "--delete-config",
                "retention.bytes")
            let kafka = try #require(place.kafka)
            try await eventually { try await KafkaTopics.check(kafka) == [] }
            await log.close()
            let reader = isRunning ? worker : try place.worker(untilIdle: false)
            if isRunning { worker.signal(SIGCONT) }
            await reader.says(
                "Retention removed at least 29 unread records of jobs.slow, partition 0; the first that is left is 39.")
            try await eventually { try await self.answered(place).count == 11 }
            reader.signal(SIGTERM)
            #expect(try await reader.ended().status == 0)
            #expect(try await place.work()["jobs"] == 0)
        }
    }

    @Test("Offsets of an idle lane outlive the brokers' retention; where they do not, the progress row does")
    func retention() async throws {
        let broker = try await KafkaBroker.start { _ in
            [
                "offsets.retention.minutes=1", "offsets.retention.check.interval.ms=1000",
                "group.min.session.timeout.ms=500",
            ]
        }
        let kept = try await Workplace.onKafka(broker, partitions: 2, "kafka.timing.recommit=5s")
        let lost = try await Workplace.onKafka(broker, partitions: 2, "kafka.timing.recommit=7d")
        var workers: [RunningProgram] = []
        for place in [kept, lost] {
            try publish(place.draw(6), .slow, "job", to: place)
            workers.append(try place.worker(untilIdle: false))
        }
        for place in [kept, lost] { try await eventually { try await self.answered(place).count == 6 } }
        let (keptLog, lostLog) = (try await kept.open(), try await lost.open())
        // Answers come before the offsets that they allow.
        for log in [keptLog, lostLog] {
            try await eventually {
                try await log.partitionOffsets([.jobsSlow], log.partitions).allSatisfy {
                    $0.committed == $0.bounds.upperBound
                }
            }
        }
        let held = try await keptLog.partitionOffsets([.jobsSlow], keptLog.partitions).map(\.committed)
        try await eventually {
            try await lostLog.partitionOffsets([.jobsSlow], lostLog.partitions).allSatisfy { $0.committed == nil }
        }
        #expect(try await keptLog.partitionOffsets([.jobsSlow], keptLog.partitions).map(\.committed) == held)
        for log in [keptLog, lostLog] { await log.close() }
        for worker in workers {
            worker.signal(SIGTERM)
            #expect(try await worker.ended().status == 0)
        }
        for place in [kept, lost] {
            let ended = try await place.worker().ended()
            #expect(try Summary(ended)["jobs"] == 0, "\(ended.errors)")
            #expect(ended.errors.contains("is there no more") == (place === lost), "\(ended.errors)")
            #expect(try await answered(place).count == 6 && place.origin.requestCount == 6)
        }
    }
}
