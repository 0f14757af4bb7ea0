import Canonical
import Clocks
import Digest
import Failures
import HTTPCache
import Hosts
import ImageModel
import Images
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

@Suite("A partition's rules: what an origin confirms", .timeLimit(.minutes(1)))
struct CachingTests {
    let rules = PartitionStateTests()
    var source: SourceKey { rules.source }

    func head(_ fields: [(String, String)]) -> ResponseHead {
        var head = ResponseHead()
        head.fields = ResponseFields(fields.map { (name: $0.0, value: $0.1) })
        return head
    }

    func picture(_ bytes: [UInt8], _ fields: [(String, String)]) -> FetchedPicture {
        let picture = FetchedPicture(bytes)
        let source = FetchedSource(body: picture.source.body, digest: picture.source.digest, head: head(fields))
        return FetchedPicture(source: source, picture: picture.picture)
    }

    /// A source with two variants, as a fetch at 0 left them.
    func stored(_ fields: [(String, String)]) throws -> SourceSnapshot {
        var driver = PartitionStateTests.Driver()
        let job = driver.pending("first", source, [PartitionStateTests.large, PartitionStateTests.small])
        let id = try #require(rules.flight(driver.feed(.arrived(job))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, picture([1], fields)))
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id))))
        return SourceSnapshot(source: task.fetched?.row, variants: rules.rows(task))
    }

    func request(_ effects: [JobEffect]) -> FetchRequest? {
        for case .work(.fetch(_, let request)) in effects { return request }
        return nil
    }

    @Test(
        "Rows of a clock that was ahead are fresh no longer, are confirmed once, and stand in while the origin fails",
        arguments: [(.zero, false), (.hours(1), false), (.hours(3), true), (.days(20), true), (.days(400), true)]
            as [(Duration, Bool)])
    func future(ahead: Duration, isAsked: Bool) throws {
        let now: Moment = 0 + .days(1_000)
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=600")])
        let (fetchedAt, expires) = (now.wall + ahead, now.wall + ahead + 600_000)
        driver.stored.source?.fetchedAt = fetchedAt
        driver.stored.source?.expires = expires
        for place in driver.stored.variants.indices {
            driver.stored.variants[place].storedAt = fetchedAt
            driver.stored.variants[place].expires = expires
        }
        let job = driver.pending("again", source, [PartitionStateTests.small])
        let effects = driver.feed(.arrived(job), at: now)
        guard isAsked else {
            #expect(rules.kinds(effects) == [.unchanged])
            return
        }
        let id = try #require(rules.flight(effects))
        #expect(request(driver.feed(.granted(.fetch, id), at: now))?.known?.etag == "\"a\"")
        _ = driver.feed(.notModified(id, head([("cache-control", "max-age=600")])), at: now)
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: now)))
        #expect(task.batch == nil && task.renewed.map(\.expires) == [now.wall + 600_000, now.wall + 600_000])
        #expect(task.fetched?.row.fetchedAt == now.wall)
        // The next job believes what was renewed: it asks nobody.
        var next = PartitionStateTests.Driver()
        next.stored = driver.stored
        next.stored.source = task.fetched?.row
        next.stored.variants = task.renewed
        let after = next.pending("after", source, [PartitionStateTests.small])
        #expect(rules.kinds(next.feed(.arrived(after), at: now + 1)) == [.unchanged])
    }

    @Test("Times beyond the largest lifetime are of such a clock, too, though the row seems old")
    func beyondLifetime() throws {
        var rules = FreshnessRules()
        rules.ceiling = .days(30)
        #expect(!rules.isBeyond(stored: 0, expires: .epoch + .days(30), at: 0))
        #expect(rules.isBeyond(stored: 0, expires: .epoch + .days(31), at: 0))
        rules.floor = .days(40)
        #expect(!rules.isBeyond(stored: 0, expires: .epoch + .days(40), at: 0))
        #expect(!rules.isBeyond(stored: .distantFuture, expires: .distantFuture, at: .distantFuture))
    }

    @Test("A yes renews every row of the source, without a render, and answers what it was asked for")
    func confirmed() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=60")])
        #expect(driver.stored.variants.map(\.expires) == [60_000, 60_000])
        let job = driver.pending("again", source, [PartitionStateTests.small])
        #expect(rules.kinds(driver.feed(.arrived(job), at: 59_999)) == [.unchanged])

        let late = driver.pending("late", source, [PartitionStateTests.small])
        let id = try #require(rules.flight(driver.feed(.arrived(late), at: 60_000)))
        let known = try #require(request(driver.feed(.granted(.fetch, id), at: 60_000))?.known)
        #expect(known.etag == "\"a\"")
        _ = driver.feed(.notModified(id, head([("cache-control", "max-age=90")])), at: 61_000)
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 61_000)))
        #expect(task.batch == nil && task.isReuse && task.renewed.count == 2)
        #expect(task.renewed.allSatisfy { $0.expires == 151_000 && $0.storedAt == 0 })
        let row = try #require(task.fetched?.row)
        #expect(row.expires == 151_000 && row.fetchedAt == 61_000 && row.policy.etag == "\"a\"")
        _ = driver.feed(.rendered(id))
        _ = driver.feed(.announced(id, original: nil, rows: [], position: 9), at: 61_000)
        #expect(rules.kinds(driver.feed(.folded(9), at: 61_000)) == [.unchanged])
    }

    @Test("Where a yes would not be enough, the whole is asked for")
    func body() throws {
        let other = VariantSpec(width: 999, height: 999, format: .png)
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "no-cache")])
        let job = driver.pending("other", source, [PartitionStateTests.small, other])
        let id = try #require(rules.flight(driver.feed(.arrived(job))))
        #expect(try #require(request(driver.feed(.granted(.fetch, id)))).known == nil)
    }

    @Test("What a job that joined lacks is fetched after the yes")
    func joined() throws {
        let other = VariantSpec(width: 999, height: 999, format: .png)
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "no-cache")])
        let first = driver.pending("first", source, [PartitionStateTests.small])
        let id = try #require(rules.flight(driver.feed(.arrived(first))))
        #expect(try #require(request(driver.feed(.granted(.fetch, id)))).known != nil)
        _ = driver.feed(.arrived(driver.pending("second", source, [other])))
        _ = driver.feed(.notModified(id, head([])))
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id))))
        #expect(task.batch == nil)
        _ = driver.feed(.rendered(id))
        _ = driver.feed(.announced(id, original: nil, rows: [], position: 0))
        #expect(try #require(request(driver.feed(.granted(.fetch, id)))).known == nil)
        _ = driver.feed(.fetched(id, picture([1], [("etag", "\"a\"")])))
        let render = try #require(rules.renderTask(driver.feed(.granted(.render, id))))
        #expect(render.batch?.orders.map(\.spec) == [other] && !render.isReuse)
    }

    @Test("What may not be stored is asked for anew by each job, and its original is not kept")
    func noStore() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "no-store, max-age=60")])
        #expect(driver.stored.source?.mayKeepOriginal == false)
        let id = try #require(
            rules.flight(driver.feed(.arrived(driver.pending("j", source, [PartitionStateTests.small])))))
        #expect(try #require(request(driver.feed(.granted(.fetch, id)))).known == nil)
    }

    @Test("A group of hosts has a floor and a ceiling of its own, for what is fetched and for what is confirmed")
    func group() throws {
        func expires(_ fields: [(String, String)], _ limits: OriginRules.GroupLimits) throws -> [WallTime] {
            var driver = PartitionStateTests.Driver(limits: limits)
            let job = driver.pending("one", source, [PartitionStateTests.large])
            let id = try #require(rules.flight(driver.feed(.arrived(job))))
            _ = driver.feed(.granted(.fetch, id))
            _ = driver.feed(.fetched(id, picture([1], fields)))
            let fetched = try #require(rules.renderTask(driver.feed(.granted(.render, id)))).fetched?.row
            driver = PartitionStateTests.Driver(limits: limits)
            driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=0")])
            let again = try #require(rules.flight(driver.feed(.arrived(job), at: 1)))
            _ = driver.feed(.granted(.fetch, again), at: 1)
            _ = driver.feed(.notModified(again, head(fields)), at: 1)
            let confirmed = try #require(rules.renderTask(driver.feed(.granted(.render, again), at: 1))).fetched?.row
            return [fetched?.expires ?? -1, (confirmed?.expires ?? 0) - 1]
        }
        var limits = OriginRules.GroupLimits()
        #expect(try expires([("cache-control", "max-age=60")], limits) == [60_000, 60_000])
        (limits.floor, limits.ceiling) = (90_000, 200_000)
        // Each source by its own part of a tenth.
        let part = Duration.milliseconds(Int64(10_000 * source.place))
        func isNear(_ time: WallTime, _ other: Duration) -> Bool {
            (time - other - 8...time - other + 8).contains(.epoch)
        }
        #expect(
            try expires([("cache-control", "max-age=60")], limits).allSatisfy { isNear($0, 90_000 + part * 9 / 10) })
        #expect(
            try expires([("cache-control", "max-age=600")], limits).allSatisfy { isNear($0, 200_000 - part * 2) })
        // Where nothing is said, too.
        #expect(try isNear(expires([], limits)[0], 200_000 - part * 2))
    }

    @Test("A job that says force has its source asked for though it is fresh; one that says cacheOnly never does")
    func freshness() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=60")])
        func job(_ id: String, _ spec: VariantSpec, _ freshness: JobFreshness) -> PendingJob {
            let pending = driver.pending(id, source, [spec])
            var job = pending.job
            job.freshness = freshness
            job.fallback = .none
            return PendingJob(job: job, record: pending.record)
        }
        #expect(rules.kinds(driver.feed(.arrived(job("1", PartitionStateTests.small, .cacheOnly)))) == [.unchanged])
        let late = driver.feed(.arrived(job("2", PartitionStateTests.small, .cacheOnly)), at: 60_000)
        #expect(rules.kinds(late) == [.failed] && rules.flight(late) == nil)

        let id = try #require(rules.flight(driver.feed(.arrived(job("3", PartitionStateTests.small, .force)))))
        #expect(try #require(request(driver.feed(.granted(.fetch, id)))).known?.etag == "\"a\"")
        // What is asked already may tell of a time before the job.
        #expect(driver.feed(.arrived(job("4", PartitionStateTests.small, .force))).isEmpty)
        _ = driver.feed(.notModified(id, head([])))
        _ = driver.feed(.granted(.render, id))
        _ = driver.feed(.rendered(id))
        let ended = driver.feed(.announced(id, original: nil, rows: [], position: 0))
        #expect(rules.kinds(ended) == [.unchanged])
        #expect(rules.flight(ended) != nil)
    }

    /// What a fetch at a time asks of a source that is no picture; nil where its job was answered without one.
    private func ask(
        _ driver: inout PartitionStateTests.Driver, at now: Moment, freshness: JobFreshness = .ifStale
    ) -> (flight: FlightID, request: FetchRequest)? {
        let pending = driver.pending("\(now.wall.milliseconds)", source, [PartitionStateTests.small])
        var job = pending.job
        (job.freshness, job.fallback) = (freshness, .none)
        let asked = driver.feed(.arrived(PendingJob(job: job, record: pending.record)), at: now)
        guard let id = rules.flight(asked), let request = request(driver.feed(.granted(.fetch, id), at: now)) else {
            #expect(rules.settled(asked).compactMap { $0.outcome?.failure } == [FailureNote(Self.noPicture)])
            return nil
        }
        return (id, request)
    }

    private static let noPicture = RenderFailure.malformed(.jpeg, reason: "it is none")

    @Test(
        "What is no picture is asked for by its validators once that was remembered for long enough, and a yes is an answer"
    )
    func refused() throws {
        var driver = PartitionStateTests.Driver()
        // A picture that was there before is not what is asked about.
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=1")])
        let first = try #require(ask(&driver, at: 60_000))
        #expect(first.request.known?.etag == "\"a\"")
        let text = head([("etag", "\"t\""), ("last-modified", "Thu, 01 Jan 1970 00:00:01 GMT")])
        let ended = driver.feed(.unfetched(first.flight, Unfetched(Self.noPicture, of: text, at: 60_000)), at: 60_000)
        #expect(rules.kinds(ended) == [.failed])
        #expect(ask(&driver, at: 659_999) == nil)

        let second = try #require(ask(&driver, at: 660_000))
        // Not by the date: the picture may come back with an older one.
        #expect(second.request.known?.conditions.map(\.value) == ["\"t\""])
        let confirmed = driver.feed(.notModified(second.flight, head([("etag", "W/\"t\"")])), at: 660_000)
        #expect(rules.settled(confirmed).compactMap { $0.outcome?.failure } == [FailureNote(Self.noPicture)])
        let isUnderWay = driver.state.hasFlights
        #expect(!isUnderWay)
        // Twice as long the second time, and by what the origin said last.
        #expect(ask(&driver, at: 1_859_999) == nil)
        let third = try #require(ask(&driver, at: 1_860_000, freshness: .force))
        #expect(third.request.known?.etag == "W/\"t\"")
        _ = driver.feed(.fetched(third.flight, picture([2], [("etag", "\"b\"")])), at: 1_860_000)
        _ = driver.feed(.failed(third.flight, FailureNote(FetchFailure.status(url: "http://o/a", 404))), at: 1_860_000)
        // It has been a picture since, so that is asked about again.
        let last = try #require(ask(&driver, at: 1_860_001))
        #expect(last.request.known?.etag == "\"a\"")
    }

    @Test("A job that says force asks by them, too, and what is not there has none")
    func refusedByForce() throws {
        var driver = PartitionStateTests.Driver()
        let report = Unfetched(Self.noPicture, of: head([("etag", "\"t\"")]), at: 0)
        let first = try #require(ask(&driver, at: 0))
        _ = driver.feed(.unfetched(first.flight, report))
        let second = try #require(ask(&driver, at: 1, freshness: .force))
        #expect(second.request.known?.etag == "\"t\"")
        _ = driver.feed(.unfetched(second.flight, Unfetched(FetchFailure.status(url: "http://o/a", 404))), at: 1)
        #expect(try #require(ask(&driver, at: 2, freshness: .force)).request.known == nil)
    }

    @Test(
        "What no request should carry, or too few could, is not kept",
        arguments: [
            [("etag", "\"t\""), ("cache-control", "no-store")], [("etag", String(repeating: "t", count: 600))], [],
            [("last-modified", "Thu, 01 Jan 1970 00:00:01 GMT")],
        ])
    func withoutValidators(fields: [(String, String)]) throws {
        var driver = PartitionStateTests.Driver()
        let first = try #require(ask(&driver, at: 0))
        _ = driver.feed(.unfetched(first.flight, Unfetched(Self.noPicture, of: head(fields), at: 0)))
        #expect(try #require(ask(&driver, at: 600_000)).request.known == nil)
    }
}
