import Canonical
import EmbeddedLog
import ImageModel
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("The last word of a worker that is told to stop", .timeLimit(.minutes(1)))
struct LastWordTests {
    @Test("Takes back that a job runs alone, as soon as the log takes it: else the job is set aside for an orderly end")
    func blame() async throws {
        let bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        let log = try bench.log
        try await bench.publish([(url: bench.url("/a.png"), variants: ["32x32.png"], lane: .fast)], to: log)
        let partition = try bench.rules.source(of: bench.url("/a.png")).key.partition(of: log.partitionCount)
        let left = ProgressRow(
            partition: partition, topics: [:], isClean: true, suspects: [.init(.jobsFast, 0, deaths: 2, begun: nil)],
            at: 0)
        try await bench.append([left.newRecord().announced(in: 0)], to: log)

        /// Told of the partition's rows: nothing is refused until one names a job that runs alone.
        let state = Mutex<(blames: Bool, isFull: Bool)>((false, false))
        let moving = MovingLog(
            log,
            refusing: { record in
                guard record.topic == .variants, let value = record.value,
                    record.key == RecordKey.progress(partition).bytes,
                    let row = ProgressRow(partition: partition, stored: value)
                else { return nil }
                return state.withLock { state in
                    if state.isFull { return .full(path: "the test's") }
                    state.blames = row.suspects.contains { $0.begun == .alone }
                    state.isFull = state.blames
                    return nil
                }
            })
        try await bench.work(
            { $0.untilIdle = false }, log: log, moving: moving,
            watching: { worker in
                await #expect(throws: Never.self) {
                    try await eventually { await worker.counters.jobs == 1 }
                    await worker.drain()
                    // Longer than a refused row waits for its next time.
                    try await Task.sleep(for: .seconds(2))
                    state.withLock { $0.isFull = false }
                }
            })
        #expect(state.withLock { !$0.blames })
    }
}
