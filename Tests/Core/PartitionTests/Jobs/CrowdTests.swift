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
    private static func performer() -> Performer {
        var rules = PartitionRules(reuse: ReuseRules())
        rules.hostShare = 64
        return Performer(rules, PermitRules(fetch: 2, render: 1))
    }

    private static func publish(_ number: Int, _ flood: inout Performer, _ url: SourceURL = "http://o/a") {
        flood.publish(
            Job(
                id: "\(number)", url: url, source: .numbered(number),
                variants: [VariantSpec(width: 64, height: 64, format: .webp)], lane: .fast))
    }

    @Test("Jobs count for the host that each asks, in all spellings of it, and however many hosts there are")
    func hosts() {
        var flood = Self.performer()
        for round in 0..<4 {
            for host in 0..<200 {
                let name = round % 2 == 0 ? "h\(host).example" : "H\(host).EXAMPLE:80"
                let end = ["/a", "?a", "#a", ""][round]
                Self.publish(round * 200 + host, &flood, SourceURL("http://\(name)\(end)"))
            }
        }
        #expect(flood.state.held.count == 200 && flood.state.held.values.allSatisfy { $0 == 4 })
    }

    /// The first two of 40,000 jobs are fetched.
    private func flooded() -> Performer {
        var flood = Self.performer()
        for number in 0..<40_000 {
            Self.publish(number, &flood)
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
        for fetch in flood.fetches { flood.feed(.failed(fetch.flight, note)) }
        let (next, left) = (flood.state.committable(.jobsFast), flood.state.reading(.jobsFast).span)
        #expect(next ?? 0 > 16_000 && left < TopicProgress.finishedLimit)
    }

    @Test("Nor do those under way for long, and what these make is stored all the same")
    func movesAside() {
        var flood = flooded()
        flood.now = 500
        for _ in 0..<3 { flood.feed(.tick) }
        let held = flood.state.committable(.jobsFast)
        #expect(held == 0)
        flood.now = 501
        for _ in 0..<3 { flood.feed(.tick) }
        let next = flood.state.committable(.jobsFast)
        #expect(next ?? 0 > 16_000)
        flood.now = 5_000
        flood.feed(.fetched(flood.fetches[0].flight, FetchedPicture([1])))
        flood.grant()
        let rendered = flood.renders.flatMap { $0.task.batch?.orders.map(\.spec) ?? [] }
        #expect(rendered == [VariantSpec(width: 64, height: 64, format: .webp)])
    }
}
