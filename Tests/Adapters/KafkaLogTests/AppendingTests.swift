import Failures
import KafkaSetup
import Ports
import Records
import Synchronization
import TestSupport
import Testing
@testable import KafkaLog

extension KafkaTests {
    @Suite("Appending, when things go wrong")
    struct Appending {
        @Test("A record over the limit is refused alone, by its size; one just below it goes in")
        func tooLarge() async throws {
            let bench = try await KafkaBench()
            let log = try await bench.log()
            var large = NewRecord.text(.jobsFast, 0, "")
            large.value = Array(repeating: 7, count: KafkaConfiguration.recordBytes)
            var fitting = large
            fitting.value = (0..<KafkaConfiguration.recordBytes - 2_048).map { _ in UInt8.random(in: 0...255) }
            let results = await log.append([.text(.jobsFast, 0, "a"), large, .text(.jobsFast, 0, "b"), fitting])
            #expect(results.map { $0.offset != nil } == [true, false, true, true])
            guard case .refused(let failure) = results[1] else { return #expect(Bool(false), "\(results[1])") }
            #expect(failure.code == "log.too-large")
            #expect(failure.verdict == .fail)
            await log.close()
        }

        @Test("The first append to each topic does not wait for metadata: librdkafka 2.0.2 would, a second for each")
        func warm() async throws {
            let bench = try await KafkaBench()
            let log = try await bench.log()
            let begun = ContinuousClock.now
            for topic in Topic.allCases {
                #expect(await log.append([.text(topic, 0, "first")])[0].offset == 0)
            }
            #expect(ContinuousClock.now - begun < .seconds(3))
            await log.close()
        }

        @Test("A producer that broke is replaced; what it acknowledged stays, and every record has an answer")
        func fatal() async throws {
            let bench = try await KafkaBench()
            let log = try await bench.log()
            var acknowledged: Set<String> = []
            for round in 0..<3 {
                async let batch = log.append((0..<500).map { .text(.outcomes, 0, "\(round)-\($0)") })
                log.breakProducer()
                for (index, result) in await batch.enumerated() where result.offset != nil { acknowledged.insert("\(round)-\(index)") }
                try await eventually {
                    let probe = "\(round)-probe"
                    guard await log.append([.text(.outcomes, 0, probe)])[0].offset != nil else { return false }
                    acknowledged.insert(probe)
                    return true
                }
            }
            let there = try await log.read(.outcomes, PartitionID(0), from: 0, limit: 10_000).map(\.text)
            #expect(acknowledged.isSubset(of: there))
            #expect(acknowledged.count >= 3)
            await log.close()
        }

        @Test("A broker that is killed amid appends and comes back keeps each acknowledged record, once")
        func brokerKilled() async throws {
            let broker = try await KafkaBroker.start()
            let bench = try await KafkaBench(on: broker)
            let log = try await bench.log()
            let traffic = Traffic(log)
            let acknowledged = try await withThrowingTaskGroup(of: [Int64: String].self) { group in
                for task in 0..<4 { group.addTask { await traffic.append(as: task) } }
                try await traffic.more()
                try await broker.run("kill", "1")
                try await broker.run("revive", "1")
                try await traffic.more()
                traffic.stop()
                return try await group.reduce(into: [Int64: String]()) { all, kept in all.merge(kept) { first, _ in first } }
            }
            // Twenty batches of twenty before the kill; how many more there are is the machine's speed.
            #expect(acknowledged.count > 400)
            var there: [Int64: String] = [:]
            var offset: Int64 = 0
            while true {
                let records = try await log.read(.jobsFast, PartitionID(0), from: offset, limit: 5_000)
                guard let last = records.last else { break }
                for record in records { there[record.offset] = record.text }
                offset = last.offset + 1
            }
            for (offset, text) in acknowledged { #expect(there[offset] == text) }
            #expect(Set(there.values).count == there.count)
            await log.close()
            try await broker.run("wipe")
        }
    }
}

/// Appends until told to stop, and remembers what was acknowledged.
final class Traffic: Sendable {
    private let log: KafkaLog
    private let batches = Atomic(0)
    private let isOver = Atomic(false)

    init(_ log: KafkaLog) { self.log = log }

    func append(as task: Int) async -> [Int64: String] {
        var kept: [Int64: String] = [:]
        var round = 0
        while !isOver.load(ordering: .relaxed) {
            let texts = (0..<20).map { "\(task)-\(round)-\($0)" }
            for (text, result) in zip(texts, await log.append(texts.map { .text(.jobsFast, 0, $0) })) {
                if let offset = result.offset { kept[offset] = text }
            }
            batches.add(1, ordering: .relaxed)
            round += 1
        }
        return kept
    }

    /// Until some more batches came back.
    func more() async throws {
        let before = batches.load(ordering: .relaxed)
        try await eventually { batches.load(ordering: .relaxed) > before + 20 }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }
}
