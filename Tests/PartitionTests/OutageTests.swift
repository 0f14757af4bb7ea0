import Canonical
import Digest
import Failures
import ImageModel
import Planning
import Ports
import Records
import Testing
import VariantSpec

@testable import Partition

@Suite("Outages of hosts, in virtual time", .timeLimit(.minutes(2)))
struct OutageTests {
    /// One partition, its lanes and tiers, permits, and hosts of which one may be away. Jobs whose host answers are done
    /// with that: their sources are not there.
    private struct World: ~Copyable {
        static let readAhead = 256
        static let lanes: [Topic] = [.jobsFast, .jobsSlow]

        let dead = "http://dead.example/"
        var now: Int64 = 1_000_000
        /// How long an answer takes, milliseconds: of the one host, and of others.
        var times: (slow: Int64, others: Int64) = (100, 20)
        var isAway = false
        /// One in so many of the one host's URLs, here and there, answers 503; 0: none.
        var brokenOf = 0
        var state: PartitionState
        var permits: PermitScheduler
        var logs: [Topic: [Record]] = [:]
        var read: [Topic: Int] = [:]
        var heads: [Topic: DelayHead] = [:]
        var turns = TierTurns()
        var search = TierSearch()
        var fetches: [(ends: Int64, flight: FlightID, url: String)] = []
        /// When each request to the one host began, and each first one to others.
        var requests: [Int64] = []
        var others: [Int64] = []
        var appends: [String: Int] = [:]
        var (done, dead_) = (0, 0)
        /// When each unfinished fast job was published, and how long the finished ones took, milliseconds.
        var published: [String: Int64] = [:]
        var took: [Int64] = []
        /// Records that went from one tier to another.
        var moved = 0
        var causes: Set<String> = []
        /// Of the variants of dead letters.
        var failures: Set<String?> = []
        var most = (memory: 0, fetches: 0, moves: 0)

        init() {
            var rules = PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 0))
            rules.hostShare = Self.readAhead / 4
            let origins = OriginRules()
            rules.origins = origins
            state = PartitionState(PartitionID(0), rules: rules, seed: 1)
            permits = PermitScheduler(PermitRules(render: 2, origins: origins))
            for topic in Self.lanes { state.begin(topic, at: 0) }
        }

        mutating func publish(_ url: String, _ lane: Lane) {
            let number = logs.values.reduce(0) { $0 + $1.count }
            if lane == .fast { published["\(url)\(number)"] = now }
            append(
                NewRecord(topic: .jobs(lane), partition: PartitionID(0), key: [], value: Array("\(url)\(number)".utf8)))
        }

        /// What a worker that failed to do the job leaves.
        mutating func putOff(_ url: String, for wait: Int64, _ lane: Lane) {
            let note = RetryNote(
                job: url, lane: lane, attempt: 1, notBefore: now + wait, firstSeen: now,
                cause: FailureNote(RetryCause.deferred),
                origin: RecordOrigin(topic: .jobs(lane), partition: PartitionID(0), offset: 0))
            let topic = DelayTier(within: wait, lane).topic
            append(note.newRecord(topic: topic, key: [], body: Array(url.utf8), partition: PartitionID(0), at: now))
        }

        private mutating func append(_ new: NewRecord) {
            let offset = Int64(logs[new.topic]?.count ?? 0)
            logs[new.topic, default: []].append(
                Record(
                    topic: new.topic, partition: new.partition, offset: offset, timestamp: now, key: [],
                    value: new.value, headers: new.headers))
        }

        private func url(_ record: Record) -> String { String(decoding: record.value ?? [], as: UTF8.self) }

        private mutating func next(_ topic: Topic, _ limit: Int) -> [Record] {
            let start = read[topic, default: 0]
            let records = (logs[topic] ?? []).dropFirst(start).prefix(limit)
            read[topic] = start + records.count
            return Array(records)
        }

        private mutating func take(_ topic: Topic) -> [Record] {
            let room = Self.readAhead - (state.unfinished(topic) - state.waiting(topic))
            guard let tier = DelayTier(topic) else { return next(topic, room) }
            var head = heads[topic] ?? DelayHead(tier)
            if head.isEmpty { head.add(next(topic, DelayHead.limit), at: now) }
            let moment = Moment(now)
            let moves = head.moves.searched
            let records = head.take(room, at: now, search: search.before) {
                Self.awaited(by: $0, at: moment.wall)
            } room: {
                state.room(for: $0, atMost: permits.use(of: $0.host, at: moment))
            }
            heads[topic] = head
            search.note(moved: moves - head.moves.searched)
            return records
        }

        private static func awaited(by record: Record, at now: Int64) -> HostLane? {
            guard let note = try? RetryNote(record), note.cause.isOfHost, note.notBefore <= now else { return nil }
            let lane = RetryPolicy().lane(note.lane, failingSince: note.failingSince, at: now)
            return HostLane(OriginHost(of: String(decoding: record.value ?? [], as: UTF8.self)), lane)
        }

        private mutating func feed(_ event: PartitionEvent) {
            var work: [PartitionWork] = []
            state.run(event, at: Moment(now), permits: &permits, into: &work) { _ in SourceSnapshot() }
            for piece in work {
                switch piece {
                case .fetch(let id, let request):
                    let url = request.url
                    let isOne = url.fetched.hasPrefix(dead)
                    if isOne { requests.append(now) } else { others.append(now) }
                    fetches.append((now + (isOne ? times.slow : times.others), id, url.fetched))
                case .answer(let record, let disposition):
                    switch disposition {
                    case .retry(let pending, let tier, let cause):
                        appends[pending.job.id, default: 0] += 1
                        if record.topic.isRetry { moved += 1 }
                        let note = RetryNote(
                            job: pending.job.id, lane: pending.job.lane, attempt: pending.attempts,
                            notBefore: pending.notBefore, firstSeen: pending.firstSeen, heldSince: pending.heldSince,
                            failingSince: pending.failingSince, cause: cause, origin: record.jobOrigin)
                        append(
                            note.newRecord(
                                topic: tier.topic, key: [], body: record.value ?? [], partition: PartitionID(0), at: now
                            ))
                    case .dead(let letter, let outcome):
                        dead_ += 1
                        failures.formUnion(outcome.variants.map { $0.failure?.code })
                        causes.insert("\(letter.cause.code): \(letter.cause.message)")
                    case .outcome(let outcome):
                        done += 1
                        if let begin = published.removeValue(forKey: outcome.job) { took.append(now - begin) }
                    case .owing, .paid, .changed: done += 1
                    case .rekey: break
                    }
                    feed(.acknowledged([RecordPlace(record)]))
                default: break
                }
            }
        }

        private func pending(_ record: Record) -> PendingJob {
            let url = url(record)
            let note = record.topic.isRetry ? try? RetryNote(record) : nil
            let job = Job(
                id: url, url: SourceURL(url), source: SourceKey(SHA256.digest(of: Array(url.utf8))),
                variants: [VariantSpec(width: 10, height: 10, format: .webp)],
                lane: note?.lane ?? record.topic.lane ?? .slow)
            return PendingJob(
                job: job, record: record, attempts: note?.attempt ?? 0, firstSeen: note?.firstSeen,
                notBefore: note?.notBefore ?? 0, heldSince: note?.heldSince, failingSince: note?.failingSince,
                heldBy: note?.cause.hold)
        }

        private func isBroken(_ url: String) -> Bool {
            guard brokenOf > 0, let number = Int(url.dropFirst(dead.count)) else { return false }
            // By chance: what follows from the numbers comes in runs, and a run closes the host.
            var chance = SplitMix64(state: UInt64(number))
            return chance.next() % UInt64(brokenOf) == 0
        }

        /// Those have no end.
        var isAllButBroken: Bool {
            let jobs = Self.lanes.flatMap { logs[$0] ?? [] }
            return done == jobs.count { !isBroken(String(decoding: $0.value ?? [], as: UTF8.self)) }
        }

        /// One tick of the worker.
        mutating func step() {
            now += 50
            while let place = fetches.firstIndex(where: { $0.ends <= now }) {
                let (_, flight, url) = fetches.remove(at: place)
                let answer: OriginAnswer =
                    isBroken(url)
                    ? .refused(after: nil, mayBeOfURL: true)
                    : isAway && url.hasPrefix(dead) ? .failed : .answered(bytes: 0)
                let note =
                    answer == .answered(bytes: 0)
                    ? FailureNote(code: "fetch.not-found", message: "no", verdict: .fail)
                    : FailureNote(code: "fetch.connection", message: "no", verdict: .retry)
                feed(.unfetched(flight, Unfetched(note, answer)))
            }
            feed(.tick)
            let before = moved
            if now.isMultiple(of: TierSearch.interval) {
                let hosts = state.hostsBehind(heads.values, in: permits, at: Moment(now)) { [now] in
                    Self.awaited(by: $0, at: now)
                }
                search.look(for: hosts, at: now, isOpen: permits.isOpen)
            }
            let heldUp = heads.filter(\.value.isHeldUp).map { TierTurns.Place(PartitionID(0), $0.key) }
            for topic in heads.keys { heads[topic]?.moves = DelayHead.Moves() }
            if let place = turns.next(of: heldUp) {
                heads[place.topic]?.moves = TierTurns.moves(isBusy: !fetches.isEmpty)
            }
            for topic in Topic.retries + Self.lanes {
                // A worker goes on with a tier as long as records of it are taken up.
                repeat {
                    let records = take(topic)
                    for (place, record) in records.enumerated() {
                        feed(.arrived(pending(record)))
                        if place % 32 == 31 { settle() }
                    }
                    settle()
                    if records.isEmpty { break }
                } while topic.isRetry
            }
            let running = fetches.count { $0.url.hasPrefix(dead) }
            most = (
                max(most.memory, state.unfinished), max(most.fetches, running), max(most.moves, moved - before)
            )
        }

        private mutating func settle() {
            for (kind, flight) in permits.grants(at: Moment(now)) { feed(.granted(kind, flight)) }
            for (flight, hold) in permits.takeHeld(at: Moment(now)) { feed(.held(flight, hold)) }
        }

        mutating func run(until end: Int64, _ isOver: (borrowing World) -> Bool = { _ in false }) {
            while now < end, !isOver(self) { step() }
        }
    }

    private static let minute: Int64 = 60_000

    @Test(
        "A host that is away for a while: nothing is dead, probes alone ask it, all is done at its limit afterwards, without a herd",
        arguments: [1, 30, 120])
    func outage(minutes: Int64) {
        var world = World()
        world.isAway = true
        let count = 2_000
        for number in 0..<count { world.publish(world.dead, number % 2 == 0 ? .fast : .slow) }
        let (begin, outage) = (world.now, minutes * Self.minute)
        world.run(until: begin + outage)
        // Five in a row, what was under way beside them, and probes after 30 s, 60 s and so on up to ten minutes.
        var (probes, wait, at) = (0, 30_000 as Int64, 0 as Int64)
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
        world.run(until: back + 2 * max(outage, 60 * Self.minute)) { $0.done == count }
        #expect(world.done == count && world.dead_ == 0 && world.requests.count == count)
        let first = (world.requests.first ?? .max) - back
        #expect(first <= 610_000)
        #expect(world.most.fetches <= 6)
        // As slow ones, two of six at once, a tenth of a second and a tick each.
        #expect((world.requests.last ?? .max) - back - first <= Int64(count) * 150 / 2)
        let early = world.requests.filter { $0 - back - first < 1_000 }.count
        #expect(early <= 30)
    }

    @Test(
        "A few URLs of a host that fail, and are tried again and again, hold up its other jobs for minutes at most",
        arguments: [(100, 60), (20, 60), (10, 300), (5, 300)])
    func someBroken(of: Int, seconds: Int64) {
        var world = World()
        world.brokenOf = of
        let count = 500
        /// Until all but the broken ones are done, seconds.
        func publish() -> Int64 {
            let begin = world.now
            for _ in 0..<count { world.publish(world.dead, .fast) }
            world.run(until: begin + 60 * Self.minute) { $0.isAllButBroken }
            return (world.now - begin) / 1_000
        }
        var took = [publish()]
        for _ in 0..<2 {
            // Broken ones alone are tried meanwhile.
            world.run(until: world.now + 200 * Self.minute)
            took.append(publish())
        }
        // Some waits of a tier or of the breaker, and what they take.
        #expect(took.max() ?? .max <= seconds, "\(took) s")
        #expect(world.dead_ == 0)
    }

    @Test("A host that is opened by hand is asked at once, however long its jobs would have waited")
    func unblocked() {
        var world = World()
        world.isAway = true
        for _ in 0..<500 { world.publish(world.dead, .slow) }
        world.run(until: world.now + 40 * Self.minute)
        (world.isAway, world.requests) = (false, [])
        let now = world.now
        world.permits.set(OriginHost(of: world.dead), blockedFor: nil, because: "operator", at: Moment(now))
        world.run(until: now + 10 * Self.minute) { $0.done == 500 }
        #expect(world.done == 500 && world.requests.first == now + 50)
    }

    @Test(
        "One that is opened has its jobs begun though they stand behind others: those of a host that stays away, and those that wait for a time of their own, go on to the end of a tier, once",
        arguments: [(0, 1), (0, 200), (1_000, 0), (1_000, 200), (40_000, 0)])
    func unblockedBehind(dead: Int, waiting: Int) {
        var world = World()
        let (gone, host) = (OriginHost(of: "http://gone.example/"), OriginHost(of: "http://healthy.example/"))
        for host in [gone, host] {
            world.permits.set(host, blockedFor: 3 * 3_600_000, because: "operator", at: Moment(world.now))
        }
        for number in 0..<dead { world.publish("http://gone.example/\(number)", .slow) }
        // They wait where jobs of a host that is blocked for three hours do.
        for number in 0..<waiting { world.putOff("http://other.example/\(number)", for: 7_000_000, .slow) }
        world.run(until: world.now + 10_000)
        for _ in 0..<3 { world.publish("http://healthy.example/", .slow) }
        world.run(until: world.now + 10_000)
        #expect(world.others.isEmpty && world.logs[.retry1h]?.count == dead + waiting + 3)
        let (now, before) = (world.now, world.moved)
        world.permits.set(host, blockedFor: nil, because: "operator", at: Moment(now))
        world.run(until: now + 30_000) { $0.done == 3 }
        let turns = Int64((dead + waiting) / TierTurns.moves(isBusy: false).searched) + 2
        let wait = (world.others.first ?? .max) - now
        #expect(world.done == 3 && wait <= TierSearch.interval + turns * 50, "\(wait) ms")
        // What has moved on waits as before, and is not moved again.
        world.run(until: world.now + 60_000)
        #expect(world.moved - before <= dead + waiting + 3 && world.others.count == 3)
        #expect(world.state.hostWaits[gone]?.sum ?? 0 == dead)
    }

    @Test("A job whose host was left alone until its time was over is told so, not that it waits")
    func givenUp() {
        var world = World()
        let host = OriginHost(of: world.dead)
        world.permits.set(host, blockedFor: 3 * 86_400_000, because: "operator", at: Moment(world.now))
        for _ in 0..<3 { world.publish(world.dead, .slow) }
        world.run(until: world.now + 2 * 86_400_000) { $0.dead_ == 3 }
        #expect(world.dead_ == 3 && world.requests.isEmpty)
        #expect(
            world.causes == [
                "retry.host-given-up: \(host) was left alone (operator) until the job's time was over (retry.giveUp): the job is tried no more. Publish it again once the host is well, which 'mezzotint origins' says."
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
        world.run(until: begin + 60 * Self.minute) { !$0.others.isEmpty }
        // A tick reads no more than there is room for: 192 jobs at least.
        #expect((world.others.first ?? .max) - begin <= 50 * (100_001 / 192 + 2))
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
        #expect(world.took.max() ?? .max <= 250, "\(world.took)")
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
        world.run(until: begin + 60 * Self.minute) { !$0.others.isEmpty }
        let turns = 20_000 / Int64(TierTurns.moves(isBusy: false).due) + 2
        #expect(world.others.first.map { (60_000...60_000 + turns * 50).contains($0 - begin) } ?? false)
        #expect(world.most.moves <= TierTurns.moves(isBusy: false).due + 2)
    }

    @Test("200 jobs of a host that takes five seconds each: each of a healthy host's jobs is begun as it comes")
    func slow() {
        var world = World()
        world.times.slow = 5_000
        for _ in 0..<200 { world.publish(world.dead, .fast) }
        var waits: [Int64] = []
        for _ in 0..<100 {
            world.publish("http://healthy.example/", .fast)
            let (asked, before) = (world.now, world.others.count)
            world.run(until: asked + 5_000) { $0.others.count > before }
            waits.append(world.now - asked)
            world.step()
        }
        #expect(waits.max() ?? .max <= 100)
        #expect(world.most.fetches <= 6)
    }
}
