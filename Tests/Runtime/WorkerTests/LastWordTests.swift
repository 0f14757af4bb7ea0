import Canonical
import EmbeddedLog
import ImageModel
import Ports
import Records
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@Suite("The last word of a worker that is told to stop", .timeLimit(.minutes(1)))
struct LastWordTests {
    @Test("Takes back that a job runs alone, as soon as the log takes it: else the job is set aside for an orderly end")
    func blame() async throws {
        let bench = try Bench()
        let (log, partition) = try await bench.withJob()
        let left = ProgressRow(
            partition: partition, topics: [:], isClean: true,
            quarantined: [.init(.jobsFast, 0, crashes: 2, begun: nil)],
            at: 0)
        try await bench.append([left.newRecord().announced(in: 0)], to: log)

        /// Told of the partition's rows: nothing is refused until one names a job that runs alone.
        let state = Mutex<(blames: Bool, isFull: Bool, refused: Int)>((false, false, 0))
        let moving = MovingLog(
            log,
            refusing: { record in
                guard record.topic == .variants, let value = record.value,
                    record.key == RecordKey.progress(partition).bytes,
                    let row = ProgressRow(partition: partition, stored: value)
                else { return nil }
                return state.withLock { state in
                    if state.isFull {
                        state.refused += 1
                        return .full(path: "the test's")
                    }
                    state.blames = row.quarantined.contains { $0.begun == .alone }
                    state.isFull = state.blames
                    return nil
                }
            })
        try await bench.work(
            { $0.untilIdle = false }, log: log, moving: moving,
            watching: { worker in
                await #expect(throws: Never.self) {
                    try await eventually { await worker.counters.jobs == 1 }
                    state.withLock { $0.refused = 0 }
                    await worker.drain()
                    // More often than a worker tries that writes its last row and ends.
                    try await eventually { state.withLock { $0.refused > 2 } }
                    state.withLock { $0.isFull = false }
                }
            })
        #expect(state.withLock { !$0.blames })
    }
}
