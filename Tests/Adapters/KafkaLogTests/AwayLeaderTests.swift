import Foundation
import Ports
import Posix
import Records
import TestSupport
import Testing

@testable import KafkaLog

extension KafkaTests {
    @Suite("A group whose coordinator is away")
    struct AwayCoordinator {
        @Test("answers once it is back, and questions whose time has run out end no process", .timeLimit(.minutes(2)))
        func back() async {
            await #expect(processExitsWith: .success) {
                let broker = try await KafkaBroker.start()
                let bench = try await KafkaBench(on: broker, partitions: 1)
                let questions = try KafkaQuestions(bench.configuration)
                #expect(try questions.members().isEmpty)
                try await broker.run("kill", "1")
                for _ in 0..<3 { #expect(throws: LogFailure.self) { try questions.members(within: 200) } }
                try await broker.run("revive", "1")
                try await eventually { (try? questions.members(within: 1_000)) == [] }
            }
        }
    }

    @Suite("A partition whose leader is away")
    struct AwayLeader {
        private static let (here, away) = (PartitionID(0), PartitionID(1))

        @Test("keeps nobody from the others that come with it, and is taken up beside them once its leader is back")
        func beside() async throws {
            let broker = try await KafkaBroker.start(brokers: 3) { _ in
                [
                    "broker.session.timeout.ms=3000", "broker.heartbeat.interval.ms=500",
                    "group.min.session.timeout.ms=500",
                ]
            }
            let bench = try await KafkaBench(on: broker, partitions: 2)
            try await bench.lead([Self.here: 1, Self.away: 3])
            let (log, owner) = try await bench.worker()
            let topics = Topic.consumed + [.variants]
            _ = await log.append(topics.flatMap { [.text($0, 0, "before"), .text($0, 1, "before")] })

            try await broker.run("kill", "3")
            try await owner.start()
            await owner.own(1)
            #expect(owner.listener.all.held == [Self.here])
            for topic in topics {
                #expect(try await owner.drain(topic, Self.here, until: 1).map(\.text) == ["before"])
                if topic != .variants { await owner.commit(topic, Self.here, 1) }
            }
            // What is committable meanwhile is committed.
            for topic in Topic.consumed { try await eventually { await owner.committed(topic, Self.here) == 1 } }

            // The group shares out anew while it is away, twice.
            let beforeJoin = owner.listener.count
            let (otherLog, other) = try await bench.worker()
            try await other.start()
            await owner.releaseAll(after: beforeJoin, count: 1)
            try await eventually { owner.listener.all.held.union(other.listener.all.held) == [Self.here] }
            let beforeLeave = owner.listener.count
            let isOwners = owner.listener.all.held == [Self.here]
            await other.stop()
            await otherLog.close()
            if isOwners { await owner.releaseAll(after: beforeLeave, count: 1) }
            await owner.listener.until { $0.dropFirst(beforeLeave).contains(where: \.isAssigned) }
            let epochs = owner.listener.all.epochs(of: Self.here)

            // Some of it is fetched ahead and not read when the other partition comes.
            _ = await log.append((0..<50).map { .text(.jobsFast, 0, "\($0)") })
            var records: [Record] = []
            var heard = 0
            while records.count < 20 {
                heard = await owner.listener.wait(for: .readable(.jobsFast, Self.here), after: heard)
                records += try await owner.drain(.jobsFast, Self.here, limit: 20 - records.count)
            }
            try await broker.run("revive", "3")
            await owner.own(2)
            for topic in topics {
                #expect(try await owner.drain(topic, Self.away, until: 1).map(\.text) == ["before"])
                if topic != .variants { await owner.commit(topic, Self.away, 1) }
            }
            #expect(await owner.position(.jobsFast, Self.here) == 21)
            records += try await owner.drain(.jobsFast, Self.here, until: 30)
            #expect(records.map(\.text) == (0..<50).map(String.init))
            for partition in [Self.here, Self.away] {
                for topic in topics {
                    let result = await log.append([.text(topic, partition.number, "after")])[0]
                    #expect(result.offset != nil, "\(topic), \(partition): \(result)")
                    // The changelog is read from its beginning by each owner.
                    var texts: [String] = []
                    while texts.last != "after" {
                        texts += try await owner.drain(topic, partition, until: 1).map(\.text)
                    }
                    #expect(texts.suffix(1) == ["after"] && (topic == .variants || texts.count == 1))
                }
            }
            await owner.commit(.jobsFast, Self.here, 52)
            try await eventually { await owner.committed(.jobsFast, Self.here) == 52 }
            for topic in Topic.consumed { try await eventually { await owner.committed(topic, Self.away) == 1 } }
            #expect(owner.listener.all.epochs(of: Self.here) == epochs)
            #expect(owner.listener.all.epochs(of: Self.away).count == 1)
            await owner.stop()
            await log.close()
        }
    }
}

extension KafkaBench {
    /// Has brokers lead partitions of every topic, which have one replica.
    fileprivate func lead(_ leaders: [PartitionID: Int32]) async throws {
        let places = Topic.allCases.flatMap { topic in leaders.map { (KafkaPlace(topic, $0.key), $0.value) } }
        let wanted = places.map { place, leader -> [String: Any] in
            let topic = configuration.name(place.topic)
            return ["topic": topic, "partition": Int(place.partition.number), "replicas": [Int(leader)]]
        }
        let folder = try TemporaryFolder()
        let plan = try JSONSerialization.data(withJSONObject: ["version": 1, "partitions": wanted])
        try plan.write(to: folder.url.appending(path: "plan.json"))
        _ = try await broker.tool("reassign", "--reassignment-json-file", folder.file("plan.json"), "--execute")
        let questions = try KafkaQuestions(configuration)
        try await eventually {
            let known = questions.leaders(within: 2_000) ?? [:]
            return places.allSatisfy { known[$0.0] == $0.1 }
        }
    }
}

extension RecordingListener.Event {
    fileprivate var isAssigned: Bool { if case .assigned = self { true } else { false } }
}
