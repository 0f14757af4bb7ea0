import EmbeddedLog
import Failures
import Foundation
import Ports
import Records
import SQLite
import TestSupport
import Testing

/// Numbers in the log's own tables that no program of ours wrote.
@Suite("Embedded log: extreme numbers in its file", .timeLimit(.minutes(1)))
struct DamagedNumberTests {
    static let numbers = ["9223372036854775807", "-9223372036854775808", "-1", "4611686018427387905"]
    static let columns = [
        "UPDATE \"jobs.fast.0\" SET offset = N", "UPDATE watermarks SET watermark = N WHERE topic = 'jobs.fast'",
        "UPDATE epochs SET epoch = N", "UPDATE log SET partitions = N", "UPDATE \"variants.0\" SET offset = N",
    ]

    @Test("Each is damage that is said, at every door", arguments: columns, numbers)
    func damaged(column: String, number: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        try await Self.fill(path)
        try Connection(path + "/log.sqlite", .create).execute(column.replacing("N", with: number))
        var failures: [LogFailure] = []
        func try_(_ body: () async throws -> Void) async throws {
            do { try await body() } catch let failure as LogFailure { failures.append(failure) }
        }
        try await try_ {
            let log = try EmbeddedLog(path)
            try await try_ { _ = try await log.partitionOffsets(Topic.consumed, log.partitions) }
            try await try_ { _ = try await log.read(.jobsFast, Bench.p0, from: .min, limit: 10) }
            try await try_ {
                let consumer = EmbeddedLogConsumer(log)
                try await consumer.start(Ears())
                consumer.commit(.jobsFast, Bench.p0, below: 1)
                await consumer.stop()
            }
            if let failure = await log.append([Bench.job("more")])[0].failure { failures.append(failure) }
            await log.close()
        }
        // An epoch of -1 is counted up to one that is sound.
        #expect(!failures.isEmpty || (column.contains("epochs") && number == "-1"))
        for failure in failures {
            #expect(failure.code == "log.unreadable" && failure.description.contains("Restore the file"), "\(failure)")
        }
    }

    @Test("When a record was appended is bounded, not damage", arguments: numbers)
    func times(number: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("log")
        try await Self.fill(path)
        try Connection(path + "/log.sqlite", .create).execute("UPDATE \"jobs.fast.0\" SET at = \(number)")
        let log = try EmbeddedLog(path)
        let lags = try await log.lags(try await log.partitionOffsets([.jobsFast], [Bench.p0]))
        #expect(lags[0].records == 1 && lags[0].seconds(at: 1_795_256_916_007) >= 0)
        await log.close()
    }

    private static func fill(_ path: String) async throws {
        let log = try EmbeddedLog(path)
        _ = await log.append([
            Bench.job("a"), Bench.job("b"), NewRecord(topic: .variants, partition: Bench.p0, key: [1], value: [1]),
        ])
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(Ears())
        consumer.commit(.jobsFast, Bench.p0, below: 1)
        await consumer.stop()
        await log.close()
    }
}
