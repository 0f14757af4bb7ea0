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
        /// Rows of jobs that found no room.
        var passed: [ParkedDouble] = []

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
            passed += exchange(&core.answers, with: []).compactMap(\.disposition.parked)
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

        mutating func start(_ row: ParkedDouble) {
            core.feed(.arrived(row.started()))
            pass()
        }

        func jobs(_ lane: Lane) -> Int { core.state.held[HostLane(LaneRoomTests.host, lane)] ?? 0 }

        /// Ends the request at this place. Returns its number.
        @discardableResult
        mutating func end(at place: Int) -> Int {
            let (flight, request) = core.fetches.remove(at: place)
            let note = FailureNote(code: "fetch.not-found", message: "no", verdict: .fail)
            core.feed(.unfetched(flight, Unfetched(note, .responded(bytes: 0))))
            return LaneRoomTests.number(of: request)
        }
    }

    private static func number(of request: FetchRequest) -> Int {
        Int(request.url.fetched.split(separator: "/").last ?? "") ?? -1
    }

    @Test(
        "Jobs of one lane take no room from the other lane of their host, and jobs beyond their share are parked",
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
        let passed = (world.passed.count { $0.share.lane == .slow }, world.passed.count { $0.share.lane == .fast })
        #expect(passed == (passedSlow, passedFast))
        #expect(
            world.passed.allSatisfy {
                $0.cause.code == "retry.host-crowded" && $0.pending.attempts == 0
                    && $0.parking == Parking(Self.host, worksAs: $0.pending.job.lane, ends: nil) && $0.pending.notBefore == .epoch
            })
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
        "A slow job that is published again as a fast one begins at once, whether its copy is being fetched, in the queue or parked",
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
        "A job behind parked jobs of its host and lane is parked although there is room; another lane, host or row is not",
        arguments: [
            (parked: [HostLane(host, .slow)], lane: Lane.slow, isRow: false, isParked: true),
            (parked: [HostLane(host, .slow)], lane: .fast, isRow: false, isParked: false),
            (parked: [HostLane(OriginHost(of: "http://other.example/"), .slow)], lane: .slow, isRow: false, isParked: false),
            (parked: [HostLane(host, .slow)], lane: .slow, isRow: true, isParked: false),
            (parked: [], lane: .slow, isRow: false, isParked: false),
        ])
    func behind(parked: [HostLane], lane: Lane, isRow: Bool, isParked: Bool) throws {
        var world = World()
        if isRow {
            // What its row is made of: a job that found no room.
            for number in 0...Self.share { world.publish(number, lane) }
            for _ in 0..<2 {
                world.core.grant()
                world.end(at: 0)
            }
        }
        let before = (rows: world.passed.count, jobs: world.jobs(lane))
        world.core.state.note(parked: Set(parked))
        if isRow { world.start(try #require(world.passed.last)) } else { world.publish(1_000, lane) }
        let after = (rows: world.passed.count, jobs: world.jobs(lane))
        #expect(after.rows - before.rows == (isParked ? 1 : 0) && after.jobs - before.jobs == (isParked ? 0 : 1))
        guard isParked, let row = world.passed.last else { return }
        #expect(row.cause.code == "retry.host-crowded" && row.pending.notBefore == .epoch && row.pending.attempts == 0)
        // Once none of them waits, arrivals run again.
        world.core.state.note(parked: [])
        world.publish(1_001, lane)
        #expect(world.passed.count == after.rows)
    }

    @Test("A started job whose time is over, and whose host has no room, does not start again at once")
    func overdue() throws {
        var world = World()
        for number in 0...Self.share { world.publish(number, .slow) }
        let own = try #require(world.passed.first).pending
        let now = Moment(WallTime.epoch + .days(2))
        world.core.now = now
        let late = PendingJob(job: own.job, record: own.record, attempts: 1, firstSeen: 0, failingSince: 0)
        let parking = Parking(Self.host, worksAs: .slow, ends: now.wall)
        world.start(ParkedDouble(pending: late, parking: parking, cause: FailureNote(RetryCause.deferred)))
        let row = try #require(world.passed.last)
        #expect(row.pending.attempts == 1 && row.parking.ends.map { $0 > now.wall } ?? true)
    }

    @Test(
        "A job whose host has failed for a minute works as a slow one",
        arguments: [(59_999, true), (60_000, false)] as [(WallTime, Bool)])
    func failing(time: WallTime, isFast: Bool) {
        let policy = RetryPolicy()
        #expect(policy.lane(.fast, failingSince: 0, at: time) == (isFast ? .fast : .slow))
        #expect(policy.lane(.fast, failingSince: nil, at: time) == .fast)
        #expect(policy.lane(.slow, failingSince: 0, at: time) == .slow)
    }
}
