import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

@testable import KafkaLog

@Suite("A member's client id")
struct MemberNameTests {
    @Test(
        "It names the worker and its number of partitions, whatever the worker is called",
        arguments: [
            ("host-1234.partitions-12", "host-1234", 12), ("a.partitions-3.partitions-4", "a.partitions-3", 4),
            ("host-1234", "host-1234", nil), ("a.partitions-", "a.partitions-", nil),
            ("a.partitions-x", "a.partitions-x", nil), ("a.partitions-0", "a.partitions-0", nil), ("", "", nil),
        ] as [(String, String, Int?)])
    func names(clientID: String, worker: String, partitions: Int?) {
        let name = MemberName(clientID: clientID)
        #expect(name.worker == worker && name.partitions == partitions && name.clientID == clientID)
    }

    @Test("The largest number of the members counts, unless the topics have fewer partitions")
    func largest() {
        let members = [nil, 6, 9, 12].map {
            LogMember(id: "1", client: "w", host: "", partitions: [], partitionsUsed: $0)
        }
        #expect(members.partitionsUsed(of: 10) == 9)
        #expect(members.partitionsUsed(of: 3) == nil)
    }
}

extension KafkaTests {
    @Suite("The number of partitions in use")
    struct PartitionNumber {
        @Test(
            "Workers that have marked no partition keep their number where all topics grow beside them, and none is waited for",
            arguments: [0, 1])
        func unmarked(owned: Int) async throws {
            let bench = try await KafkaBench(partitions: 2)
            if owned > 0 { try await bench.mark(PartitionID(0)) }
            // Its listener appends nothing, as a worker that waits for its store.
            let (log, owner) = try await bench.worker()
            try await owner.start()
            await owner.own(2)
            try await bench.grow(to: 4)
            #expect(try await bench.partitionsInUse() == 2)
            #expect(
                try KafkaTopics.problems(log.questions, bench.configuration, used: 2).allSatisfy {
                    $0.effect == .notice
                })
            await owner.stop()
            await log.close()

            // All were stopped: the new number counts, though only the old partitions have had an owner.
            let (newLog, newOwner) = try await bench.worker()
            #expect(newLog.partitionCount == 4)
            try await newOwner.start()
            await newOwner.own(4)
            #expect(try await bench.partitionsInUse() == 4)
            // A worker that came with the old number meanwhile ends.
            let ending = try KafkaTopics.problems(newLog.questions, bench.configuration, used: 2)
                .filter { $0.effect == .endsWorker }
            #expect(
                ending.map(\.text) == [
                    "Other workers use 4 partitions of each topic, and this worker uses 2. Start this worker again."
                ])
            await newOwner.stop()
            await newLog.close()
        }

        @Test("The number of a killed worker counts until its session ends")
        func killed() async throws {
            let bench = try await KafkaBench(partitions: 2) { $0.timing.session = .seconds(6) }
            let questions = try KafkaQuestions(bench.configuration)
            do {
                var configuration = bench.configuration
                configuration.clientID = MemberName("killed", partitions: 2).clientID
                let member = try GroupMember(configuration)
                try member.subscribe()
                try await eventually { try questions.members().map(\.partitionsUsed) == [2] }
                // It does not leave the group.
                member.abandon()
            }
            try await bench.grow(to: 4)
            #expect(try await bench.partitionsInUse() == 2)
            try await eventually { try questions.members().isEmpty }
            #expect(try await bench.partitionsInUse() == 4)
        }
    }
}

extension KafkaBench {
    /// As an owner does.
    fileprivate func mark(_ partition: PartitionID) async throws {
        let log = try await log()
        let results = await log.append([.text(.variants, partition.number, "owned")])
        #expect(results.allSatisfy { $0.offset != nil })
        await log.close()
    }

    fileprivate func grow(to count: Int) async throws {
        _ = try await broker.tool(
            "topics", "--alter", "--topic", configuration.prefix.replacing(".", with: "\\.") + ".*", "--partitions",
            "\(count)")
        let questions = try KafkaQuestions(configuration)
        try await eventually {
            (try? questions.shape())?.counts.values.allSatisfy { $0 == count } ?? false
        }
    }

    /// As a program finds it that starts now.
    fileprivate func partitionsInUse() async throws -> Int {
        let begun = ContinuousClock.now
        let log = try await log()
        #expect(ContinuousClock.now - begun < .seconds(3))
        await log.close()
        return log.partitionCount
    }
}
