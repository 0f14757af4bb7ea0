import Canonical
import Digest
import Failures
import ImageModel
import Partition
import Planning
import Records
import Testing
import VariantSpec

@Suite("A flood of one host in a partition", .timeLimit(.minutes(1)))
struct CrowdTests {
    private struct Flood: ~Copyable {
        var state: PartitionState
        /// In the order taken up.
        var flights: [FlightID] = []

        init() {
            var rules = PartitionRules(reuse: ReuseRules())
            rules.hostShare = 64
            state = PartitionState(PartitionID(0), rules: rules, seed: 1)
        }

        /// What goes to a tier is acknowledged at once.
        mutating func feed(_ event: PartitionEvent) {
            var effects: [PartitionEffect] = []
            state.reduce(event, at: 0, into: &effects)
            for effect in effects {
                switch effect {
                case .lookUp(let pending): feed(.found(pending, SourceSnapshot()))
                case .permit(.request(.fetch, let id, _, _, _)): flights.append(id)
                case .work(.answer(let record, .retry)): feed(.acknowledged([RecordPlace(record)]))
                default: break
                }
            }
        }

        mutating func publish(_ number: Int) {
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: Int64(number), timestamp: 0, key: [], value: [],
                headers: [])
            let source = SourceKey(SHA256.digest(of: withUnsafeBytes(of: number) { Array($0) }))
            let job = Job(
                id: "\(number)", url: "http://o/a", source: source,
                variants: [VariantSpec(width: 64, height: 64, format: .webp)], lane: .fast)
            feed(.arrived(PendingJob(job: job, record: record)))
        }
    }

    @Test("Jobs of it that wait for their turn do not hold back the committable offset behind which others are read")
    func passesOn() {
        var flood = Flood()
        for number in 0..<40_000 {
            flood.publish(number)
            if number == 1 { for id in flood.flights { flood.feed(.granted(.fetch, id)) } }
            if number % 1_000 == 999 { flood.feed(.tick) }
        }
        // Those under way hold it still; many others have waited for a turn, and wait elsewhere by now.
        let (held, span) = (flood.state.committable(.jobsFast), flood.state.reading(.jobsFast).span)
        let inMemory = flood.state.hostJobs.values.reduce(0, +)
        #expect(held == 0 && span == 40_000 && inMemory <= 64)
        let note = FailureNote(code: "x", message: "", verdict: .deadLetter)
        for id in flood.flights.prefix(2) { flood.feed(.failed(id, note)) }
        flood.feed(.acknowledged((0..<2).map { RecordPlace(.jobsFast, $0) }))
        let (next, left) = (flood.state.committable(.jobsFast), flood.state.reading(.jobsFast).span)
        #expect(next ?? 0 > 16_000 && left < TopicProgress.finishedLimit)
    }
}
