import Clocks
import Ports
import Records
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@Suite("A worker whose clock is wrong", .timeLimit(.minutes(1)))
struct ClockTests {
    @Test(
        "It tells by how much its clock differs from the brokers', before its first job",
        arguments: [0, 3_600_000, -3_600_000] as [Duration])
    func skew(ahead: Duration) async throws {
        let bench = try Bench()
        let (log, _) = try await bench.withJob()
        let found = Mutex<Duration?>(nil)
        try await bench.work(
            log: log, moving: MovingLog(log), ahead: ahead,
            watching: { worker in
                try? await eventually { await worker.status.clockSkew != nil }
                let skew = await worker.status.clockSkew
                found.withLock { $0 = skew }
            })
        let skew = try #require(found.withLock { $0 })
        #expect((skew - ahead).magnitude < 60_000, "\(skew.seconds) s")
        #expect((skew.magnitude >= LogClock.tolerance) == (ahead != .zero))
    }

    @Test("With the embedded log there is one clock, and nothing to tell")
    func embedded() async throws {
        let bench = try Bench()
        let (log, _) = try await bench.withJob()
        let found = Mutex<Duration?>(1)
        try await bench.work(
            log: log, ahead: 3_600_000,
            watching: { worker in
                try? await eventually { await !worker.status.owned.isEmpty }
                let skew = await worker.status.clockSkew
                found.withLock { $0 = skew }
            })
        #expect(found.withLock { $0 } == nil)
    }
}
