import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

@testable import KafkaLog

extension KafkaTests {
    @Suite("An open transaction")
    struct Transactions {
        @Test("hides records from readers and not from lag, which tells since when; its end leaves no lag behind")
        func open() async throws {
            let bench = try await KafkaBench(partitions: 1)
            let (topic, here) = (Topic.jobsFast, PartitionID(0))
            let log = try await bench.log()
            let view = try await KafkaLogView.open(bench.configuration)
            let point = LogPoint(topic, here, nil)
            // It commits when it has sent all, after some twelve seconds.
            async let transaction = bench.broker.tool(
                "perf-producer", "--topic", bench.configuration.prefix + "jobs.fast", "--num-records", "24",
                "--record-size", "10", "--throughput", "2", "--transactional-id", bench.configuration.prefix + "t",
                "--transaction-duration-ms", "3600000")
            try await eventually { try await log.partitionOffsets([topic], [here])[0].hidden > 0 }
            #expect(await log.append([.text(topic, 0, "behind it")])[0].offset ?? 0 > 0)
            let offsets = try #require(try await log.partitionOffsets([topic], [here]).first)
            #expect(offsets.bounds == 0..<0 && offsets.hidden >= 2 && offsets.records == offsets.hidden)
            #expect(try await log.read(topic, here, from: 0, limit: 9).isEmpty)
            let lag = try #require(try await log.lags([offsets]).first)
            #expect(lag.records == offsets.hidden && lag.hiddenFrom == 0)
            let oldest = try #require(lag.oldest)
            let seen = try #require(await view.offsets(of: [point]).first).get()
            #expect(seen.hidden >= offsets.hidden && seen.bounds == 0..<0)
            #expect(try await view.hiddenTimes(at: [LogPoint(topic, here, 0)])[0].get() == oldest)
            #expect(try await view.appendTimes(at: [LogPoint(topic, here, 0)])[0].get() == nil)

            _ = try await transaction
            try await eventually { try await log.partitionOffsets([topic], [here])[0].hidden == 0 }
            let after = try #require(try await log.partitionOffsets([topic], [here]).first)
            let records = try await log.read(topic, here, from: 0, limit: 99)
            #expect(records.count == 25 && after.bounds == 0..<26 && records[0].timestamp == oldest)
            // All is finished but the marker, which is no record.
            let rest = PartitionOffsets(topic: topic, partition: here, bounds: after.bounds, committed: 25)
            #expect(try await log.lags([rest])[0].records == 0)
            await view.close()
            await log.close()
        }
    }
}
