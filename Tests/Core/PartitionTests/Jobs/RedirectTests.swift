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

@Suite("Redirects: each host that is asked gives its leave", .timeLimit(.minutes(1)))
struct RedirectTests {
    /// One partition and the permits of its worker.
    private struct World: ~Copyable {
        static let front = OriginHost(of: "http://front.example/")
        static let target = OriginHost(of: "http://target.example/")

        var core: Performer
        private var count: Int64 = 0

        init(groups: [OriginGroup] = [], ceiling: Int = 2, hostShare: Int = 64) {
            var origins = OriginRules(concurrency: ceiling, failures: 1, backoff: 1_000)
            origins.groups = groups
            var rules = PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 3))
            (rules.origins, rules.hostShare) = (origins, hostShare)
            core = Performer(rules, PermitRules(fetch: 8, render: 2, origins: origins))
        }

        /// What was asked for and not answered: whom, and from which flight.
        var requests: [(flight: FlightID, request: FetchRequest)] {
            get { core.fetches }
            set { core.fetches = newValue }
        }
        var parked: [ParkedDouble] { core.parked }
        var outcomes: [Outcome] { core.answers.compactMap(\.disposition.outcome) }

        /// A job whose URL's host is the front, or another.
        mutating func publish(_ host: String = "front", awaited: OriginHost? = nil) {
            let record = core.record(awaited == nil ? .jobsFast : .parked)
            let url = SourceURL("http://\(host).example/\(count)")
            let job = Job(
                id: "\(count)", url: url, source: SourceKey(SHA256.digest(of: Array(url.fetched.utf8))),
                variants: [PartitionStateTests.small], lane: .fast)
            count += 1
            core.feed(.arrived(PendingJob(job: job, record: record, awaited: awaited)))
            core.grant()
        }

        /// The oldest request is answered with a redirect.
        mutating func redirect(to host: String = "target") {
            let (flight, request) = requests.removeFirst()
            let url = "http://\(host).example/there"
            let hop = (request.redirect?.hop ?? 0) + 1
            core.feed(.redirected(flight, Redirect(to: url, at: OriginHost(of: url), hop: hop, spent: .seconds(1))))
            core.grant()
        }

        /// The oldest request is answered with a status.
        mutating func fail(_ status: Int = 500) {
            let (flight, request) = requests.removeFirst()
            core.feed(.unfetched(flight, Unfetched(FetchFailure.status(url: request.url, status))))
            core.grant()
        }

        func inUse(_ host: OriginHost) -> Int { core.permits.origins[host]?.inUse.all ?? 0 }
        func isOpen(_ host: OriginHost) -> Bool { core.permits.origins[host].map { $0.phase == .open } ?? true }
        var asked: [String] { requests.map { $0.request.redirect?.url ?? $0.request.url.fetched } }
    }

    @Test("A redirect to a URL of its own host, or its host's group, stays within its permit")
    func sameHost() throws {
        let group = try OriginGroup(name: "shop", hosts: ["front.example", "*.front.example"])
        for (groups, next) in [([], "front"), ([group], "img.front")] {
            var world = World(groups: groups)
            world.publish()
            world.redirect(to: next)
            let asked = world.asked
            #expect(asked == ["http://\(next).example/there"])
            let (running, hosts) = (world.core.permits.running(.fetch), world.core.permits.origins.count)
            #expect(running == 1 && hosts == 1)
        }
    }

    @Test("One that leads to another host gives its permit back, and goes on by that host's, with what it has used up")
    func otherHost() {
        var world = World()
        world.publish()
        world.redirect()
        let request = world.requests.first?.request
        #expect(request?.redirect?.url == "http://target.example/there" && request?.redirect?.spent == .seconds(1))
        #expect(request?.url.fetched == "http://front.example/0")
        let (front, target) = (world.inUse(World.front), world.inUse(World.target))
        #expect(front == 0 && target == 1)
        world.redirect(to: "front")
        let again = (world.inUse(World.front), world.inUse(World.target), world.requests.first?.request.redirect?.hop)
        #expect(again == (1, 0, 2))
    }

    @Test(
        "Many hosts that lead to one do not ask it beyond its ceiling; who was led there first goes before its own jobs"
    )
    func ceiling() {
        var world = World()
        for number in 0..<6 {
            world.publish("front\(number)")
            world.core.now += 1
        }
        for _ in 0..<6 {
            world.redirect()
            world.core.now += 1
        }
        var asked = world.asked
        #expect(asked == ["http://target.example/there", "http://target.example/there"])
        world.publish("target")
        for left in (0..<4).reversed() {
            world.fail(404)
            let waiting = world.core.permits.waiting(.fetch, on: .fast)
            #expect(waiting == left + 1 && world.inUse(World.target) == 2)
        }
        asked = world.asked
        world.fail(404)
        let last = world.asked.last
        #expect(!asked.contains("http://target.example/6") && last == "http://target.example/6")
    }

    @Test(
        "Where the target may not be asked, the job is parked for it, without an attempt, and asks nobody there")
    func blocked() throws {
        var world = World()
        world.core.permits.set(World.target, blockedFor: 60_000, because: "test", at: Moment(0))
        world.publish()
        world.redirect()
        let asked = world.asked
        #expect(asked.isEmpty)
        let parked = try #require(world.parked.first)
        #expect(parked.pending.awaited == World.target && parked.pending.attempts == 0)
        #expect(parked.parking == Parking(World.target, worksAs: .fast, ends: 86_400_000))
        #expect(parked.cause.code == RetryCause.Code.hostBlocked.rawValue)
        let (isFrontOpen, isIdle, hasFlights) = (
            world.isOpen(World.front), world.core.permits.isIdle, world.core.state.hasFlights
        )
        #expect(isFrontOpen && isIdle && !hasFlights && world.core.state.held.isEmpty)
        // Once it starts, it is in the target's share of the memory from the beginning.
        world.core.feed(.arrived(parked.started()))
        #expect(world.core.state.held == [HostLane(World.target, .fast): 1])
    }

    @Test("A job that has waited for a target does not ask its own host again while that is left alone")
    func unasked() {
        var world = World()
        world.core.permits.set(World.target, blockedFor: 60_000, because: "test", at: Moment(0))
        world.core.now = 30_000
        world.publish(awaited: World.target)
        let (asked, parked) = (world.asked, world.parked.map(\.pending))
        #expect(asked.isEmpty && parked.map(\.awaited) == [World.target] && parked.map(\.attempts) == [0])
        // It goes there as soon as one may, to see whether it answers, and others wait until then.
        world.core.now = 60_000
        world.publish(awaited: World.target)
        world.redirect()
        world.publish(awaited: World.target)
        let (probe, count) = (world.asked, world.parked.count)
        #expect(probe == ["http://target.example/there"] && count == 2)
    }

    @Test("What waits for its own host is parked when the target is left alone")
    func blockedBehind() {
        var world = World(ceiling: 1)
        for _ in 0..<2 { world.publish(awaited: World.target) }
        let (asked, parked) = (world.asked.count, world.parked.count)
        #expect(asked == 1 && parked == 0)
        world.core.permits.set(World.target, blockedFor: 60_000, because: "test", at: Moment(0))
        world.core.grant()
        #expect(world.parked.map(\.pending.awaited) == [World.target])
    }

    @Test("One that is blocked while flights wait for it gives them back, too")
    func blockedMeanwhile() {
        var world = World(ceiling: 1)
        for number in 0..<3 { world.publish("front\(number)") }
        for _ in 0..<3 { world.redirect() }
        world.fail()
        // Its own failure costs the first an attempt.
        let rows = world.parked.map { ($0.pending.attempts, $0.pending.awaited == World.target) }.sorted { $0.0 < $1.0 }
        #expect(rows.map(\.0) == [0, 0, 1] && rows.map(\.1) == [true, true, false])
        let (target, fronts) = (
            world.isOpen(World.target), (0..<3).map { world.isOpen(OriginHost(of: "http://front\($0).example/")) }
        )
        #expect(!target && fronts == [true, true, true])
        #expect(world.requests.isEmpty && world.core.permits.isIdle)
    }

    @Test("What has waited behind a target that nobody asks again is not kept")
    func notAskedAgain() {
        var permits = PermitScheduler(PermitRules(fetch: 8, render: 2, origins: OriginRules(concurrency: 2)))
        permits.set(World.target, blockedFor: 10, because: "test", at: Moment(0))
        for number in 0..<10_000 {
            let flight = FlightID(PartitionID(0), number)
            permits.request(.fetch, flight, lane: .fast, since: 0, host: World.front, behind: World.target)
            #expect(
                permits.grants(at: Moment(20)).map(\.flight) == [flight] && permits.takeHeld(at: Moment(20)).isEmpty)
            if number % 4 > 0 { permits.forget(flight) } else { permits.release(.fetch, flight) }
            if number % 100 == 0 { for entry in permits.entries.keys { permits.forget(entry) } }
        }
        #expect(permits.closed[World.target]?.count ?? 0 <= 100)
    }

    @Test("A target whose jobs fill their share of the memory takes no more")
    func crowded() {
        var world = World(hostShare: 3)
        for number in 0..<5 { world.publish("front\(number)") }
        for _ in 0..<5 { world.redirect() }
        let parked = world.parked.map(\.cause.code)
        #expect(parked == [String](repeating: RetryCause.Code.hostCrowded.rawValue, count: 2))
        #expect(
            world.core.state.held == [HostLane(World.target, .fast): 3]
                && world.parked.allSatisfy { $0.pending.awaited == World.target })
        // One that waited for it asks its own host only once there is room.
        world.publish("front9", awaited: World.target)
        let (count, isAsked) = (world.parked.count, world.asked.contains("http://front9.example/5"))
        #expect(count == 3 && !isAsked)
    }

    @Test(
        "What waits for a target when its partition leaves, or its worker stops, is the next owner's",
        arguments: [true, false])
    func ends(isLeaving: Bool) {
        var world = World(ceiling: 1)
        for number in 0..<4 { world.publish("front\(number)") }
        for _ in 0..<2 { world.redirect() }
        // One is fetched there, one waits for that, and two are asked for at their own hosts.
        if isLeaving { world.core.feed(.leaving) } else { world.core.permits.drain() }
        let (there, others) = (world.requests.removeLast(), world.requests)
        #expect(there.request.redirect != nil && others.count == 2)
        for _ in others { world.redirect() }
        world.requests.append(there)
        world.fail(404)
        let isIdle = world.core.permits.isIdle
        #expect(isIdle && world.requests.isEmpty && world.parked.isEmpty && world.outcomes.count == 1)
        let isUnderWay = world.core.state.isUnderWay
        #expect(!isLeaving || !isUnderWay)
    }
}
