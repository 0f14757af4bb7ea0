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
        // And a probe. All that was due moved on at once before, and kept others waiting.
        #expect(world.most.moves <= TierTurns.moves(isBusy: false).due + 1)
        // Tiers of ten seconds, a minute, ten minutes, an hour, each as long as the outage was then; and probes in between.
        #expect(world.appends.values.max() ?? 0 <= 6 + 9 + 6 + 3 + probes)

        world.isAway = false
        world.requests = []
        let back = world.now
        world.run(until: back + max(outage, .hours(1)) * 2) { $0.done == count }
        #expect(world.done == count && world.dead_ == 0 && world.requests.count == count)
        let first = (world.requests.first ?? .distantFuture) - back.wall
        #expect(first <= 610_000)
        #expect(world.most.fetches <= 6)
        // As slow ones, two of six at once, a tenth of a second and a tick each.
        #expect((world.requests.last ?? .distantFuture) - back.wall - first <= .milliseconds(count * 150 / 2))
        let early = world.requests.filter { $0 - back.wall - first < 1_000 }.count
        #expect(early <= 30)
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
        // Some waits of a tier or of the breaker, and what they take.
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
        "One that is opened has its jobs begun though they stand behind others: those of a host that stays away, and those that wait for a time of their own, go on to the end of a tier, once",
        arguments: [(0, 1), (0, 200), (1_000, 0), (1_000, 200), (40_000, 0)])
    func unblockedBehind(dead: Int, waiting: Int) {
        var world = World()
        let (gone, host) = (OriginHost(of: "http://gone.example/"), OriginHost(of: "http://healthy.example/"))
        for host in [gone, host] {
            world.core.permits.set(host, blockedFor: .hours(3), because: "operator", at: world.now)
        }
        for number in 0..<dead { world.publish("http://gone.example/\(number)", .slow) }
        // They wait where jobs of a host that is blocked for three hours do.
        for number in 0..<waiting { world.putOff("http://other.example/\(number)", for: 7_000_000, .slow) }
        world.run(until: world.now + 10_000)
        for _ in 0..<3 { world.publish("http://healthy.example/", .slow) }
        world.run(until: world.now + 10_000)
        #expect(world.others.isEmpty && world.logs[.retry1h]?.count == dead + waiting + 3)
        let (now, before) = (world.now, world.moved)
        world.core.permits.set(host, blockedFor: nil, because: "operator", at: now)
        world.run(until: now + 30_000) { $0.done == 3 }
        let turns = (dead + waiting) / TierTurns.moves(isBusy: false).searched + 2
        let wait = (world.others.first ?? .distantFuture) - now.wall
        #expect(world.done == 3 && wait <= TierSearch.interval + .milliseconds(turns * 50), "\(wait.milliseconds) ms")
        // What has moved on waits as before, and is not moved again.
        world.run(until: world.now + 60_000)
        #expect(world.moved - before <= dead + waiting + 3 && world.others.count == 3)
        #expect(world.core.state.hostWaits[gone]?.sum ?? 0 == dead)
    }

    @Test("A job whose host was left alone until its time was over is told so, not that it waits")
    func givenUp() {
        var world = World()
        let host = OriginHost(of: world.dead)
        world.core.permits.set(host, blockedFor: .days(3), because: "operator", at: world.now)
        for _ in 0..<3 { world.publish(world.dead, .slow) }
        world.run(until: world.now + .days(2)) { $0.dead_ == 3 }
        #expect(world.dead_ == 3 && world.requests.isEmpty)
        #expect(
            world.causes == [
                "retry.host-given-up: \(host) was left alone (operator) until the job's time was over (retry.retryFor): the job is tried no more. Publish it again once the host is well, which 'mezzotint origins' says."
            ], "\(world.causes)")
        // As where it was tried once more and failed.
        #expect(world.failures == ["retry.host-given-up"])
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
        // Two minutes: slow jobs come back from their tier, and are due in it.
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

    @Test("A job that was put off comes again though 20,000 of a dead host are due before it in its tier")
    func behind() {
        var world = World()
        world.isAway = true
        for _ in 0..<20_000 { world.publish(world.dead, .slow) }
        world.run(until: world.now + 20_000)
        #expect(world.logs[.retry1m]?.count ?? 0 >= 19_990)
        world.putOff("http://healthy.example/", for: 60_000, .slow)
        let begin = world.now
        world.run(until: begin + .hours(1)) { !$0.others.isEmpty }
        let turns = 20_000 / TierTurns.moves(isBusy: false).due + 2
        let longest = Duration.milliseconds(60_000 + turns * 50)
        #expect(world.others.first.map { (60_000...longest).contains($0 - begin.wall) } ?? false)
        #expect(world.most.moves <= TierTurns.moves(isBusy: false).due + 2)
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
