import Failures
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

extension KafkaTests {
    @Suite("Reading what is owned, and the changelog")
    struct Reading {
        @Test("A partition that is not read holds nothing else up, and loses nothing")
        func backPressure() async throws {
            let bench = try await KafkaBench()
            let (log, owner) = try await bench.worker()
            try await owner.start()
            await owner.own(6)
            let padding = String(repeating: "x", count: 2_000)
            for batch in 0..<5 {
                let results = await log.append((0..<1_000).map { .text(.jobsSlow, 1, "\(batch * 1_000 + $0) \(padding)") })
                #expect(results.allSatisfy { $0.offset != nil })
            }
            await owner.listener.wait(for: .readable(.jobsSlow, PartitionID(1)))
            for number in 0..<50 {
                _ = await log.append([.text(.jobsFast, 1, "\(number)")])
                #expect(try await owner.drain(.jobsFast, PartitionID(1), until: 1).map(\.text) == ["\(number)"])
            }
            let slow = try await owner.drain(.jobsSlow, PartitionID(1), until: 5_000)
            #expect(slow.map { String($0.text.prefix { $0 != " " }) } == (0..<5_000).map(String.init))
            await owner.stop()
            await log.close()
        }

        /// By itself librdkafka looks once a second who leads what a client has not read before.
        @Test("What was not read before is read at once, by a new owner as from outside")
        func first() async throws {
            let bench = try await KafkaBench()
            let topics: [Topic] = [.jobsFast, .jobsSlow, .variants, .outcomes, .dead, .origins]
            var waited = Duration.zero
            for round in 0..<3 {
                let (log, owner) = try await bench.worker()
                if round == 0 { _ = await log.append(topics.map { .text($0, 0, "x") }) }
                try await owner.start()
                await owner.own(6)
                waited += try await ContinuousClock().measure {
                    for topic in topics.prefix(3) { _ = try await owner.drain(topic, PartitionID(0), until: 1) }
                }
                await owner.stop()
                waited += try await ContinuousClock().measure {
                    for topic in topics {
                        let read = try await log.read(topic, PartitionID(0), from: 0, limit: 1)
                        #expect(read.count == 1)
                    }
                }
                await log.close()
            }
            // Each owner would wait for half a second, each reader for five.
            #expect(waited < .seconds(3))
        }

        @Test("A position reaches the changelog's end, whether or not there is anything to read", arguments: [0, 3, 10])
        func position(unread: Int) async throws {
            let bench = try await KafkaBench()
            let log = try await bench.log()
            _ = await log.append((0..<10).map { .text(.variants, 0, "\($0)", key: "\($0)") })
            let owner = Owner(KafkaLogConsumer(log), foldedStart: Int64(10 - unread))
            try await owner.start()
            await owner.own(6)
            var read = 0
            var heard = 0
            while await owner.position(.variants, PartitionID(0)) ?? 0 < 10 {
                heard = await owner.listener.wait(for: .readable(.variants, PartitionID(0)), after: heard)
                read += try await owner.drain(.variants, PartitionID(0)).count
            }
            #expect(read == unread)
            #expect(await owner.position(.variants, PartitionID(0)) == 10)
            await owner.stop()
            await log.close()
        }

        @Test("A job topic that ends in a transaction's marker is read to its end, with nothing to hand out there")
        func marker() async throws {
            let bench = try await KafkaBench()
            let name = bench.configuration.prefix + "jobs.fast"
            _ = try await bench.broker.tool(
                "perf-producer", "--topic", name, "--num-records", "60", "--record-size", "10", "--throughput", "-1",
                "--transactional-id", bench.configuration.prefix + "t")
            let (log, owner) = try await bench.worker()
            try await owner.start()
            await owner.own(6)
            var (read, total) = (0, 0)
            for partition in log.partitions {
                let end = try await log.bounds(.jobsFast, partition).upperBound
                let count = try await log.read(.jobsFast, partition, from: 0, limit: 1_000).count
                // All records and not one look further: that is the consumer's own, who tells nobody of a mere end.
                while read < count { read += try await owner.drain(.jobsFast, partition, limit: count - read).count }
                try await eventually { await owner.position(.jobsFast, partition) == end }
                (read, total) = (0, total + count)
            }
            #expect(total == 60)
            await owner.stop()
            await log.close()
        }

        @Test("Compaction leaves gaps and the newest of each key; a reader reaches the end across them")
        func compaction() async throws {
            let bench = try await KafkaBench()
            let name = bench.configuration.prefix + "variants"
            _ = try await bench.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", name, "--add-config",
                "segment.ms=100,min.cleanable.dirty.ratio=0.001,min.compaction.lag.ms=0,delete.retention.ms=0")
            let log = try await bench.log()
            for round in 0..<5 {
                _ = await log.append((0..<20).map { .text(.variants, 0, "round \(round)", key: "\($0)") })
            }
            var tombstone = NewRecord.text(.variants, 0, "", key: "7")
            tombstone.value = nil
            _ = await log.append([tombstone])
            // A segment is closed by the first record after its time.
            try await eventually {
                _ = await log.append([.text(.variants, 0, "tick", key: "tick")])
                let all = try await log.read(.variants, PartitionID(0), from: 0, limit: 10_000)
                return all.filter { $0.key != Array("tick".utf8) }.count == 19
            }
            let latest = try await log.latest(.variants, PartitionID(0), keyPrefix: [])
            #expect(latest.filter { $0.text == "round 4" }.count == 19)
            #expect(latest.map(\.key).contains(Array("7".utf8)) == false)

            let end = try await log.bounds(.variants, PartitionID(0)).upperBound
            let owner = Owner(KafkaLogConsumer(log))
            try await owner.start()
            await owner.own(6)
            var records: [Record] = []
            var heard = 0
            while await owner.position(.variants, PartitionID(0)) ?? 0 < end {
                heard = await owner.listener.wait(for: .readable(.variants, PartitionID(0)), after: heard)
                records += try await owner.drain(.variants, PartitionID(0))
            }
            #expect(records.count < Int(end))
            #expect(Set(records.map(\.key)).count == 20)
            await owner.stop()
            await log.close()
        }

        @Test("A changelog that does not hold the place where its reader goes on hands nothing out, and says so")
        func lostPlace() async throws {
            let bench = try await KafkaBench(partitions: 1)
            let (log, owner) = try await bench.worker()
            _ = await log.append((0..<10).map { .text(.variants, 0, "\($0)", key: "\($0)") })
            try await owner.start()
            await owner.own(1)
            #expect(try await owner.drain(.variants, PartitionID(0), until: 10).count == 10)
            // As if the topic had been made anew, shorter than it was.
            try await owner.rewind(.variants, PartitionID(0), to: 400)
            var failure: LogFailure?
            try await eventually {
                do {
                    #expect(try await owner.drain(.variants, PartitionID(0)) == [])
                } catch {
                    failure = error as? LogFailure
                }
                return failure != nil
            }
            guard case .recreated(.variants, PartitionID(0), .wentBack(from: 400, to: 0..<10))? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            await owner.stop()
            await log.close()
        }

        @Test("A place that retention has passed is read from what is left; one past the end is empty")
        func outside() async throws {
            let bench = try await KafkaBench()
            let log = try await bench.log()
            _ = await log.append((0..<10).map { .text(.dead, 3, "\($0)") })
            #expect(try await log.read(.dead, PartitionID(3), from: -5, limit: 3).map(\.text) == ["0", "1", "2"])
            #expect(try await log.read(.dead, PartitionID(3), from: 8, limit: 100).map(\.text) == ["8", "9"])
            #expect(try await log.read(.dead, PartitionID(3), from: 10, limit: 100) == [])
            #expect(try await log.read(.dead, PartitionID(3), from: 400, limit: 100) == [])
            #expect(try await log.read(.dead, PartitionID(2), from: 0, limit: 100) == [])
            #expect(try await log.bounds(.dead, PartitionID(3)) == 0..<10)
            await log.close()
        }
    }
}
