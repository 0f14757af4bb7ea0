import Canonical
import Clocks
import Digest
import Failures
import Hosts
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Planning
import Ports
import Positions
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Each lane of a host has a share of the memory to itself", .timeLimit(.minutes(1)))
struct LaneRoomTests {
    private static let share = 64
    private static let host = OriginHost(of: "http://o.example/")

    /// One partition and the permits of its worker; no fetch ends by itself.
    private struct World: ~Copyable {
        var core: Performer
        /// Jobs that went to tiers: their lanes and records there.
        var passed: [(lane: Lane, record: Record)] = []

        init(slowFetches: Int = .max) {
            let origins = OriginRules(concurrency: 12)
            var rules = PartitionRules(reuse: ReuseRules())
            (rules.hostShare, rules.origins) = (LaneRoomTests.share, origins)
            var permitRules = PermitRules(render: 2, origins: origins)
            permitRules.slowFetches = slowFetches
            core = Performer(rules, permitRules)
        }

        /// Requests in the order in which they began.
        var numbers: [Int] { core.fetches.map { LaneRoomTests.number(of: $0.request) } }

        private mutating func pass() {
            for (record, disposition) in exchange(&core.answers, with: []) {
                guard case .retry(let pending, let tier, let cause) = disposition else { continue }
                let note = RetryNote(
                    job: pending.job.id, lane: pending.job.lane, attempt: 0, notBefore: 0,
                    firstSeen: pending.firstSeen, cause: cause, origin: record.jobOrigin)
                let new = note.newRecord(topic: tier.topic, key: [], body: [], partition: PartitionID(0), at: 0)
                passed.append((pending.job.lane, core.record(tier.topic, headers: new.headers)))
            }
        }

        /// Publishes a job of the host for the source of this number.
        mutating func publish(_ number: Int, _ lane: Lane) {
            let url = "http://o.example/\(number)"
            core.publish(
                Job(
                    id: "\(number)", url: SourceURL(url), source: SourceKey(SHA256.digest(of: Array(url.utf8))),
                    variants: [PartitionStateTests.small], lane: lane))
            pass()
        }

        func jobs(_ lane: Lane) -> Int { core.state.held[HostLane(LaneRoomTests.host, lane)] ?? 0 }

        /// Ends the request at this place. Returns its number.
        @discardableResult
        mutating func end(at place: Int) -> Int {
            let (flight, request) = core.fetches.remove(at: place)
            let note = FailureNote(code: "fetch.not-found", message: "no", verdict: .fail)
            core.feed(.unfetched(flight, Unfetched(note, .answered(bytes: 0))))
            return LaneRoomTests.number(of: request)
        }
    }

    private static func number(of request: FetchRequest) -> Int {
        Int(request.url.fetched.split(separator: "/").last ?? "") ?? -1
    }

    @Test(
        "Jobs of one lane take no room from the other lane of their host, and jobs beyond their share go to a tier",
        arguments: [
            (slow: 0, fast: 65, passedSlow: 0, passedFast: 1), (slow: 64, fast: 64, passedSlow: 0, passedFast: 0),
            (slow: 65, fast: 1, passedSlow: 1, passedFast: 0),
            (slow: 2_000, fast: 64, passedSlow: 1_936, passedFast: 0),
            (slow: 2_000, fast: 70, passedSlow: 1_936, passedFast: 6),
        ])
    func room(slow: Int, fast: Int, passedSlow: Int, passedFast: Int) {
        var world = World()
        for number in 0..<slow { world.publish(number, .slow) }
        for number in 0..<fast { world.publish(slow + number, .fast) }
        let passed = (world.passed.count { $0.lane == .slow }, world.passed.count { $0.lane == .fast })
        #expect(passed == (passedSlow, passedFast))
        let held = (world.jobs(.slow), world.jobs(.fast))
        #expect(held == (slow - passedSlow, fast - passedFast))
        // Each fast one is asked for before each slow one, though these came first.
        for _ in 0..<fast - passedFast {
            world.core.grant()
            guard !world.numbers.isEmpty else { break }
            let number = world.end(at: 0)
            #expect(number >= slow)
        }
        let left = world.jobs(.fast)
        #expect(left == 0)
    }

    @Test(
        "A slow job that is published again as a fast one begins at once, whether its copy is being fetched, in the queue or in a tier",
        arguments: [0, 40, 150])
    func promoted(number: Int) {
        var world = World()
        for number in 0..<200 { world.publish(number, .slow) }
        world.core.grant()
        let asked = world.numbers
        #expect(asked == [0])
        let (passed, slow) = (world.passed.count, world.jobs(.slow))
        world.publish(number, .fast)
        world.publish(1_000, .fast)
        world.core.grant()
        // By the request that runs, which makes room for another slow one, or by the next: it came before the other fast job.
        let next = Array(world.numbers.dropFirst())
        #expect(next == (number == 0 ? [1_000, 1] : [number, 1_000]) && world.passed.count == passed)
        // A copy that is in memory is in the fast lane's share now, as its flight is.
        let isJoined = number < 64
        let held = (world.jobs(.slow), world.jobs(.fast))
        #expect(held == (isJoined ? slow - 1 : slow, isJoined ? 3 : 2))
        while !world.numbers.isEmpty { world.end(at: 0) }
        let left = world.core.state.held.values.reduce(0, +)
        #expect(left == (isJoined ? 62 : 63))
    }

    @Test(
        "Slow jobs of a host begin in the order in which they were published, beside fast ones and however many at once",
        arguments: [1, 2, .max])
    func order(slowFetches: Int) throws {
        var world = World(slowFetches: slowFetches)
        var random = SplitMix64(state: 1)
        for number in 0..<60 { world.publish(number, .slow) }
        for number in 0..<20 { world.publish(100 + number, .fast) }
        var (begun, most): ([Int], Int) = ([], 0)
        while begun.count < 80 {
            let before = world.numbers.count
            world.core.grant()
            begun += world.numbers[before...]
            most = max(most, world.numbers.count { $0 < 100 })
            let ended = try #require(world.numbers.indices.randomElement(using: &random))
            world.end(at: ended)
        }
        #expect(begun.filter { $0 < 100 } == Array(0..<60) && begun.filter { $0 >= 100 } == Array(100..<120))
        // A third of what the host bears.
        #expect(most == min(slowFetches, 4))
    }

    @Test(
        "Fast jobs that wait in a tier behind slow ones of their host are looked for once their lane has room",
        arguments: [
            (first: Lane.slow, fast: 70, ended: 10, isLookedFor: true),
            (first: .slow, fast: 70, ended: 0, isLookedFor: false),
            (first: .slow, fast: 60, ended: 10, isLookedFor: false),
            (first: .fast, fast: 70, ended: 10, isLookedFor: false),
        ])
    func behind(first: Lane, fast: Int, ended: Int, isLookedFor: Bool) throws {
        var world = World()
        for number in 0..<70 { world.publish(number, .slow) }
        for number in 0..<fast { world.publish(100 + number, .fast) }
        for _ in 0..<ended {
            world.core.grant()
            let place = try #require(world.numbers.firstIndex { $0 >= 100 })
            world.end(at: place)
        }
        var head = DelayHead(.minute)
        let record = try #require(world.passed.first { $0.lane == first }).record
        head.add([record], at: 0)
        let hosts = world.core.state.hostsBehind([head], in: world.core.permits, at: Moment(0)) { record in
            (try? RetryNote(record)).map { HostLane(Self.host, $0.lane) }
        }
        #expect(hosts == (isLookedFor ? [Self.host] : []))
    }

    @Test("From a tier each lane's jobs are taken while that lane has room", arguments: [0, 1, 2])
    func taken(slowRoom: Int) {
        var head = DelayHead(.minute)
        let records = (1...4).map { offset in
            Record(
                topic: .retry1m, partition: PartitionID(0), offset: offset, timestamp: 0, key: [], value: nil,
                headers: [])
        }
        head.add(records, at: 0)
        let found = head.take(9, at: 1_000) { record in
            HostLane(Self.host, record.offset < 3 ? .fast : .slow)
        } room: { share in
            share.lane == .fast ? 9 : slowRoom
        }
        // None of them is due.
        #expect(found.map(\.offset) == Array(1...2 + Int64(slowRoom)))
    }

    @Test(
        "A job whose host has failed for a minute is a slow one in its tier, too",
        arguments: [(59_999, true), (60_000, false)] as [(WallTime, Bool)])
    func failing(time: WallTime, isFast: Bool) {
        let policy = RetryPolicy()
        #expect(policy.lane(.fast, failingSince: 0, at: time) == (isFast ? .fast : .slow))
        #expect(policy.lane(.fast, failingSince: nil, at: time) == .fast)
        #expect(policy.lane(.slow, failingSince: 0, at: time) == .slow)
    }
}
