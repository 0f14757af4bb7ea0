import Canonical
import Clocks
import Digest
import Failures
import ImageModel
@testable import Jobs
import Permits
import Planning
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@testable import Partition

@Suite("Outages of hosts, in virtual time", .timeLimit(.minutes(2)))
struct OutageTests {
    @Test(
        "A host that is away for a while: nothing is dead, probes alone ask it, all is done at its limit afterwards, without a herd",
        arguments: [1, 30, 120])
    func outage(minutes: Int) {
        var world = World()
        world.isAway = true
        let count = 2_000
        for number in 0..<count { world.publish(world.dead, number % 2 == 0 ? .fast : .slow) }
        let (begin, outage) = (world.now, .minutes(minutes) as Duration)
        world.run(until: begin + outage)
        // Five in a row, what was under way beside them, and probes after 30 s, 60 s and so on up to ten minutes.
        var (probes, wait, at) = (0, 30_000 as Duration, 0 as Duration)
        while at + wait <= outage {
            at += wait
            wait = min(wait + 30_000, 600_000)
            probes += 1
        }
        // A probe by a job that was tried before makes the wait no longer.
        #expect(world.requests.count <= 7 + probes * 3 / 2 && world.requests.count >= 5)
        #expect(world.done == 0 && world.dead_ == 0)
        #expect(world.most.memory <= 2 * World.readAhead)
        // One row when it came, and one for each attempt or start; all others wait where they are.
        #expect(world.rows.values.max() ?? 0 <= 2 + probes * 3 / 2 && world.rows.values.count { $0 > 2 } <= 7 + probes * 3 / 2)

        world.isAway = false
        world.requests = []
        let back = world.now
        world.run(until: back + max(outage, .hours(1)) * 2) { $0.done == count }
        #expect(world.done == count && world.dead_ == 0 && world.requests.count == count)
        let first = (world.requests.first ?? .distantFuture) - back.wall
        #expect(first <= 610_000)
        #expect(world.most.fetches <= 6)
        // Two of six slow ones at once, a tenth of a second and a tick each; fast ones use what is left.
        #expect((world.requests.last ?? .distantFuture) - back.wall - first <= .milliseconds(count * 150 / 2))
        let early = world.requests.filter { $0 - back.wall - first < 1_000 }.count
        #expect(early <= 6 * 1_000 / 150)
    }

    @Test(
        "A few URLs of a host that fail, and are tried again and again, hold up its other jobs for minutes at most",
        arguments: [(100, 60), (5, 300), (20, 60), (10, 300)].prefix(Effort.count(landing: 2, all: 4)))
    func someBroken(of: Int, seconds: Int) {
        var world = World()
        world.brokenOf = of
        let count = 500
        /// Until all but the broken ones are done.
        func publish() -> Duration {
            let begin = world.now
            for _ in 0..<count { world.publish(world.dead, .fast) }
            world.run(until: begin + .hours(1)) { $0.isAllButBroken }
            return world.now - begin
        }
        var took = [publish()]
        for _ in 0..<2 {
            // Broken ones alone are tried meanwhile.
            world.run(until: world.now + .minutes(200))
            took.append(publish())
        }
        // Some waits of the jobs or of the breaker, and what they take.
        #expect(took.max() ?? .days(1) < .seconds(seconds + 1), "\(took)")
        #expect(world.dead_ == 0)
    }

    @Test("A host that is opened by hand is asked at once, however long its jobs would have waited")
    func unblocked() {
        var world = World()
        world.isAway = true
        for _ in 0..<500 { world.publish(world.dead, .slow) }
        world.run(until: world.now + .minutes(40))
        (world.isAway, world.requests) = (false, [])
        let now = world.now
        world.core.permits.set(OriginHost(of: world.dead), blockedFor: nil, because: "operator", at: now)
        world.run(until: now + .minutes(10)) { $0.done == 500 }
        #expect(world.done == 500 && world.requests.first == now.wall + 50)
    }

    @Test(
        "Jobs of a host that is opened start at once, however many jobs of another host are parked",
        arguments: [0, 1_000, 40_000])
    func unblockedBeside(dead: Int) {
        var world = World()
        let (gone, host) = (OriginHost(of: "http://gone.example/"), OriginHost(of: "http://healthy.example/"))
        for host in [gone, host] {
            world.core.permits.set(host, blockedFor: .hours(3), because: "operator", at: world.now)
        }
        for number in 0..<dead { world.publish("http://gone.example/\(number)", .slow) }
        world.run(until: world.now + 10_000)
        for _ in 0..<3 { world.publish("http://healthy.example/", .slow) }
        world.run(until: world.now + 10_000)
        #expect(world.others.isEmpty && world.parked.count(gone) == dead && world.parked.count(host) == 3)
        let now = world.now
        world.core.permits.set(host, blockedFor: nil, because: "operator", at: now)
        world.run(until: now + 30_000) { $0.done == 3 }
        #expect(world.done == 3 && world.others.first == now.wall + 50)
        // The others are not touched.
        world.run(until: world.now + 60_000)
        #expect(world.others.count == 3 && world.parked.count(gone) == dead && world.rows.values.allSatisfy { $0 == 1 })
    }

    @Test("Jobs of a host that returns start strictly by their age, those that were not tried yet", arguments: Lane.allCases)
    func order(lane: Lane) {
        var world = World()
        world.isAway = true
        for _ in 0..<1_000 {
            world.publish(world.dead, lane)
            world.step()
        }
        let tried = Set(world.asked)
        (world.isAway, world.asked) = (false, [])
        world.core.permits.set(OriginHost(of: world.dead), blockedFor: nil, because: "operator", at: world.now)
        world.run(until: world.now + .hours(1)) { $0.done == 1_000 }
        let numbers = world.asked.filter { !tried.contains($0) }.compactMap { Int($0.dropFirst(world.dead.count)) }
        #expect(world.done == 1_000 && numbers.count == 1_000 - tried.count && numbers == numbers.sorted())
    }

    @Test("A job whose host was left alone until its time was over is told so, not that it waits")
    func givenUp() {
        var world = World()
        let host = OriginHost(of: world.dead)
        world.core.permits.set(host, blockedFor: .days(3), because: "operator", at: world.now)
        for _ in 0..<3 { world.publish(world.dead, .slow) }
        let begin = world.now
        world.run(until: begin + .days(2)) { $0.dead_ == 3 }
        // One row each, until that time.
        #expect(world.dead_ == 3 && world.requests.isEmpty && world.rows.values.allSatisfy { $0 == 1 })
        #expect((.days(1)...(.days(1) + 100)).contains(world.now - begin))
        #expect(
            world.causes == [
                "retry.host-given-up: \(host) was left alone (operator) until the job's time was over (retry.retryFor): the job is tried no more. Publish it again once the host is well, which 'mezzotint origins' says."
            ], "\(world.causes)")
        // As where it was tried once more and failed.
        #expect(world.failures == ["retry.host-given-up"])
    }

    @Test("All jobs of a host that is left alone for longer than retryFor end then, also those that came behind parked ones")
    func abandoned() {
        var world = World()
        world.core.permits.set(OriginHost(of: world.dead), blockedFor: .days(3), because: "operator", at: world.now)
        for _ in 0..<200 {
            world.publish(world.dead, .slow)
            world.step()
        }
        world.run(until: world.now + .days(1) + .minutes(1)) { $0.dead_ == 200 }
        let dead = world.dead_
        #expect(dead == 200)
    }

    @Test("100,000 jobs of a slow host before one of another, in its lane and partition: that begins once all are read")
    func flood() {
        var world = World()
        world.times.slow = 5_000
        for _ in 0..<100_000 { world.publish(world.dead, .fast) }
        world.publish("http://healthy.example/", .fast)
        let begin = world.now
        world.run(until: begin + .hours(1)) { !$0.others.isEmpty }
        // A tick reads no more than there is room for: 192 jobs at least.
        #expect((world.others.first ?? .distantFuture) - begin.wall <= .milliseconds(50 * (100_001 / 192 + 2)))
        #expect(world.most.memory <= 2 * World.readAhead)
    }

    @Test(
        "Fast jobs beside a slow backlog of their own host wait for none of it, at any time of that",
        arguments: [300, 2_000, 6_000])
    func beside(slow: Int) {
        var world = World()
        world.times.slow = 50
        for _ in 0..<slow { world.publish(world.dead, .slow) }
        // Two minutes, in which most slow jobs are parked.
        for _ in 0..<240 {
            world.run(until: world.now + 500)
            world.publish(world.dead, .fast)
        }
        world.run(until: world.now + 1_000)
        #expect(world.took.count == 240 && world.published.isEmpty)
        // A request, another under way, and ticks of 50 ms. With one share for both lanes a fast job took ten seconds.
        #expect(world.took.max() ?? .hours(1) <= 250, "\(world.took)")
        #expect(world.most.memory <= 2 * World.readAhead)
    }

    @Test("200 jobs of a host that takes five seconds each: each of a healthy host's jobs is begun as it comes")
    func slow() {
        var world = World()
        world.times.slow = 5_000
        for _ in 0..<200 { world.publish(world.dead, .fast) }
        var waits: [Duration] = []
        for _ in 0..<100 {
            world.publish("http://healthy.example/", .fast)
            let (asked, before) = (world.now, world.others.count)
            world.run(until: asked + 5_000) { $0.others.count > before }
            waits.append(world.now - asked)
            world.step()
        }
        #expect(waits.max() ?? .hours(1) <= 100)
        #expect(world.most.fetches <= 6)
    }
}
