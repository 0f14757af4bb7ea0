import Access
import Canonical
import Clocks
import EmbeddedLog
import Foundation
import HTTP
internal import Hosts
import ImageModel
internal import Jobs
import Origin
import Partition
internal import Permits
import Ports
import Posix
import Records
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@Suite("A host whose jobs expire while they are fetched", .timeLimit(.minutes(2)))
struct ImpatientJobTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"

    /// Publishes jobs that expire 600 ms later, longer than a connection may take, until the worker has blocked their host, or
    /// `most` of them have expired.
    private func isBlocked(by sends: BrokenOrigin.Behaviour, firstByte: Duration, most: Int) async throws -> Bool {
        let bench = try Bench()
        let host = try BrokenOrigin(sends)
        let log = try bench.log
        let isBlocked = Atomic(false)
        try await bench.work(
            {
                $0.untilIdle = false
                $0.tellsOrigins = true
                $0.permits = PermitRules(render: 2, origins: OriginRules())
                $0.partition.origins = $0.permits.origins
            }, log: log,
            fetcher: { _ in
                var configuration = OriginConfiguration()
                configuration.settings.access.addresses.allow = [AddressRange("127.0.0.0/8")].compactMap { $0 }
                configuration.settings.deadlines.connect = .milliseconds(200)
                configuration.settings.deadlines.firstByte = firstByte
                return GuardedFetcher(configuration)
            },
            watching: { worker in
                while await worker.counters.expired < most, !isBlocked.load(ordering: .relaxed) {
                    try? await publish(4, from: host, to: log, bench)
                    let known = await worker.counters.expired
                    try? await eventually { await worker.counters.expired >= known + 1 }
                    let report = try? await log.originReport(owners: nil, at: SystemTime.wall)
                    if report?.hosts.contains(where: { $0.state == .blocked && $0.code == "fetch.deadline" }) == true {
                        isBlocked.store(true, ordering: .relaxed)
                    }
                }
                await worker.drain()
            })
        return isBlocked.load(ordering: .relaxed)
    }

    private func publish(
        _ count: Int, from host: BrokenOrigin, to log: EmbeddedLog, _ bench: Bench
    ) async throws {
        let intake = Intake(rules: bench.rules)
        let expires = SystemTime.wall + 600
        let records = try (0..<count).map { _ in
            let line =
                #"{"url":"\#(host.url("/\(UUID().uuidString).png"))","variants":["32x32.png"],"expires":\#(expires.milliseconds)}"#
            return try intake.job(line: Array(line.utf8), id: UUID().uuidString, lane: .fast)
                .newRecord(partitions: log.partitionCount, at: 0)
        }
        try await bench.append(records, to: log)
    }

    @Test("A host that needs longer to respond than its jobs wait is not blocked; one that passes its own deadline is")
    func patient() async throws {
        #expect(try await !isBlocked(by: .silence, firstByte: .seconds(10), most: 24))
        #expect(try await !isBlocked(by: .drip(Array(Self.head.utf8), every: 5), firstByte: .seconds(10), most: 24))
        #expect(try await isBlocked(by: .silence, firstByte: .milliseconds(200), most: 400))
    }
}
