import Canonical
import Clocks
import Digest
import Failures
internal import Hosts
import ImageModel
import Images
import Jobs
import Ledger
import Partition
import Permits
import Planning
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("A flood of one host in a partition", .timeLimit(.minutes(1)))
struct CrowdTests {
    private struct Flood: ~Copyable {
        var state: PartitionState
        var permits = PermitScheduler(PermitRules(fetch: 2, render: 1))
        /// In the order in which they are fetched.
        var flights: [FlightID] = []
        var rendered: [VariantSpec] = []

        init() {
            var rules = PartitionRules(reuse: ReuseRules())
            rules.hostShare = 64
            state = PartitionState(PartitionID(0), rules: rules, seed: 1)
        }

        /// What goes to a tier is acknowledged at once.
        mutating func feed(_ event: PartitionEvent, at now: Moment = 0) {
            var work: [Effect] = []
            state.run(event, at: now, permits: &permits, into: &work) { _ in SourceSnapshot() }
            for piece in work {
                switch piece {
                case .fetch(let id, _): flights.append(id)
                case .answer(let record, .retry): feed(.acknowledged([RecordPlace(record)]), at: now)
                case .render(_, let task): rendered += task.batch?.orders.map(\.spec) ?? []
                default: break
                }
            }
        }

        mutating func grant(at now: Moment = 0) {
            for (kind, flight) in permits.grants(at: now) { feed(.granted(kind, flight), at: now) }
        }

        mutating func publish(_ number: Int, _ url: SourceURL = "http://o/a") {
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: Int64(number), timestamp: 0, key: [], value: [],
                headers: [])
            let source = SourceKey(SHA256.digest(of: withUnsafeBytes(of: number) { Array($0) }))
            let job = Job(
                id: "\(number)", url: url, source: source,
                variants: [VariantSpec(width: 64, height: 64, format: .webp)], lane: .fast)
            feed(.arrived(PendingJob(job: job, record: record)))
        }
    }

    @Test("Jobs count for the host that each asks, in all spellings of it, and however many hosts there are")
    func hosts() {
        var flood = Flood()
        for round in 0..<4 {
            for host in 0..<200 {
                let name = round % 2 == 0 ? "h\(host).example" : "H\(host).EXAMPLE:80"
                let end = ["/a", "?a", "#a", ""][round]
                flood.publish(round * 200 + host, SourceURL("http://\(name)\(end)"))
            }
        }
        #expect(flood.state.held.count == 200 && flood.state.held.values.allSatisfy { $0 == 4 })
    }

    /// The first two of 40,000 jobs are fetched.
    private func flooded() -> Flood {
        var flood = Flood()
        for number in 0..<40_000 {
            flood.publish(number)
            if number == 1 { flood.grant() }
            if number % 1_000 == 999 { flood.feed(.tick) }
        }
        return flood
    }

    @Test("Jobs of it that wait for their turn do not hold back the committable offset behind which others are read")
    func passesOn() {
        var flood = flooded()
        // Those under way hold it still; many others have waited for a turn, and wait elsewhere by now.
        let (held, span) = (flood.state.committable(.jobsFast), flood.state.reading(.jobsFast).span)
        let inMemory = flood.state.held.values.reduce(0, +)
        #expect(held == 0 && span == 40_000 && inMemory <= 64)
        let note = FailureNote(code: "x", message: "", verdict: .deadLetter)
        for id in flood.flights { flood.feed(.failed(id, note)) }
        flood.feed(.acknowledged((0..<2).map { RecordPlace(.jobsFast, $0) }))
        let (next, left) = (flood.state.committable(.jobsFast), flood.state.reading(.jobsFast).span)
        #expect(next ?? 0 > 16_000 && left < TopicProgress.finishedLimit)
    }

    @Test("Nor do those under way for long, and what these make is stored all the same")
    func movesAside() {
        var flood = flooded()
        for _ in 0..<3 { flood.feed(.tick, at: 500) }
        let held = flood.state.committable(.jobsFast)
        #expect(held == 0)
        for _ in 0..<3 { flood.feed(.tick, at: 501) }
        let next = flood.state.committable(.jobsFast)
        #expect(next ?? 0 > 16_000)
        flood.feed(.fetched(flood.flights[0], FetchedPicture([1])), at: 5_000)
        flood.grant(at: 5_000)
        #expect(flood.rendered == [VariantSpec(width: 64, height: 64, format: .webp)])
    }
}
