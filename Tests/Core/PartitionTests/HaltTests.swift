import Canonical
import Clocks
import Digest
import Failures
import ImageModel
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

/// A partition and its scheduler together, while this machine's store or the partition's log takes nothing.
struct HaltTests {
    enum Fault: String, CaseIterable { case store, log }

    private struct World: ~Copyable {
        var state = PartitionState(
            PartitionID(0),
            rules: PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 4, base: 10, cap: 100)), seed: 7)
        var permits = PermitScheduler(PermitRules(fetch: 3, render: 2))
        var isHalted = true
        let fault: Fault
        var fetches = 0
        var ended: [String] = []
        var now: Moment = 1_000
        /// Jobs on their way through a retry topic.
        private var later: [(due: WallTime, pending: PendingJob)] = []
        private var offset: Int64 = 0

        init(_ fault: Fault) { self.fault = fault }

        mutating func add(_ pending: PendingJob, as topic: Topic) {
            offset += 1
            let record = Record(
                topic: topic, partition: PartitionID(0), offset: offset, timestamp: now.wall, key: [], value: [],
                headers: [])
            feed(
                .arrived(
                    PendingJob(
                        job: pending.job, record: record, attempts: pending.attempts, firstSeen: pending.firstSeen,
                        notBefore: pending.notBefore, heldSince: pending.heldSince)))
        }

        mutating func step() {
            now += .milliseconds(50)
            let due = later.filter { $0.due <= now.wall }
            later.removeAll { $0.due <= now.wall }
            for (_, pending) in due { add(pending, as: .retry10s) }
            feed(.tick)
            for (kind, flight) in permits.grants(at: now) { feed(.granted(kind, flight)) }
        }

        mutating func feed(_ event: PartitionEvent) {
            var work: [Effect] = []
            state.run(event, at: now, permits: &permits, into: &work) { _ in SourceSnapshot() }
            for piece in work { perform(piece) }
        }

        private mutating func perform(_ piece: Effect) {
            switch piece {
            case .fetch(let id, let request):
                fetches += 1
                feed(.fetched(id, FetchedPicture(Array(request.url.fetched.utf8))))
            case .render(let id, let task):
                feed(.rendered(id))
                if isHalted, fault == .store {
                    return feed(.failed(id, FailureNote(code: "store.full", message: "full", verdict: .wait)))
                }
                permits.announce(id)
                if isHalted {
                    return feed(.unannounced(id, FailureNote(code: "log.unavailable", message: "away", verdict: .wait)))
                }
                feed(.announced(id, original: nil, rows: task.rows(at: now.wall), position: 1))
                feed(.folded(1))
            case .answer(let record, let disposition):
                if let outcome = disposition.outcome { ended.append(outcome.job) }
                if case .retry(let pending, let tier, _) = disposition {
                    later.append((max(pending.notBefore, now.wall + tier.wait), pending))
                }
                feed(.acknowledged([RecordPlace(record)]))
            default: break
            }
        }
    }

    @Test("While the store is full or the log is away, only a probe now and then is fetched, and all end once it is over", arguments: Fault.allCases)
    func halted(by fault: Fault) {
        var world = World(fault)
        for number in 0..<60 {
            let job = Job(
                id: "job \(number)", url: SourceURL("http://origin/\(number % 3)"),
                source: .numbered(number % 3), variants: [VariantSpec(width: 640, height: 640, format: .webp)],
                lane: .fast)
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: world.now.wall, key: [], value: [],
                headers: [])
            world.add(PendingJob(job: job, record: record), as: .jobsFast)
        }
        while world.now.wall < 40_000 { world.step() }
        // Three may be under way at the first failure; then it is one in two seconds.
        #expect((10...3 + 20).contains(world.fetches) && world.ended.isEmpty, "\(world.fetches) fetches")
        world.isHalted = false
        while world.ended.count < 60, world.now.wall < 400_000 { world.step() }
        #expect(Set(world.ended).count == 60 && world.ended.count == 60)
    }
}
