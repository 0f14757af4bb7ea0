import EmbeddedLog
import Failures
import Foundation
import Glibc
import Ports
import Records
import Synchronization
import TestSupport
import Testing

/// Processes that die, and processes beside one another.
@Suite("Embedded log: other processes, and the death of one", .timeLimit(.minutes(2)))
struct DeathTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Whatever was acknowledged before a kill -9 is there, at its offset, and the log goes on", arguments: 0..<6)
    func kill(round: Int) async throws {
        let path = folder.file("log")
        let limit = 50 + round * 311
        let result = try await #require(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [path = path as String, limit = limit as Int] in
            let log = try EmbeddedLog(path)
            let consumer = EmbeddedLogConsumer(log)
            try await consumer.start(Ears())
            let count = Acknowledged()
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var number = 0
                        while true {
                            let texts = (0..<(1 + number % 7)).map { "\(task)-\(number + $0)" }
                            let results = await log.append(texts.map { Bench.job($0, in: PartitionID(Int32(task))) })
                            let lines = zip(texts, results).map { "\(task) \($1.offset ?? -1) \($0)\n" }.joined()
                            _ = lines.withCString { write(1, $0, strlen($0)) }
                            number += texts.count
                            // In the middle of what the other tasks have under way.
                            if count.add(texts.count) > limit { Glibc.kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
        let lines = String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n")
        let acknowledged = lines.dropLast().map { $0.split(separator: " ") }.filter { $0.count == 3 && $0[2].contains("-") }
        #expect(!acknowledged.isEmpty)

        let log = try EmbeddedLog(path)
        for task in 0..<Int32(8) {
            var there: [Int64: String] = [:]
            for record in try await log.read(.jobsFast, PartitionID(task), from: 0, limit: 1_000_000) {
                there[record.offset] = Bench.text(record)
            }
            for fields in acknowledged where Int32(fields[0]) == task {
                let offset = try #require(Int64(fields[1]))
                #expect(there[offset] == String(fields[2]))
            }
        }
        // The dead worker holds nothing, and a new one starts at once.
        #expect(try await log.owner(of: Bench.p0) == nil)
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        #expect(await log.append([Bench.job("after")]).allSatisfy { $0.offset != nil })
        await consumer.stop()
        await log.close()
    }

    @Test("A second worker is refused with the pid of the first; owner says the same, and nobody after the stop")
    func secondWorker() async throws {
        let path = folder.file("log")
        let log = try EmbeddedLog(path)
        let first = EmbeddedLogConsumer(log)
        #expect(try await log.owner(of: Bench.p0) == nil)
        try await first.start(Ears())
        let owner = try #require(try await log.owner(of: Bench.p0))
        #expect(owner.hasPrefix("pid \(getpid()), since 20"))

        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [path = path as String] in
            let log = try EmbeddedLog(path)
            do {
                try await EmbeddedLogConsumer(log).start(Ears())
            } catch let error as LogFailure {
                print("\(error.code): \(error)")
            }
            // It may append all the same.
            print(await log.append([Bench.job("from beside")])[0].offset ?? -1)
            exit(0)
        }
        let said = String(decoding: result.standardOutputContent, as: UTF8.self)
        #expect(said.contains("log.locked: Another worker (\(owner)) holds the log at \(path)."))
        #expect(said.contains("\n0\n"))

        await first.stop()
        #expect(try await log.owner(of: Bench.p0) == nil)
        let second = EmbeddedLogConsumer(log)
        try await second.start(Ears())
        await second.stop()
        await log.close()
    }

    @Test("An append of another process wakes the worker")
    func wakeUp() async throws {
        let path = folder.file("log")
        let log = try EmbeddedLog(path)
        let consumer = EmbeddedLogConsumer(log)
        let ears = Ears()
        try await consumer.start(ears)
        await ears.hear(.jobsFast, PartitionID(2)) // what waits at the start
        try await #require(processExitsWith: .success) { [path = path as String] in
            let log = try EmbeddedLog(path)
            _ = await log.append([Bench.job("hello", in: PartitionID(2))])
            exit(0)
        }
        await ears.hear(.jobsFast, PartitionID(2))
        let records = try await log.read(.jobsFast, PartitionID(2), from: 0, limit: 10)
        #expect(records.map(Bench.text) == ["hello"])
        await consumer.stop()
        await log.close()
    }

    @Test("A publisher that never rests does not keep the worker's appends out")
    func fairness() async throws {
        let (worker, publisher) = (try EmbeddedLog(folder.file("log")), try EmbeddedLog(folder.file("log")))
        let published = await withTaskGroup(of: Int.self) { group in
            // Two tasks in turn, so that a group is always ready when the one before it is committed.
            for _ in 0..<2 {
                group.addTask {
                    var count = 0
                    while !Task.isCancelled {
                        _ = await publisher.append([Bench.job("bulk")])
                        count += 1
                    }
                    return count
                }
            }
            for _ in 0..<100 { _ = await worker.append([Bench.job("urgent")]) }
            group.cancelAll()
            return await group.reduce(0, +)
        }
        // Two publishing tasks fill at most two records for each of the worker's commits, and some before and after.
        #expect(published < 600)
        await worker.close()
        await publisher.close()
    }
}

private final class Acknowledged: Sendable {
    private let count = Atomic(0)
    func add(_ more: Int) -> Int { count.add(more, ordering: .relaxed).newValue }
}
