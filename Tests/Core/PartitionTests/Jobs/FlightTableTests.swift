import Canonical
import Hosts
import ImageModel
import Ledger
internal import Permits
import Records
import TestSupport
import Testing
import VariantSpec

@testable import Jobs

/// Each change of a flight keeps the counts by host and lane, and the index by source.
struct FlightTableTests {
    private static let (host, other) = (OriginHost(group: "http://a"), OriginHost(group: "http://b"))

    private static func job(_ offset: Int64) -> PendingJob {
        let record = Record(
            topic: .jobsFast, partition: PartitionID(0), offset: offset, timestamp: 0, key: [], value: [], headers: [])
        let job = Job(id: "\(offset)", url: "http://a/1", source: .numbered(1), variants: [], lane: .fast)
        return PendingJob(job: job, record: record)
    }

    private static let id = FlightID(PartitionID(0), 1)

    private static func table() -> FlightTable {
        var table = FlightTable()
        table[id] = Flight(
            id: id, source: .numbered(1), url: "http://a/1", host: host, origin: host, share: host,
            pendingJobs: [job(1), job(2)], lane: .slow, since: 0, stage: .queued(.fetch), snapshot: SourceSnapshot())
        return table
    }

    @Test("Counts follow the lane, the share, and jobs that come, go, or are late")
    func counts() {
        let changes: [(what: String, change: (inout Flight) -> Void, held: [HostLane: Int])] = [
            ("none", { _ in }, [HostLane(Self.host, .slow): 2]),
            ("lane", { $0.lane = .fast }, [HostLane(Self.host, .fast): 2]),
            ("share", { $0.share = Self.other }, [HostLane(Self.other, .slow): 2]),
            ("late", { $0.late.append(Self.job(3)) }, [HostLane(Self.host, .slow): 3]),
            ("gone", { $0.pendingJobs.removeLast() }, [HostLane(Self.host, .slow): 1]),
            ("none left", { $0.pendingJobs = [] }, [:]),
        ]
        for (what, change, held) in changes {
            var table = Self.table()
            if var flight = table[Self.id] {
                change(&flight)
                table[Self.id] = flight
            }
            #expect(table.held == held && table.isConsistent, "\(what)")
            #expect(table.flight(of: .numbered(1)) == Self.id)
            table[Self.id] = nil
            #expect(table.held.isEmpty && table.isEmpty && table.flight(of: .numbered(1)) == nil, "\(what)")
        }
    }

    @Test("A change in place counts, too")
    func inPlace() {
        var table = Self.table()
        table[Self.id]?.lane = .fast
        table[Self.id]?.pendingJobs.removeFirst()
        #expect(table.held == [HostLane(Self.host, .fast): 1] && table.isConsistent)
    }
}
