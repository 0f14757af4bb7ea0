import Ports
import Records
import TestSupport
import Testing

@Suite("Log: owning partitions", .timeLimit(.minutes(2)))
struct OwnershipTests {
    typealias Listened = RecordingListener.Event
    static let p0 = PartitionID(0)

    static func job(_ text: String, _ partition: PartitionID = p0) -> NewRecord {
        NewRecord(topic: .jobsFast, partition: partition, key: [1], value: Array(text.utf8))
    }

    static func texts(_ records: [Record]) -> [String] { records.map { String(decoding: $0.value ?? [], as: UTF8.self) } }

    @Test("Every partition is assigned once, in a higher epoch each time, with the bounds of folded topics", arguments: LogBench.all)
    func assignment(bench: LogBench) async throws {
        var last: Int64 = 0
        for round in 0..<3 {
            let (log, consumer) = try await bench.open("assignment")
            let owner = Owner(consumer)
            try await owner.start()
            let count = log.partitionCount
            await owner.listener.until { $0.filter { if case .assigned = $0 { true } else { false } }.count == count }
            for number in 0..<Int32(count) {
                let epochs = owner.listener.all.compactMap { event -> Int64? in
                    guard case .assigned(PartitionID(number), let epoch, let folded) = event else { return nil }
                    #expect(folded.variants.upperBound == (number == 0 ? Int64(round) : 0))
                    #expect(folded.parked.upperBound == (number == 0 ? 2 * Int64(round) : 0))
                    return epoch
                }
                #expect(epochs.count == 1)
                if number == 0 {
                    #expect(epochs[0] > last)
                    last = epochs[0]
                }
            }
            _ = await log.append([NewRecord(topic: .variants, partition: Self.p0, key: [UInt8(round)], value: [])])
            _ = await log.append(
                (0..<2).map { NewRecord(topic: .parked, partition: Self.p0, key: [UInt8(round), $0], value: []) })
            await owner.stop()
            await log.close()
        }
    }

    @Test("Records that wait are told at the start, later ones as they come", arguments: LogBench.all)
    func wakeUps(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("wake")
        _ = await log.append([Self.job("before")])
        let owner = Owner(consumer)
        try await owner.start()
        #expect(Self.texts(try await owner.drain(.jobsFast, Self.p0, until: 1)) == ["before"])
        _ = await log.append([Self.job("one"), Self.job("two")])
        #expect(Self.texts(try await owner.drain(.jobsFast, Self.p0, until: 2)) == ["one", "two"])
        #expect(try await owner.drain(.jobsFast, Self.p0).isEmpty)
        await owner.stop()
        await log.close()
    }

    @Test("An append through another opening of the log wakes the owner", arguments: LogBench.all)
    func foreignWakeUp(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("foreign")
        let owner = Owner(consumer)
        try await owner.start()
        let other = try await bench.open("foreign").log
        for round in 0..<20 {
            _ = await other.append([Self.job("\(round)", PartitionID(5))])
            #expect(Self.texts(try await owner.drain(.jobsFast, PartitionID(5), until: 1)) == ["\(round)"])
        }
        await owner.stop()
        await other.close()
        await log.close()
    }

    @Test("Reading goes on at the committed offset after a restart, and no record below it is needed any more", arguments: LogBench.all)
    func resumes(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("resumes")
        #expect(try await log.committed(.jobsFast, Self.p0) == nil)
        _ = await log.append((0..<10).map { Self.job("\($0)") })
        let owner = Owner(consumer)
        try await owner.start()
        let drained = try await owner.drain(.jobsFast, Self.p0, until: 10)
        await owner.commit(.jobsFast, Self.p0, drained[6].offset)
        await owner.stop()
        await log.close()

        let (again, nextConsumer) = try await bench.open("resumes")
        #expect(try await again.committed(.jobsFast, Self.p0) == drained[6].offset)
        let next = Owner(nextConsumer)
        try await next.start()
        #expect(Self.texts(try await next.drain(.jobsFast, Self.p0, until: 4)) == ["6", "7", "8", "9"])
        await next.commit(.jobsFast, Self.p0, drained[9].offset + 1)
        await next.stop()
        // Offsets go on where they were, though everything is finished and may be deleted.
        let offset = try #require(await again.append([Self.job("later")]).first?.offset)
        #expect(offset > drained[9].offset)
        await again.close()
    }

    @Test("Folded topics are read from where the listener said", arguments: LogBench.all)
    func foldedStart(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("folded")
        var start: Int64 = 0
        for topic in Topic.folded {
            let results = await log.append((0..<10).map {
                NewRecord(topic: topic, partition: Self.p0, key: [$0], value: [$0])
            })
            start = try #require(results[4].offset)
        }
        let owner = Owner(consumer, foldedStart: start)
        try await owner.start()
        for topic in Topic.folded {
            #expect(try await owner.drain(topic, Self.p0, until: 6).map(\.key) == [[4], [5], [6], [7], [8], [9]])
        }
        await owner.stop()
        await log.close()
    }

    @Test("Drain returns no more than asked for", arguments: LogBench.all)
    func limit(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("limit")
        _ = await log.append((0..<10).map { Self.job("\($0)") })
        let owner = Owner(consumer)
        try await owner.start()
        await owner.listener.wait(for: .readable(.jobsFast, Self.p0))
        #expect(Self.texts(try await owner.drain(.jobsFast, Self.p0, limit: 3)) == ["0", "1", "2"])
        #expect(Self.texts(try await owner.drain(.jobsFast, Self.p0, limit: 3)) == ["3", "4", "5"])
        await owner.stop()
        await log.close()
    }

    @Test("After a rewind a folded topic is read again from there, to its end and further", arguments: LogBench.all)
    func rewind(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("rewind")
        let row = { (topic: Topic, key: UInt8) in NewRecord(topic: topic, partition: Self.p0, key: [key], value: [key]) }
        for topic in Topic.folded { _ = await log.append((0..<20).map { row(topic, $0) }) }
        let owner = Owner(consumer)
        try await owner.start()
        for topic in Topic.folded {
            let first = try await owner.drain(topic, Self.p0, until: 20)
            for offset in [first[0].offset, first[7].offset] {
                try await owner.rewind(topic, Self.p0, to: offset)
                let end = await owner.position(topic, Self.p0)
                #expect(end == nil || end == offset)
                let again = try await owner.drain(topic, Self.p0, until: first.count { $0.offset >= offset })
                #expect(again == first.filter { $0.offset >= offset })
            }
            _ = await log.append([row(topic, 20)])
            #expect(try await owner.drain(topic, Self.p0, until: 1).map(\.key) == [[20]])
        }
        await owner.stop()
        await log.close()
    }

    @Test("What is committed is known", arguments: LogBench.all)
    func committed(bench: LogBench) async throws {
        let (log, consumer) = try await bench.open("committed")
        _ = await log.append((0..<10).map { Self.job("\($0)") })
        let owner = Owner(consumer)
        try await owner.start()
        let drained = try await owner.drain(.jobsFast, Self.p0, until: 10)
        #expect(await owner.committed(.jobsFast, Self.p0) == nil)
        await owner.commit(.jobsFast, Self.p0, drained[8].offset)
        try await eventually { await owner.committed(.jobsFast, Self.p0) == drained[8].offset }
        await owner.stop()
        await log.close()
    }

    @Test(
        "Where a topic begins again, reading and the committed offset go back, and move on from there",
        // The embedded log deletes what is finished: none of its topics begins again.
        .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func restart() async throws {
        let (log, consumer) = try await LogBench.kafka.open("restart")
        _ = await log.append((0..<10).map { Self.job("\($0)") })
        let owner = Owner(consumer)
        try await owner.start()
        let drained = try await owner.drain(.jobsFast, Self.p0, until: 10)
        await owner.commit(.jobsFast, Self.p0, drained[8].offset)
        try await eventually { await owner.committed(.jobsFast, Self.p0) == drained[8].offset }
        try await owner.restart(.jobsFast, Self.p0, at: drained[4].offset)
        #expect(Self.texts(try await owner.drain(.jobsFast, Self.p0, until: 6)) == ["4", "5", "6", "7", "8", "9"])
        try await eventually { try await log.committed(.jobsFast, Self.p0) == drained[4].offset }
        try await eventually { await owner.committed(.jobsFast, Self.p0) == drained[4].offset }
        // A commit of another topic's takes along what is stored of this one: not the old log's offset.
        await owner.commit(.jobsSlow, Self.p0, 0)
        try await eventually { await owner.committed(.jobsSlow, Self.p0) == 0 }
        #expect(try await log.committed(.jobsFast, Self.p0) == drained[4].offset)
        await owner.commit(.jobsFast, Self.p0, drained[6].offset)
        await owner.stop()
        #expect(try await log.committed(.jobsFast, Self.p0) == drained[6].offset)
        await log.close()
    }

    @Test("A log shows its bounds and when a record was appended, for many places at once", arguments: LogBench.all)
    func sights(bench: LogBench) async throws {
        let log = try await bench.open("sights").log
        _ = await log.append((0..<10).map { Self.job("\($0)", PartitionID($0 < 7 ? 0 : 1)) })
        let times = try await log.read(.jobsFast, Self.p0, from: 0, limit: 10).map(\.timestamp)
        let sights = await log.sights(at: [
            LogPoint(.jobsFast, Self.p0, 3), LogPoint(.jobsFast, PartitionID(1), nil), LogPoint(.jobsFast, PartitionID(2), 0),
            LogPoint(.jobsSlow, Self.p0, 400),
        ])
        #expect(
            try sights.map { try $0.get() } == [
                LogSight(bounds: 0..<7, timestamp: times[3]), LogSight(bounds: 0..<3, timestamp: nil),
                LogSight(bounds: 0..<0, timestamp: nil), LogSight(bounds: 0..<0, timestamp: nil),
            ])
        await log.close()
    }
}
