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
        let (first, pendingRefresh) = try #require(
            outcome(try held(job(&driver, "1", specs, .stale), &driver, at: 61_000)))
        #expect(
            first.kind == .stale && first.failure?.code == "retry.host-blocked"
                && pendingRefresh?.job.isStaleRefresh == true)
        let second = try #require(outcome(try held(job(&driver, "2", specs, .stale), &driver, at: 61_000)))
        #expect(second.outcome.kind == .stale && second.pendingRefresh == nil)
        let third = try held(job(&driver, "3", specs, .none), &driver, at: 61_000)
        let row = try #require(rules.parked(third).first)
        #expect(row.pending.attempts == 0 && row.pending.notBefore == .epoch && row.pending.job.id == "3")
        #expect(row.cause.code == "retry.host-blocked" && row.cause.hold != nil)
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
        arguments: [(Job.staleRefreshPrefix, false), (Job.refreshPrefix, false), ("j", true)], [true, false])
    func neverGivenUp(_ kind: (prefix: String, isDead: Bool), isHeld: Bool) throws {
        var driver = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 0))
        driver.stored = try stored([("cache-control", "max-age=60")])
        let pending = own(driver.pending("j", source, [PartitionStateTests.small]), kind.prefix, failingSince: 0)
        let now = Self.days(2)
        let effects =
            isHeld ? try held(pending, &driver, at: now) : try failing(pending, &driver, Self.down, at: now)
        #expect(rules.kinds(effects) == (kind.isDead ? [.dead] : []))
        #expect(rules.parked(effects).isEmpty == kind.isDead)
    }

    @Test(
        "A row of a job whose host may not be asked names the time when the job expires or is abandoned, and it ends then",
        arguments: [
            (Lane.fast, 3_000, nil, 3_000), (.slow, nil, 9_000, 9_000), (.fast, 700_000, 650_000, 650_000),
            (.slow, 90_000, 650_000, 90_000), (.slow, nil, nil, 86_400_000),
        ] as [(Lane, Duration?, WallTime?, ends: WallTime)])
    func timeIsOver(_ lane: Lane, retryFor: Duration?, expires: WallTime?, ends: WallTime) throws {
        var driver = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 0))
        let template = driver.pending("j", source, [PartitionStateTests.small], lane: lane, expires: expires)
        var own = template.job
        own.retryFor = retryFor
        let row = try #require(
            rules.parked(try held(PendingJob(job: own, record: template.record), &driver, at: 0)).first)
        #expect(row.parking == Parking(Self.hold.host, worksAs: lane, ends: ends))
        #expect(row.pending.attempts == 0 && row.pending.failingSince == 0)
        // Started a moment too early, it waits again; its end stays.
        let again = try #require(rules.parked(try held(row.started(offset: 1), &driver, at: Moment(ends) - 1)).first)
        #expect(again.parking.ends == ends && again.pending.failingSince == 0)
        let isExpired = ends == expires
        guard isExpired else {
            return #expect(rules.kinds(try held(again.started(offset: 2), &driver, at: Moment(ends))) == [.dead])
        }
        #expect(rules.kinds(driver.feed(.arrived(again.started(offset: 2)), at: Moment(ends))) == [.expired])
    }

    @Test("The last try of a job whose origin fails is when its time is over", arguments: [Lane.fast, .slow])
    func lastTry(lane: Lane) throws {
        var driver = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 0, base: 60_000, cap: 600_000))
        let template = driver.pending("j", source, [PartitionStateTests.small], lane: lane)
        var own = template.job
        own.retryFor = 5_000
        let effects = try failing(PendingJob(job: own, record: template.record), &driver, at: 0)
        let row = try #require(rules.parked(effects).first)
        #expect(row.pending.notBefore == 5_000 && row.parking.ends == 5_000)
        let id = try #require(rules.flight(driver.feed(.arrived(row.started()), at: 5_000)))
        _ = driver.feed(.granted(.fetch, id), at: 5_000)
        #expect(rules.kinds(driver.feed(.failed(id, Self.down), at: 5_000)) == [.dead])
    }

    @Test(
        "A fast job whose origin has been at fault for as long as retry.retryFor.fast says goes on as slow, and its record stays fast",
        arguments: [(4_999, Lane.fast), (5_000, .slow)] as [(Moment, Lane)])
    func goesOnAsSlow(failing: Moment, lane: Lane) throws {
        var policy = RetryPolicy(attempts: 0, base: 60_000, cap: 60_000)
        policy.retryForFast = 5_000
        var driver = PartitionStateTests.Driver(retry: policy)
        let template = driver.pending("j", source, [PartitionStateTests.small])
        let effects = driver.feed(
            .arrived(PendingJob(job: template.job, record: template.record, firstSeen: 0, failingSince: 0)), at: failing
        )
        let lanes = effects.compactMap { effect -> Lane? in
            if case .permit(.request(.fetch, _, let lane, _, _, _)) = effect { lane } else { nil }
        }
        #expect(lanes == [lane])
        let id = try #require(rules.flight(effects))
        let row = try #require(rules.parked(driver.feed(.held(id, Self.hold), at: failing)).first)
        #expect(row.parking.worksAs == lane && row.pending.job.lane == .fast)
    }

    @Test("What is owed ends with its own time, and is owed again after that")
    func overdue() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60, stale-if-error=99999999")])
        let specs = [PartitionStateTests.small]
        let first = try #require(outcome(try failing(job(&driver, "1", specs, .stale), &driver, at: 61_000)))
        let scheduled = try #require(first.pendingRefresh)
        let end = try #require(scheduled.job.expires)
        let before = try #require(outcome(try failing(job(&driver, "2", specs, .stale), &driver, at: Moment(end) - 1)))
        #expect(before.outcome.kind == .stale && before.pendingRefresh == nil)
        let again = PendingJob(job: scheduled.job, record: driver.pending("r", source, specs, topic: .parked).record)
        #expect(rules.kinds(driver.feed(.arrived(again), at: Moment(end))) == [.expired])
        let after = try #require(outcome(try failing(job(&driver, "3", specs, .stale), &driver, at: Moment(end))))
        #expect(after.pendingRefresh != nil && after.pendingRefresh?.job.id != scheduled.job.id)
    }

    @Test("A job that is done again after a kill owes by the same id, and another one by another")
    func sameRefresh() throws {
        let specs = [PartitionStateTests.small]
        var ids: [String] = []
        for number in [0, 0, 1] {
            // Another owner, which knows of no pending refresh.
            var driver = PartitionStateTests.Driver()
            driver.stored = try stored([("cache-control", "max-age=60")])
            for _ in 0..<number { _ = driver.pending("before", source, specs) }
            let pending = job(&driver, "j", specs, .stale)
            let end = try #require(outcome(try failing(pending, &driver, at: 61_000 + .milliseconds(ids.count))))
            ids.append(try #require(end.pendingRefresh).job.id)
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
            let pendingRefresh = own(
                driver.pending("r", source, [PartitionStateTests.small], topic: .parked), Job.staleRefreshPrefix)
            let id = try #require(rules.flight(driver.feed(.arrived(pendingRefresh), at: 61_000)))
            if isBegun { _ = driver.feed(.granted(.fetch, id), at: 61_000) }
            let left = driver.feed(.leaving, at: 61_000)
            #expect(rules.settled(left).isEmpty && driver.state.isUnderWay == isBegun)
            guard isBegun else { continue }
            _ = driver.feed(.notModified(id, ResponseHead()), at: 61_000)
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
    func refreshIsNotPending() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60, stale-while-revalidate=600")])
        let specs = [PartitionStateTests.small]
        let first = try #require(outcome(driver.feed(.arrived(job(&driver, "1", specs, .stale)), at: 61_000)))
        #expect(first.outcome.kind == .unchanged && first.pendingRefresh?.job.isStaleRefresh == false)
        let pending = job(&driver, "2", specs, .stale)
        var forced = pending.job
        forced.freshness = .force
        let asking = PendingJob(job: forced, record: pending.record)
        let second = try #require(outcome(try failing(asking, &driver, at: 62_000)))
        #expect(second.outcome.kind == .stale && second.pendingRefresh?.job.isStaleRefresh == true)
        // That one refreshes, too.
        let third = try #require(outcome(driver.feed(.arrived(job(&driver, "3", specs, .stale)), at: 63_000)))
        #expect(third.outcome.kind == .unchanged && third.pendingRefresh == nil)
    }

    @Test("A forced job that was answered by what is stored owes a forced one: it asks though that be fresh")
    func forcedRefresh() throws {
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
        #expect(plain.pendingRefresh?.job.freshness == .ifStale)
        // A pending refresh that another job's fetch would pay does not stand for it.
        let first = try #require(outcome(try failing(forced("2", &driver), &driver, at: 61_001)))
        let scheduled = try #require(first.pendingRefresh).job
        #expect(scheduled.freshness == .force && scheduled.isStaleRefresh && scheduled.fallback == .stale)
        // One that is known stands for all.
        for again in [forced("3", &driver), job(&driver, "4", specs, .stale)] {
            let other = try #require(outcome(try failing(again, &driver, at: 61_002)))
            #expect(other.outcome.kind == .stale && other.pendingRefresh == nil)
        }
        driver.stored = try stored([("cache-control", "max-age=600000")])
        // A plain one that is done pays none that is forced.
        let plainJob = try #require(plain.pendingRefresh).job
        _ = driver.feed(
            .arrived(PendingJob(job: plainJob, record: driver.pending("5", source, specs).record)), at: 150_000)
        #expect(try #require(outcome(try failing(forced("6", &driver), &driver, at: 150_001))).pendingRefresh == nil)
        let paying = PendingJob(job: scheduled, record: driver.pending("7", source, specs).record)
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
            return try #require(outcome(try failing(asking, &driver, at: now))).pendingRefresh != nil
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
