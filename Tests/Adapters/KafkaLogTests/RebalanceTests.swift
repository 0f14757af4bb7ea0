import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

@testable import KafkaLog

extension KafkaTests {
    @Suite("A group that changes")
    struct Rebalance {
        @Test("Two workers share the partitions of every topic; who stays takes all, and hears of every record again")
        func sharing() async throws {
            let bench = try await KafkaBench()
            let (log, first) = try await bench.worker()
            try await first.start()
            await first.own(6)
            for round in 0..<3 {
                try await Self.everything("alone \(round)", in: log, reaches: [first])

                let (otherLog, second) = try await bench.worker()
                let heard = first.listener.count
                try await second.start()
                await first.releaseAll(after: heard, count: 6)
                await first.listener.until { $0.count > heard + 6 && $0.held.count == 3 }
                await second.own(3)
                #expect(first.listener.all.held.isDisjoint(with: second.listener.all.held))
                try await Self.everything("shared \(round)", in: log, reaches: [first, second])

                let before = first.listener.count
                await second.stop()
                await otherLog.close()
                await first.releaseAll(after: before, count: 3)
                await first.own(6)
            }
            try await Self.everything("alone at last", in: log, reaches: [first])
            for partition in 0..<Int32(6) {
                let epochs = first.listener.all.epochs(of: PartitionID(partition))
                #expect(zip(epochs, epochs.dropFirst()).allSatisfy { $0 < $1 })
            }
            #expect(!first.listener.all.contains { if case .lost = $0 { true } else { false } })
            await first.stop()
            await log.close()
        }

        /// Appends to each partition of each topic that owners read, finishes it, and nothing else comes.
        static func everything(_ text: String, in log: KafkaLog, reaches owners: [Owner]) async throws {
            let topics = Topic.consumed + [.variants]
            let records = topics.flatMap { topic in (0..<Int32(6)).map { NewRecord.text(topic, $0, text) } }
            let results = await log.append(records)
            #expect(results.allSatisfy { $0.offset != nil })
            for owner in owners {
                for partition in owner.listener.all.held {
                    for topic in topics {
                        // The changelog is read from its beginning at every assignment.
                        var texts: [String] = []
                        while texts.last != text {
                            texts += try await owner.drain(topic, partition, until: 1).map(\.text)
                        }
                        #expect(topic == .variants || texts == [text])
                        let offset = try #require(results[records.firstIndex { $0.topic == topic && $0.partition == partition }!].offset)
                        if topic != .variants { await owner.commit(topic, partition, offset + 1) }
                    }
                }
            }
        }

        @Test("What was fetched and not read before a rebalance wakes its owner after it, and so does what comes next")
        func unread() async throws {
            let bench = try await KafkaBench()
            let (log, first) = try await bench.worker()
            try await first.start()
            await first.own(6)
            let places = Topic.consumed.flatMap { topic in (0..<Int32(6)).map { (topic, PartitionID($0)) } }
            _ = await log.append(places.flatMap { place in
                (0..<50).map { .text(place.0, place.1.number, "\($0)") }
            })
            for place in places { await first.listener.wait(for: .readable(place.0, place.1)) }

            let (otherLog, second) = try await bench.worker()
            var heard = first.listener.count
            try await second.start()
            await first.releaseAll(after: heard, count: 6)
            await second.own(3)
            await first.own(3)
            heard = first.listener.count
            await second.stop()
            await otherLog.close()
            await first.releaseAll(after: heard, count: 3)
            await first.own(6)
            for place in places {
                // Only when told: a look without need would itself empty what keeps a queue from waking anybody.
                await first.listener.wait(for: .readable(place.0, place.1), after: heard)
                let records = try await first.drain(place.0, place.1, until: 50)
                #expect(records.map(\.text) == (0..<50).map(String.init))
            }
            for place in places {
                _ = await log.append([.text(place.0, place.1.number, "next")])
                #expect(try await first.drain(place.0, place.1, until: 1).map(\.text) == ["next"])
            }
            await first.stop()
            await log.close()
        }

        @Test("A worker for whom no partition is left waits, and takes over when another goes")
        func spare() async throws {
            let bench = try await KafkaBench(partitions: 1)
            let (log, first) = try await bench.worker()
            try await first.start()
            await first.own(1)
            let (otherLog, second) = try await bench.worker()
            var heard = first.listener.count
            try await second.start()
            await first.releaseAll(after: heard, count: 1)
            // Either of them: members are sorted by names that librdkafka draws.
            try await eventually { first.listener.all.held.count + second.listener.all.held.count == 1 }
            let isFirst = first.listener.all.held.count == 1
            let (owner, spare) = isFirst ? (first, second) : (second, first)
            heard = spare.listener.count
            await owner.stop()
            await spare.own(1)
            _ = await log.append([.text(.jobsSlow, 0, "later")])
            #expect(try await spare.drain(.jobsSlow, PartitionID(0), until: 1).map(\.text) == ["later"])
            await spare.stop()
            await log.close()
            await otherLog.close()
        }

        @Test("Partitions that are not released by the deadline are lost, and the next owner reads them again")
        func deadline() async throws {
            let bench = try await KafkaBench { $0.timing.revoke = .milliseconds(300) }
            let (log, first) = try await bench.worker()
            try await first.start()
            await first.own(6)
            _ = await log.append((0..<6).map { .text(.jobsFast, $0, "unfinished") })
            for partition in 0..<Int32(6) { _ = try await first.drain(.jobsFast, PartitionID(partition), until: 1) }

            let heard = first.listener.count
            let (otherLog, second) = try await bench.worker()
            try await second.start()
            await second.own(3)
            let lost = first.listener.all.dropFirst(heard).filter { if case .lost = $0 { true } else { false } }
            #expect(lost.count == 6)
            // An answer that was on its way to the log meanwhile.
            for partition in second.listener.all.held {
                let over = Ownership(partition, epoch: try #require(first.listener.all.epochs(of: partition).first))
                #expect(await log.append([.text(.outcomes, partition.number, "late")], as: over)[0].failure != nil)
                #expect(try await log.bounds(.outcomes, partition).isEmpty)
            }
            for partition in second.listener.all.held {
                #expect(try await second.drain(.jobsFast, partition, until: 1).map(\.text) == ["unfinished"])
            }
            for (log, owner) in [(log, first), (otherLog, second)] {
                await owner.stop()
                await log.close()
            }
        }

        @Test("A worker that stops before it gave up what was revoked leaves at once, and another takes over")
        func stopWhileRevoked() async throws {
            let bench = try await KafkaBench()
            let (log, first) = try await bench.worker()
            try await first.start()
            await first.own(6)
            let heard = first.listener.count
            let (otherLog, second) = try await bench.worker()
            try await second.start()
            await first.listener.until { $0.dropFirst(heard).contains(.revoked(PartitionID(0))) }
            let begun = ContinuousClock.now
            await first.stop()
            // Without the answer to the rebalance it is the ten seconds after which a member is abandoned.
            #expect(ContinuousClock.now - begun < .seconds(8))
            await second.own(6)
            await second.stop()
            await log.close()
            await otherLog.close()
        }

        @Test("A poll thread that was away shuts the fence, loses its partitions and gets them back")
        func stall() async throws {
            let bench = try await KafkaBench { $0.timing.stall = .milliseconds(1_500) }
            let (log, owner) = try await bench.worker()
            try await owner.start()
            await owner.own(6)
            _ = await log.append([.text(.jobsFast, 2, "before")])
            _ = try await owner.drain(.jobsFast, PartitionID(2), until: 1)

            let heard = owner.listener.count
            let begun = Ownership(PartitionID(2), epoch: try #require(owner.listener.all.epochs(of: PartitionID(2)).last))
            await owner.stayAway(until: { log.isFenced })
            await owner.listener.until { $0.dropFirst(heard).contains(.lost(PartitionID(2))) }
            await owner.own(6)
            try await eventually { await log.append([.text(.jobsFast, 2, "after")])[0].offset != nil }
            #expect(try await owner.drain(.jobsFast, PartitionID(2), until: 2).map(\.text).prefix(2) == ["before", "after"])
            // The fence is open again, and what was begun before is refused all the same.
            let now = Ownership(PartitionID(2), epoch: try #require(owner.listener.all.epochs(of: PartitionID(2)).last))
            #expect(await log.append([.text(.outcomes, 2, "late")], as: begun)[0].failure != nil)
            #expect(await log.append([.text(.outcomes, 2, "now")], as: now)[0].offset == 0)
            await owner.stop()
            await log.close()
        }

        @Test("A worker that was away while the group waited for its answer joins again")
        func stallWhilePreparing() async throws {
            let bench = try await KafkaBench()
            let log = try await bench.log()
            let consumer = KafkaLogConsumer(log)
            let owner = Owner(consumer)
            try await owner.start()
            // It may answer before we look: then once more.
            while await !consumer.wasAwayWhilePreparing() { await Task.yield() }
            #expect(owner.listener.all.held.isEmpty)
            await owner.own(6)
            try await Self.everything("after", in: log, reaches: [owner])
            await owner.stop()
            await log.close()
        }

        @Test("People see who owns what")
        func owners() async throws {
            let bench = try await KafkaBench { $0.clientID = "worker-7" }
            let (log, owner) = try await bench.worker()
            #expect(try await log.owner(of: PartitionID(4)) == nil)
            try await owner.start()
            await owner.own(6)
            await owner.commit(.jobsSlow, PartitionID(5), 0)
            try await eventually { try await log.owner(of: PartitionID(4))?.hasPrefix("worker-7@") ?? false }
            let groups = try await bench.broker.tool("groups", "--describe", "--group", bench.configuration.group)
            #expect(groups.contains("\(bench.configuration.prefix)jobs.slow"))
            await owner.stop()
            await log.close()
        }
    }
}

extension Owner {
    /// Blocks the poll thread, as something that never returns would.
    func stayAway(until isSo: @Sendable () -> Bool) { while !isSo() {} }
}

extension KafkaLogConsumer {
    fileprivate func wasAwayWhilePreparing() -> Bool {
        switch phase {
        case .preparing:
            releaseAfterStall()
            return true
        case .owning: releaseAfterStall()
        case .idle, .revoking, .committing, .stopping: break
        }
        return false
    }
}
