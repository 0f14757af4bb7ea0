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
        var core = Performer(
            PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 4, base: 10, cap: 100)),
            PermitRules(fetch: 3, render: 2))
        var isHalted = true
        let fault: Fault
        var fetches = 0
        var ended: [String] = []
        private var parked: [ParkedDouble] = []
        private var starts: Int64 = 0

        init(_ fault: Fault) {
            self.fault = fault
            core.now = 1_000
        }

        mutating func step() {
            core.now += .milliseconds(50)
            let now = core.now.wall
            let due = parked.filter { $0.pending.notBefore <= now }
            parked.removeAll { $0.pending.notBefore <= now }
            for row in due {
                starts += 1
                core.feed(.arrived(row.started(offset: starts)))
            }
            core.feed(.tick)
            core.grant()
            work()
        }

        private mutating func work() {
            while !core.fetches.isEmpty || !core.renders.isEmpty {
                for (id, request) in exchange(&core.fetches, with: []) {
                    fetches += 1
                    core.feed(.fetched(id, FetchedPicture(Array(request.url.fetched.utf8))))
                }
                for (id, task) in exchange(&core.renders, with: []) { end(id, task) }
            }
            for (_, disposition) in exchange(&core.answers, with: []) {
                if let outcome = disposition.outcome { ended.append(outcome.job) }
                if let row = disposition.parked { parked.append(row) }
            }
        }

        private mutating func end(_ id: FlightID, _ task: RenderTask) {
            core.feed(.rendered(id))
            if isHalted, fault == .store {
                return core.feed(.failed(id, FailureNote(code: "store.full", message: "full", verdict: .wait)))
            }
            core.permits.announce(id)
            if isHalted {
                let note = FailureNote(code: "log.unavailable", message: "away", verdict: .wait)
                return core.feed(.unannounced(id, note))
            }
            core.feed(.announced(id, original: nil, rows: task.rows(at: core.now.wall), position: 1))
            core.feed(.folded(1))
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
            world.core.publish(job)
        }
        while world.core.now.wall < 40_000 { world.step() }
        // Three may be under way at the first failure; then it is one in two seconds.
        #expect((10...3 + 20).contains(world.fetches) && world.ended.isEmpty, "\(world.fetches) fetches")
        world.isHalted = false
        while world.ended.count < 60, world.core.now.wall < 400_000 { world.step() }
        #expect(Set(world.ended).count == 60 && world.ended.count == 60)
    }
}
