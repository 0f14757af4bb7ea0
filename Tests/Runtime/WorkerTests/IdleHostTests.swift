import Clocks
import EmbeddedLog
import Ports
import Posix
import Records
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@Suite("Rows of hosts that are not asked any more", .timeLimit(.minutes(1)))
struct IdleHostTests {
    private static func row(
        _ host: String, by: String = "gone", age: Duration, _ state: OriginRow.State = .open, left: Duration? = nil
    ) -> OriginRow {
        let now = SystemTime.wall
        var row = OriginRow(host: "https://\(host).example", by: by, at: now - age)
        row.state = state
        row.until = left.map { now + $0 }
        return row
    }

    private static func hosts(in log: EmbeddedLog) async throws -> Set<String> {
        let records = try await log.latest(.origins, OriginRow.partition, keyPrefix: [])
        return Set(records.compactMap { OriginRow($0)?.host })
    }

    @Test("A running worker deletes them though others write rows all the time")
    func busy() async throws {
        let bench = try Bench()
        let log = try bench.log
        try await bench.append([Self.row("old", age: 7_200_000).newRecord()], to: log)
        let left = Mutex<Set<String>>([])
        try await bench.work(
            {
                $0.untilIdle = false
                $0.tellsOrigins = true
            }, log: log,
            watching: { worker in
                try? await eventually {
                    _ = await log.append([Self.row("young", by: "other", age: 0).newRecord()])
                    let hosts = try await Self.hosts(in: log)
                    left.withLock { $0 = hosts }
                    return hosts == ["https://young.example"]
                }
                await worker.drain()
            })
        #expect(left.withLock { $0 } == ["https://young.example"])
    }

    @Test(
        "A running worker deletes them; young ones, those of blocks that last and an operator's stay, also in what it reads"
    )
    func swept() async throws {
        let bench = try Bench()
        let log = try bench.log
        let hour = Duration.hours(1)
        let kept = [
            Self.row("young", age: hour / 2), Self.row("blocked", age: hour * 2, .blocked, left: hour),
            Self.row("word", by: OriginRow.operatorName, age: hour * 40),
        ]
        let old =
            (0..<2_000).map { Self.row("old-\($0)", age: hour * 2) } + [
                Self.row("over", age: hour * 3, .blocked, left: .zero - hour), Self.row("slowed", age: hour * 2, .slowed),
            ]
        try await bench.append((old + kept).map { $0.newRecord() }, to: log)
        #expect(
            Set(try await log.originReport(owners: nil, at: SystemTime.wall).hosts.map(\.host))
                == Set(kept.map(\.host)))
        try await bench.work(
            {
                $0.untilIdle = false
                $0.tellsOrigins = true
            }, log: log,
            watching: { worker in
                try? await eventually { try await Self.hosts(in: log) == Set(kept.map(\.host)) }
                await worker.drain()
            })
        let again = try bench.log
        #expect(try await Self.hosts(in: again) == Set(kept.map(\.host)))
        await again.close()
    }
}
