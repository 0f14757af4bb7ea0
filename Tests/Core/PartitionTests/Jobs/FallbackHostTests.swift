import Canonical
import Clocks
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

/// What answers while a host is left alone, and what is never given up.
extension CachingTests {
    private static let hold = PermitScheduler.Hold(
        host: OriginHost(of: "http://o/a"), wait: 60_000, code: "fetch.server-error")

    /// What becomes of a job whose host may not be asked.
    private func held(
        _ pending: PendingJob, _ driver: inout PartitionStateTests.Driver, at now: Moment
    ) throws -> [JobEffect] {
        let id = try #require(rules.flight(driver.feed(.arrived(pending), at: now)))
        return driver.feed(.held(id, Self.hold), at: now)
    }

    private func own(_ pending: PendingJob, _ prefix: String, failingSince: WallTime? = nil) -> PendingJob {
        var job = pending.job
        (job.id, job.lane) = ("\(prefix)\(source.hex)-1", .slow)
        if !job.isOwn { job.fallback = .none }
        return PendingJob(job: job, record: pending.record, firstSeen: 0, failingSince: failingSince)
    }

    @Test("A host that is left alone is an outage: what is stored answers at once, or the job waits as it came")
    func blockedHost() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let specs = [PartitionStateTests.small]
        let (first, debt) = try #require(
            outcome(try held(job(&driver, "1", specs, .stale), &driver, at: 61_000)))
        #expect(first.kind == .stale && first.failure?.code == "retry.host-blocked" && debt?.job.isOwed == true)
        let second = try #require(outcome(try held(job(&driver, "2", specs, .stale), &driver, at: 61_000)))
        #expect(second.outcome.kind == .stale && second.debt == nil)
        let third = try held(job(&driver, "3", specs, .none), &driver, at: 61_000)
        guard case .retry(let later, _, _) = try #require(rules.settled(third).first) else {
            Issue.record("\(third)")
            return
        }
        #expect(later.attempts == 0 && later.job.id == "3")
    }

    @Test("A host that was asked and one that is left alone are counted for what is stored in their stead")
    func counted() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let specs = [PartitionStateTests.small]
        for effects in [
            try failing(job(&driver, "1", specs, .stale), &driver, at: 61_000),
            try held(job(&driver, "2", specs, .stale), &driver, at: 61_000),
        ] {
            let hosts = effects.compactMap { if case .work(.stoodIn(let host)) = $0 { host } else { nil } }
            #expect(hosts == [OriginHost(of: "http://o/a")])
        }
    }

    @Test(
        "Jobs of workers' own are never given up while their host is away; others are, after a day",
        arguments: [(Job.owedPrefix, false), (Job.refreshPrefix, false), ("j", true)], [true, false])
    func neverGivenUp(_ kind: (prefix: String, isDead: Bool), isHeld: Bool) throws {
        var driver = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 0))
        driver.stored = try stored([("cache-control", "max-age=60")])
        let pending = own(driver.pending("j", source, [PartitionStateTests.small]), kind.prefix, failingSince: 0)
        let now = Self.days(2)
        let effects =
            isHeld ? try held(pending, &driver, at: now) : try failing(pending, &driver, Self.down, at: now)
        #expect(rules.kinds(effects) == (kind.isDead ? [.dead] : []))
        let goesOn = rules.settled(effects).contains { if case .retry = $0 { true } else { false } }
        #expect(goesOn == !kind.isDead)
    }

    /// A host asked for an hour of quiet: jobs with less time than a tier waits once ended by the tier.
    @Test(
        "A job whose time is over before its host is asked again ends then, and not with a tier",
        arguments: [
            (Lane.fast, 3_000, nil, 256, nil), (.fast, nil, 3_000, 256, nil), (.slow, 3_000, nil, 256, nil),
            (.slow, nil, 9_999, 256, nil), (.fast, 3_000, nil, 0, .tenSeconds), (.slow, 3_000, nil, 0, .tenSeconds),
            (.slow, 30_000, nil, 256, .tenSeconds), (.slow, 90_000, nil, 256, .minute),
            (.slow, nil, 59_000, 256, .tenSeconds), (.fast, 700_000, 650_000, 256, .tenMinutes),
            (.slow, nil, nil, 256, .hour),
        ] as [(Lane, Duration?, WallTime?, Int, DelayTier?)])
    func timeIsOver(_ lane: Lane, retryFor: Duration?, expires: WallTime?, shortWaits: Int, tier: DelayTier?) throws {
        var driver = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 0), shortWaits: shortWaits)
        let template = driver.pending("j", source, [PartitionStateTests.small], lane: lane, expires: expires)
        var own = template.job
        own.retryFor = retryFor
        let pending = PendingJob(job: own, record: template.record)
        let hour = PermitScheduler.Hold(host: Self.hold.host, wait: DelayTier.hour.wait, code: "fetch.server-error")
        let id = try #require(rules.flight(driver.feed(.arrived(pending), at: 0)))
        let effects = driver.feed(.held(id, hour), at: 0)
        if let tier {
            guard case .retry(let later, let found, _)? = rules.settled(effects).first else {
                Issue.record("\(effects)")
                return
            }
            #expect(found == tier && later.attempts == 0 && later.notBefore == 0)
            return
        }
        let time = try #require(retryFor.map { WallTime.epoch + $0 } ?? expires)
        let end = Moment(time)
        #expect(rules.settled(effects).isEmpty && rules.putOff(effects).isEmpty)
        // People are told of it, as of those in tiers.
        #expect(driver.state.hostWaits == [OriginHost(of: "http://o/a"): ByLane([lane: 1])])
        let early = driver.feed(.tick, at: end - 1)
        #expect(rules.flight(early) == nil && rules.settled(early).isEmpty)
        let due = driver.feed(.tick, at: end)
        #expect(driver.state.hostWaits.isEmpty)
        guard expires == nil else { return #expect(rules.kinds(due) == [.expired]) }
        // It has one more chance: its host may be asked now.
        let again = try #require(rules.flight(due))
        #expect(rules.kinds(driver.feed(.held(again, hour), at: end)) == [.dead])
    }

    @Test(
        "What earlier owners left in tiers counts until it comes back, or the tiers are read as far as they went then")
    func leftAway() throws {
        let host = OriginHost(of: "http://o/a")
        let told = [
            ProgressRow.Away("http://o", ByLane([.fast: 3, .slow: 1])), ProgressRow.Away("x", ByLane([.slow: 2])),
        ]
        var driver = PartitionStateTests.Driver()
        driver.state.takeOver(ProgressRow(partition: PartitionID(0), topics: [:], away: told, at: 1), isOwn: false)
        for tier in DelayTier.allCases {
            driver.state.begin(tier.topic, at: 0, end: tier == .minute ? 3 : tier == .hour ? 1 : 0)
        }
        #expect(
            driver.state.hostWaits == [host: ByLane([.fast: 3, .slow: 1]), OriginHost(group: "x"): ByLane([.slow: 2])])
        #expect(driver.state.away == told)
        func back(_ id: String, _ topic: Topic, _ lane: Lane, _ driver: inout PartitionStateTests.Driver) {
            let pending = driver.pending(id, source, [PartitionStateTests.small], lane: lane, topic: topic)
            let held = PendingJob(job: pending.job, record: pending.record, heldBy: .breaker)
            _ = driver.feed(.arrived(held))
        }
        back("1", .retry1m, .fast, &driver)
        back("2", .retry1m, .slow, &driver)
        #expect(driver.state.away == [ProgressRow.Away("http://o", ByLane([.fast: 2])), told[1]])
        back("3", .retry1m, .fast, &driver)
        #expect(driver.state.hostWaits[host] == ByLane([.fast: 1]))
        // Of what the row told besides nothing is there.
        back("4", .retry1h, .fast, &driver)
        #expect(driver.state.hostWaits.isEmpty && driver.state.away.isEmpty)
    }

    @Test("The last try of a job whose origin fails is when its time is over", arguments: [Lane.fast, .slow])
    func lastTry(lane: Lane) throws {
        var driver = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 0, base: 60_000, cap: 600_000))
        let template = driver.pending("j", source, [PartitionStateTests.small], lane: lane)
        var own = template.job
        own.retryFor = 5_000
        let effects = try failing(PendingJob(job: own, record: template.record), &driver, at: 0)
        #expect(rules.putOff(effects).map(\.pending.notBefore) == [5_000] && rules.settled(effects).isEmpty)
        let id = try #require(rules.flight(driver.feed(.tick, at: 5_000)))
        _ = driver.feed(.granted(.fetch, id), at: 5_000)
        #expect(rules.kinds(driver.feed(.failed(id, Self.down), at: 5_000)) == [.dead])
    }

    @Test(
        "A fast job whose origin has been at fault for as long as retry.retryFor.fast says goes on as slow, and its record stays fast",
        arguments: [(4_999, Lane.fast), (5_000, .slow)] as [(Moment, Lane)])
    func goesOnAsSlow(failing: Moment, lane: Lane) throws {
        var policy = RetryPolicy(attempts: 0, base: 60_000, cap: 60_000)
        policy.retryForFast = 5_000
        var driver = PartitionStateTests.Driver(retry: policy, shortWaits: 0)
        let template = driver.pending("j", source, [PartitionStateTests.small])
        let effects = driver.feed(
            .arrived(PendingJob(job: template.job, record: template.record, firstSeen: 0, failingSince: 0)), at: failing
        )
        let lanes = effects.compactMap { effect -> Lane? in
            if case .permit(.request(.fetch, _, let lane, _, _, _)) = effect { lane } else { nil }
        }
        #expect(lanes == [lane])
        let id = try #require(rules.flight(effects))
        let short = PermitScheduler.Hold(host: Self.hold.host, wait: 10_000, code: Self.hold.code)
        let settled = rules.settled(driver.feed(.held(id, short), at: failing))
        guard case .retry(let later, let tier, _) = try #require(settled.first) else {
            Issue.record("\(settled)")
            return
        }
        #expect(tier == DelayTier(within: 10_000, lane) && later.job.lane == .fast)
    }

    @Test("What is owed ends with its own time, and is owed again after that")
    func overdue() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60, stale-if-error=99999999")])
        let specs = [PartitionStateTests.small]
        let first = try #require(outcome(try failing(job(&driver, "1", specs, .stale), &driver, at: 61_000)))
        let owed = try #require(first.debt)
        let end = try #require(owed.job.expires)
        let before = try #require(outcome(try failing(job(&driver, "2", specs, .stale), &driver, at: Moment(end) - 1)))
        #expect(before.outcome.kind == .stale && before.debt == nil)
        let again = PendingJob(job: owed.job, record: driver.pending("r", source, specs, topic: .retry1h).record)
        #expect(rules.kinds(driver.feed(.arrived(again), at: Moment(end))) == [.expired])
        let after = try #require(outcome(try failing(job(&driver, "3", specs, .stale), &driver, at: Moment(end))))
        #expect(after.debt != nil && after.debt?.job.id != owed.job.id)
    }

    @Test("A job that is done again after a kill owes by the same id, and another one by another")
    func sameDebt() throws {
        let specs = [PartitionStateTests.small]
        var ids: [String] = []
        for number in [0, 0, 1] {
            // Another owner, which knows of no debt.
            var driver = PartitionStateTests.Driver()
            driver.stored = try stored([("cache-control", "max-age=60")])
            for _ in 0..<number { _ = driver.pending("before", source, specs) }
            let pending = job(&driver, "j", specs, .stale)
            let end = try #require(outcome(try failing(pending, &driver, at: 61_000 + .milliseconds(ids.count))))
            ids.append(try #require(end.debt).job.id)
        }
        #expect(ids[0] == ids[1] && ids[0] != ids[2])
    }

    @Test("What was found to be gone is asked for again by a job that says force, and by no other")
    func refusals() throws {
        var driver = PartitionStateTests.Driver()
        let specs = [PartitionStateTests.small]
        let gone = Unfetched(FetchFailure.status(url: "http://o/a", 404))
        let id = try #require(rules.flight(driver.feed(.arrived(driver.pending("1", source, specs)))))
        _ = driver.feed(.granted(.fetch, id))
        #expect(rules.kinds(driver.feed(.unfetched(id, gone))) == [.failed])
        let known = driver.feed(.arrived(driver.pending("2", source, specs)), at: 1)
        #expect(rules.kinds(known) == [.failed] && rules.flight(known) == nil)
        let pending = driver.pending("3", source, specs)
        var forced = pending.job
        forced.freshness = .force
        let asked = driver.feed(.arrived(PendingJob(job: forced, record: pending.record)), at: 2)
        let next = try #require(rules.flight(asked))
        #expect(rules.kinds(asked).isEmpty && request(driver.feed(.granted(.fetch, next), at: 2)) != nil)
        // It is there now, and that is known.
        _ = driver.feed(.fetched(next, PartitionStateTests.picture), at: 2)
        _ = driver.feed(.failed(next, Self.down), at: 3)
        #expect(rules.flight(driver.feed(.arrived(driver.pending("4", source, specs)), at: 4)) != nil)
    }

    @Test("Jobs that say force, and find again that it is gone, make that remembered for no longer")
    func forcedRefusals() throws {
        var driver = PartitionStateTests.Driver()
        let gone = Unfetched(FetchFailure.status(url: "http://o/a", 404))
        func ask(_ freshness: JobFreshness, at now: Moment) -> FlightID? {
            let pending = driver.pending("\(now.wall.milliseconds)", source, [PartitionStateTests.small])
            var job = pending.job
            job.freshness = freshness
            let id = rules.flight(driver.feed(.arrived(PendingJob(job: job, record: pending.record)), at: now))
            guard let id else { return nil }
            _ = driver.feed(.granted(.fetch, id), at: now)
            _ = driver.feed(.unfetched(id, gone), at: now)
            return id
        }
        for now in 1...5 as ClosedRange<Int> { #expect(ask(.force, at: Moment(WallTime(now))) != nil) }
        #expect(ask(.ifStale, at: 600_004) == nil)
        #expect(ask(.ifStale, at: 600_005) != nil)
        #expect(ask(.ifStale, at: 1_800_004) == nil)
        #expect(ask(.ifStale, at: 1_800_005) != nil)
    }

    @Test("A job that wants what is stored alone has nothing fetched, though what it was to be made of is gone")
    func neverFetched() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let large = driver.stored.variants.first { $0.spec == PartitionStateTests.large }
        let pending = driver.pending("j", source, [VariantSpec(width: 640, height: 640, format: .webp)])
        var only = pending.job
        only.freshness = .cacheOnly
        let effects = driver.feed(.arrived(PendingJob(job: only, record: pending.record)))
        let id = try #require(rules.flight(effects))
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id))))
        #expect(task.isReuse)
        driver.stored = SourceSnapshot()
        let ended = driver.feed(.blobsGone(id, locations: [large?.location ?? ""]))
        #expect(rules.kinds(ended) == [.failed] && rules.flight(ended) == nil)
    }

    @Test("A partition that goes leaves what is owed to the next owner, but for what its origin is being asked for")
    func leaving() throws {
        for isBegun in [false, true] {
            var driver = PartitionStateTests.Driver()
            driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=60")])
            let debt = own(driver.pending("r", source, [PartitionStateTests.small], topic: .retry1m), Job.owedPrefix)
            let id = try #require(rules.flight(driver.feed(.arrived(debt), at: 61_000)))
            if isBegun { _ = driver.feed(.granted(.fetch, id), at: 61_000) }
            let left = driver.feed(.leaving, at: 61_000)
            #expect(rules.settled(left).isEmpty && driver.state.isUnderWay == isBegun)
            #expect(driver.state.progress(.retry1m)?.next == 0)
            guard isBegun else { continue }
            _ = driver.feed(.notModified(id, AnswerHead()), at: 61_000)
            _ = driver.feed(.granted(.render, id), at: 61_000)
            _ = driver.feed(.rendered(id), at: 61_000)
            let paid = driver.feed(.announced(id, original: nil, rows: [], position: 0), at: 61_000)
            guard case .paid(let end) = try #require(rules.settled(paid).first) else {
                Issue.record("\(paid)")
                return
            }
            #expect(end.refreshed(partition: PartitionID(0)).count == 1)
        }
    }

    @Test("A job that refreshes what may stand in meanwhile tells nobody, so a stale answer owes one that does")
    func refreshIsNoDebt() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60, stale-while-revalidate=600")])
        let specs = [PartitionStateTests.small]
        let first = try #require(outcome(driver.feed(.arrived(job(&driver, "1", specs, .stale)), at: 61_000)))
        #expect(first.outcome.kind == .unchanged && first.debt?.job.isOwed == false)
        let pending = job(&driver, "2", specs, .stale)
        var forced = pending.job
        forced.freshness = .force
        let asking = PendingJob(job: forced, record: pending.record)
        let second = try #require(outcome(try failing(asking, &driver, at: 62_000)))
        #expect(second.outcome.kind == .stale && second.debt?.job.isOwed == true)
        // That one refreshes, too.
        let third = try #require(outcome(driver.feed(.arrived(job(&driver, "3", specs, .stale)), at: 63_000)))
        #expect(third.outcome.kind == .unchanged && third.debt == nil)
    }

    @Test("A forced job that was answered by what is stored owes a forced one: it asks though that be fresh")
    func forcedDebt() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let specs = [PartitionStateTests.small]
        func forced(_ id: String, _ driver: inout PartitionStateTests.Driver) -> PendingJob {
            let pending = job(&driver, id, specs, .stale)
            var job = pending.job
            job.freshness = .force
            return PendingJob(job: job, record: pending.record)
        }
        let plain = try #require(outcome(try failing(job(&driver, "1", specs, .stale), &driver, at: 61_000)))
        #expect(plain.debt?.job.freshness == .ifStale)
        // A debt that another job's fetch would pay does not stand for it.
        let first = try #require(outcome(try failing(forced("2", &driver), &driver, at: 61_001)))
        let owed = try #require(first.debt).job
        #expect(owed.freshness == .force && owed.isOwed && owed.fallback == .stale)
        // One that is known stands for all.
        for again in [forced("3", &driver), job(&driver, "4", specs, .stale)] {
            let other = try #require(outcome(try failing(again, &driver, at: 61_002)))
            #expect(other.outcome.kind == .stale && other.debt == nil)
        }
        driver.stored = try stored([("cache-control", "max-age=600000")])
        // A plain one that is done pays none that is forced.
        let plainJob = try #require(plain.debt).job
        _ = driver.feed(
            .arrived(PendingJob(job: plainJob, record: driver.pending("5", source, specs).record)), at: 150_000)
        #expect(try #require(outcome(try failing(forced("6", &driver), &driver, at: 150_001))).debt == nil)
        let paying = PendingJob(job: owed, record: driver.pending("7", source, specs).record)
        #expect(rules.flight(driver.feed(.arrived(paying), at: 200_000)) != nil)
    }

    @Test("A plain debt that is added to a forced one of other variants does not stand for a forced one")
    func plainBesideForced() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let other = try #require(driver.stored.variants.first { $0.spec != PartitionStateTests.small }?.spec)
        func owes(_ id: String, _ spec: VariantSpec, _ freshness: JobFreshness, at now: Moment) throws -> Bool {
            let pending = job(&driver, id, [spec], .stale)
            var job = pending.job
            job.freshness = freshness
            let asking = PendingJob(job: job, record: pending.record)
            return try #require(outcome(try failing(asking, &driver, at: now))).debt != nil
        }
        #expect(try owes("1", PartitionStateTests.small, .force, at: 61_000))
        #expect(try owes("2", other, .ifStale, at: 61_001))
        #expect(try owes("3", other, .force, at: 61_002))
    }

    @Test("What is made of what is stored before the rest turns out to be gone is answered once it is folded")
    func neverFetchedLater() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let reused = VariantSpec(width: 640, height: 640, format: .webp)
        let pending = driver.pending("j", source, [reused, PartitionStateTests.small])
        var only = pending.job
        (only.freshness, only.fallback) = (.cacheOnly, .none)
        let id = try #require(
            rules.flight(driver.feed(.arrived(PendingJob(job: only, record: pending.record)), at: 59_000)))
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 59_000)))
        _ = driver.feed(.rendered(id), at: 59_000)
        let announced = driver.feed(.announced(id, original: nil, rows: rules.rows(task), position: 7), at: 61_000)
        #expect(rules.settled(announced).isEmpty && rules.flight(announced) == nil)
        let ended = try #require(outcome(driver.feed(.folded(7), at: 61_000))).outcome
        #expect(ended.kind == .failed && ended.variants.map(\.kind) == [.reused, .failed])
    }
}
