import Clocks
import EmbeddedLog
import ImageModel
import Ports
import Records
import Testing
import WorkerRuntime

@Suite("Jobs that retention removed unread", .timeLimit(.minutes(1)))
struct LostJobsTests {
    @Test("The progress row counts them, and so does the next owner's, for a day")
    func row() async throws {
        let bench = try Bench()
        let (log, partition) = try await bench.withJob()
        func lost() async throws -> Int64? {
            let log = try bench.log
            let found = try await log.latest(.variants, partition, keyPrefix: RecordKey.progress(partition).bytes)
            await log.close()
            let row = try #require(ProgressRow(partition: partition, stored: found.last?.value ?? []))
            return row.lost?.records
        }
        try await bench.work(log: log)
        #expect(try await lost() == nil)
        let again = try bench.log
        // One host's, and one source's: all are in the partition.
        let job = (url: bench.url("/a.png"), variants: ["32x32.png"], lane: Lane.fast)
        try await bench.publish(Array(repeating: job, count: 5), to: again)
        let counters = try await bench.work(log: again, moving: MovingLog(again, begins: [.jobsFast: 4]))
        #expect(counters.failures["log.expired"] == 3 && counters.jobs == 2)
        #expect(try await lost() == 3)
        try await bench.work()
        #expect(try await lost() == 3)
        try await bench.work(ahead: .days(1))
        #expect(try await lost() == nil)
    }
}
