import Canonical
import Clocks
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

@Suite("Permits while fast jobs never leave one idle", .timeLimit(.minutes(2)))
struct SaturationTests {
    /// A load: how long fetches and renders take, in milliseconds.
    struct Load: Sendable, CustomTestStringConvertible {
        let name: String
        let fetch: ClosedRange<Int64>
        let render: ClosedRange<Int64>
        var testDescription: String { name }
    }

    static let loads = [
        Load(name: "fetch-bound", fetch: 100...400, render: 2...10),
        Load(name: "render-bound", fetch: 2...10, render: 50...200),
        Load(name: "bound by both", fetch: 100...400, render: 30...100),
    ]

    /// Fast jobs without end and some slow ones, on permits and nothing else; each flight fetches and renders, and each
    /// fourth only renders.
    private struct World {
        static let rules = PermitRules(fetch: 8, render: 2, slow: 1, slowWait: 5_000)
        /// Never fewer fast flights wait.
        static let queued = 20

        struct Entry {
            let lane: Lane
            let since: Moment
            var started: Moment?
            var rendered: Moment?
        }

        let load: Load
        var numbers: Numbers
        var permits = PermitScheduler(rules)
        var now: Moment = 0
        var entries: [FlightID: Entry] = [:]
        var ends: [(at: Moment, kind: PermitKind, flight: FlightID)] = []
        var count = 0
        /// Fast flights that have had no permit.
        var waitingFast = 0
        var isSaturated = false

        mutating func add(_ lane: Lane) {
            count += 1
            let id = FlightID(PartitionID(Int32(count % 3)), count)
            entries[id] = Entry(lane: lane, since: now)
            if lane == .fast { waitingFast += 1 }
            permits.request(count % 4 == 0 ? .render : .fetch, id, lane: lane, since: now.wall, host: host(of: id))
        }

        /// Whether a fast flight waits that has had no permit, and not for its host alone.
        private var isFastWaiting: Bool {
            entries.contains { id, entry in
                entry.lane == .fast && entry.started == nil
                    && (id.number % 4 == 0 || permits.hasRoom(host(of: id), isSlow: false))
            }
        }

        /// Half of the flights are of one host, which has too many: its share alone would do for all of them.
        private func host(of id: FlightID) -> OriginHost {
            OriginHost(of: "http://\(id.number % 2 == 0 ? 0 : id.number % 5).example/")
        }

        /// To the next end of a fetch or a render.
        mutating func step() {
            while isSaturated, waitingFast < Self.queued { add(.fast) }
            for (kind, id) in permits.grants(at: now) {
                if entries[id]?.started == nil {
                    entries[id]?.started = now
                    if entries[id]?.lane == .fast { waitingFast -= 1 }
                    if let entry = entries[id], entry.lane == .slow, isFastWaiting {
                        #expect(now - entry.since >= Self.rules.slowWait, "it began before a fast one, and is not aged")
                    }
                }
                if kind == .render { entries[id]?.rendered = now }
                let time = Int64.random(in: kind == .fetch ? load.fetch : load.render, using: &numbers)
                ends.append((now + .milliseconds(time), kind, id))
                #expect(ends.count { $0.kind == .render && entries[$0.flight]?.lane == .slow } <= Self.rules.slow)
            }
            guard let next = ends.indices.min(by: { ends[$0].at.wall < ends[$1].at.wall }) else {
                now += 1
                return
            }
            let (at, kind, id) = ends.remove(at: next)
            if at.wall > now.wall { now = at }
            permits.release(kind, id)
            if kind == .fetch {
                permits.request(
                    .render, id, lane: entries[id]?.lane ?? .fast, since: entries[id]?.since.wall ?? now.wall,
                    host: host(of: id))
            } else {
                permits.forget(id)
            }
        }
    }

    @Test(
        "Each slow flight that has waited long enough is fetched and rendered within a bound, one after the other",
        arguments: loads, 0..<15 as Range<UInt64>)
    func bound(load: Load, seed: UInt64) throws {
        var world = World(load: load, numbers: Numbers(state: seed))
        // Some are between their fetch and their render when the fast ones come, some wait, some come later.
        let early = Int.random(in: 0...12, using: &world.numbers)
        for _ in 0..<early { world.add(.slow) }
        for _ in 0..<Int.random(in: 0...6, using: &world.numbers) where early > 0 { world.step() }
        world.isSaturated = true
        for _ in 0..<10 {
            for _ in 0..<20 { world.step() }
            world.add(.slow)
        }
        while world.now.wall < 60_000 { world.step() }
        let slow = world.entries.filter { $0.value.lane == .slow }.sorted {
            ($0.value.since.wall, $0.key) < ($1.value.since.wall, $1.key)
        }
        // A permit for age is waited for as long as a fetch and a render take at most, and those before it take as long.
        let each = Duration.milliseconds(2 * (load.fetch.upperBound + load.render.upperBound))
        for (place, entry) in slow.map(\.value).enumerated() {
            let bound = entry.since + World.rules.slowWait + each * (place + 1)
            let rendered = try #require(
                entry.rendered, "\(load.name), seed \(seed): slow flight \(place) was never rendered")
            #expect(rendered.wall <= bound.wall, "\(load.name), seed \(seed): slow flight \(place)")
        }
        // The fast ones have all but what one slow flight at a time takes.
        let fast = world.entries.values.count { $0.lane == .fast && $0.rendered != nil }
        #expect(fast > 4 * slow.count)
    }
}
