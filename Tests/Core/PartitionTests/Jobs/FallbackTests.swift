import Canonical
import Clocks
import Digest
import Failures
import Hosts
import ImageModel
import Jobs
internal import Ledger
import Partition
import Permits
import Planning
import Ports
import Positions
import Records
import TestSupport
import Testing
import VariantSpec

/// What answers while an origin is down.
extension CachingTests {
    static let down = FailureNote(code: "fetch.server-error", message: "503", verdict: .retry)
    static func days(_ count: Int) -> Moment { 0 + .days(count) }

    func job(
        _ driver: inout PartitionStateTests.Driver, _ id: String, _ specs: [VariantSpec], _ fallback: JobFallback,
        attempts: Int = 0
    ) -> PendingJob {
        let pending = driver.pending(id, source, specs, attempts: attempts)
        var job = pending.job
        job.fallback = fallback
        return PendingJob(job: job, record: pending.record, attempts: attempts)
    }

    /// What becomes of a job whose origin fails so.
    func failing(
        _ pending: PendingJob, _ driver: inout PartitionStateTests.Driver, _ note: FailureNote = down, at now: Moment
    ) throws -> [JobEffect] {
        let id = try #require(rules.flight(driver.feed(.arrived(pending), at: now)))
        _ = driver.feed(.granted(.fetch, id), at: now)
        return driver.feed(.failed(id, note), at: now)
    }

    func outcome(_ effects: [JobEffect]) -> (outcome: Outcome, pendingRefresh: PendingRefresh?)? {
        for disposition in rules.settled(effects) {
            switch disposition {
            case .outcome(let outcome), .paid(let outcome), .changed(_, _, let outcome): return (outcome, nil)
            case .refreshing(let outcome, let pendingRefresh): return (outcome, pendingRefresh)
            case .park, .unpark, .move, .control, .rekey, .dead: continue
            }
        }
        return nil
    }

    @Test(
        "What is stale answers while its origin is down, as long as that, the settings and the job let it",
        arguments: [
            ("max-age=60", JobFallback.stale, "fetch.server-error", days(6), true),
            ("max-age=60", .degraded, "fetch.deadline", days(6), true),
            ("max-age=60", .none, "fetch.server-error", days(6), false),
            ("max-age=60", .stale, "fetch.server-error", days(8), false),
            ("max-age=60, stale-if-error=9999999", .stale, "fetch.connection", days(8), true),
            ("max-age=60, stale-if-error=60", .stale, "fetch.connection", 121_000, false),
            ("max-age=60, must-revalidate", .stale, "fetch.server-error", 61_000, false),
            ("no-cache", .stale, "fetch.server-error", 1, false), ("no-store", .stale, "fetch.server-error", 1, false),
            ("max-age=60", .stale, "render.crashed", days(6), false),
            ("max-age=60", .stale, "fetch.refused-name", days(6), true),
            ("max-age=60", .stale, "retry.host-blocked", days(6), true),
            ("max-age=60", .stale, "fetch.forbidden", days(6), false),
        ])
    func stale(_ control: String, _ fallback: JobFallback, _ code: String, at now: Moment, answers: Bool) throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", control)])
        let pending = job(&driver, "j", [PartitionStateTests.small], fallback)
        let note = FailureNote(code: code, message: "m", verdict: .retry)
        let effects = try failing(pending, &driver, note, at: now)
        guard answers else { return #expect(outcome(effects) == nil && rules.putOff(effects).count == 1) }
        let (end, pendingRefresh) = try #require(outcome(effects))
        #expect(end.kind == .stale && end.failure == note && end.variants.map(\.kind) == [.stale])
        #expect(end.variants.first?.row == driver.stored.variants.last)
        let scheduled = try #require(pendingRefresh)
        #expect(
            scheduled.job.isStaleRefresh && scheduled.job.lane == .slow && scheduled.notBefore >= now.wall + 60_000)
        let body = String(decoding: scheduled.job.body, as: UTF8.self)
        #expect(!body.contains("fallback") && !body.contains("freshness") && !body.contains("retryFor"))
        #expect(scheduled.job.variants == [PartitionStateTests.small])
    }

    @Test("What is gone for good is not answered by what was there")
    func gone() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        let note = FailureNote(code: "fetch.not-found", message: "404", verdict: .fail)
        let effects = try failing(job(&driver, "j", [PartitionStateTests.small], .degraded), &driver, note, at: 61_000)
        #expect(rules.kinds(effects) == [.failed])
    }

    @Test("The nearest one that shows all that is wanted stands in, with its own size, if the job says so")
    func degraded() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        // 1280 wide and 160 by 160 are stored: only the large one shows the whole.
        let wanted = VariantSpec(width: 1600, height: 1600, format: .webp)
        let refused = try failing(job(&driver, "1", [wanted], .stale), &driver, at: 61_000)
        #expect(outcome(refused) == nil)
        let effects = try failing(
            job(&driver, "2", [PartitionStateTests.small, wanted], .degraded), &driver, at: 61_000)
        let end = try #require(outcome(effects)).outcome
        #expect(end.kind == .degraded && end.variants.map(\.kind) == [.stale, .degraded])
        #expect(end.variants.last?.spec == wanted && end.variants.last?.row?.spec == PartitionStateTests.large)
    }

    /// `200x200-wmlogo.png` was once answered by `200x200.png`: a picture without its mark.
    @Test(
        "What is burned into a picture stands in for the same alone",
        arguments: [
            ("200x200-wmlogo.png", "200x200.png", false), ("200x200.png", "200x200-wmlogo.png", false),
            ("200x200-wmlogo.png", "400x400-wmlogo.png", true), ("200x200-wmlogo.png", "400x400-wmother.png", false),
            ("200x200-blur5.png", "200x200.png", false), ("200x200-blur5.png", "200x200-blur9.png", false),
            ("200x200-bgff0000.png", "200x200.png", false), ("200x200-trim.png", "200x200.png", false),
            ("200x200-profile.png", "200x200.png", false), ("200x200.png", "400x400.png", true),
            ("200x200-upto9000.webp", "400x400.png", true),
        ])
    func burnedIn(_ wanted: String, _ stored: String, answers: Bool) throws {
        let (wanted, kept) = (try VariantSpec(wanted), try VariantSpec(stored))
        var driver = PartitionStateTests.Driver()
        let first = driver.pending("first", source, [kept])
        let id = try #require(rules.flight(driver.feed(.arrived(first))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, picture([1], [("cache-control", "max-age=60")])))
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id))))
        driver = PartitionStateTests.Driver()
        driver.stored = SourceSnapshot(source: task.fetched?.row, variants: rules.rows(task))
        let effects = try failing(job(&driver, "j", [wanted], .degraded), &driver, at: 61_000)
        #expect(outcome(effects)?.outcome.kind == (answers ? .degraded : nil))
    }

    @Test("A debt is recorded once for a source, costs no attempts, and is paid when the origin is back")
    func pendingRefresh() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=60")])
        let specs = [PartitionStateTests.small]
        let first = try #require(outcome(try failing(job(&driver, "1", specs, .stale), &driver, at: 61_000)))
        let second = try #require(outcome(try failing(job(&driver, "2", specs, .stale), &driver, at: 61_001)))
        let scheduled = try #require(first.pendingRefresh).job
        #expect(second.pendingRefresh == nil && second.outcome.kind == .stale)

        func again(attempts: Int, failingSince: WallTime? = nil) -> PendingJob {
            let record = driver.pending("r", source, specs, lane: .slow, topic: .parked).record
            return PendingJob(
                job: scheduled, record: record, attempts: attempts, firstSeen: 61_000, failingSince: failingSince)
        }
        // More often than retry.attempts allows.
        let later = try failing(again(attempts: 0), &driver, at: 200_000)
        let next = try #require(rules.parked(later).first).pending
        #expect(next.attempts == 0 && next.notBefore > 200_000 && next.failingSince == 200_000)
        // The host's state is told of a second try, though the job has no attempts.
        let tried = again(attempts: 0, failingSince: 200_000)
        let flight = try #require(rules.flight(driver.feed(.arrived(tried), at: 300_000)))
        _ = driver.feed(.granted(.fetch, flight), at: 300_000)
        let told = driver.feed(.unfetched(flight, Unfetched(Self.down, .failed)), at: 300_000)
        #expect(
            told.contains {
                if case .permit(.hear(.failed, flight, _, failingSince: 200_000)) = $0 { true } else { false }
            })

        let paying = again(attempts: 0)
        let id = try #require(rules.flight(driver.feed(.arrived(paying), at: 400_000)))
        _ = driver.feed(.granted(.fetch, id), at: 400_000)
        _ = driver.feed(.notModified(id, ResponseHead()), at: 400_000)
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 400_000)))
        _ = driver.feed(.rendered(id), at: 400_000)
        let paid = driver.feed(.announced(id, original: nil, rows: [], position: 0), at: 400_000)
        let end = try #require(outcome(paid)).outcome
        #expect(end.kind == .unchanged && task.renewed.count == 2)
        let events = end.refreshed(partition: PartitionID(0))
        #expect(events.count == 1 && events.first?.topic == .events)
        // Another pending refresh of the same, of an owner that did not know of this one.
        let record = driver.pending("r", source, specs, lane: .slow, topic: .parked).record
        var twice = scheduled
        twice.id += "-again"
        driver.stored = SourceSnapshot(source: task.fetched?.row, variants: task.renewed)
        let nothing = try #require(outcome(driver.feed(.arrived(PendingJob(job: twice, record: record)), at: 400_001)))
        #expect(nothing.outcome.kind == .unchanged)
        #expect(
            nothing.outcome.refreshed(partition: PartitionID(0)).map { $0.headers[EventHeader.id] }
                == events.map { $0.headers[EventHeader.id] })
        // The next outage is another pending refresh.
        let third = try #require(outcome(try failing(job(&driver, "3", specs, .stale), &driver, at: 461_000)))
        #expect(third.pendingRefresh != nil)
    }

    @Test("Who is answered by other variants is owed those, and each is owed once")
    func variants() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("etag", "\"a\""), ("cache-control", "max-age=60")])
        let (small, large) = (PartitionStateTests.small, PartitionStateTests.large)
        func pendingRefresh(_ id: String, _ specs: [VariantSpec], at now: Moment) throws -> Job? {
            try #require(outcome(try failing(job(&driver, id, specs, .stale), &driver, at: now))).pendingRefresh?.job
        }
        let first = try #require(try pendingRefresh("1", [small], at: 61_000))
        let second = try #require(try pendingRefresh("2", [small, large], at: 61_001))
        #expect(first.variants == [small] && second.variants == [large] && first.id != second.id)
        #expect(try pendingRefresh("3", [large, small], at: 61_002) == nil)
        // One is paid: the other one is owed as it was.
        let record = driver.pending("r", source, [small], lane: .slow, topic: .parked).record
        let id = try #require(rules.flight(driver.feed(.arrived(PendingJob(job: first, record: record)), at: 200_000)))
        _ = driver.feed(.granted(.fetch, id), at: 200_000)
        _ = driver.feed(.notModified(id, ResponseHead()), at: 200_000)
        _ = driver.feed(.granted(.render, id), at: 200_000)
        _ = driver.feed(.rendered(id), at: 200_000)
        #expect(
            outcome(driver.feed(.announced(id, original: nil, rows: [], position: 0), at: 200_000))?.outcome.kind
                == .unchanged)
        #expect(try pendingRefresh("4", [large], at: 261_000) == nil)
        #expect(try pendingRefresh("5", [small], at: 261_001)?.variants == [small])
    }

    @Test("While it is asked for again, what an origin lets stand in answers at once; a job of ours asks")
    func whileRevalidating() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60, stale-while-revalidate=30")])
        let specs = [PartitionStateTests.small]
        let effects = driver.feed(.arrived(driver.pending("1", source, specs)), at: 70_000)
        let (complete, pendingRefresh) = try #require(outcome(effects))
        #expect(complete.kind == .unchanged && complete.failure == nil && rules.flight(effects) == nil)
        let refresh = try #require(pendingRefresh)
        #expect((130_000...190_000).contains(refresh.notBefore) && refresh.job.isOwn && !refresh.job.isStaleRefresh)
        let second = try #require(outcome(driver.feed(.arrived(driver.pending("2", source, specs)), at: 70_001)))
        #expect(second.outcome.kind == .unchanged && second.pendingRefresh == nil)
        let record = driver.pending("r", source, specs, lane: .slow, topic: .parked).record
        let asking = PendingJob(job: refresh.job, record: record)
        #expect(rules.flight(driver.feed(.arrived(asking), at: 71_000)) != nil)
        let late = driver.pending("3", SourceKey(source.digest), specs)
        #expect(outcome(driver.feed(.arrived(late), at: 91_000)) == nil)
    }

    /// All were once requested within a moment.
    @Test("The refreshes of jobs that were completed in a burst are spread through a minute", arguments: [false, true])
    func spread(isDown: Bool) throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60, stale-while-revalidate=600")])
        let start: Moment = isDown ? 700_000 : 70_000
        var waits: [Duration] = []
        for number in 0..<40 {
            let asking = driver.pending("\(number)", .numbered(number), [PartitionStateTests.small])
            let effects =
                isDown
                ? try failing(asking, &driver, at: start) : driver.feed(.arrived(asking), at: start)
            let pendingRefresh = try #require(outcome(effects)?.pendingRefresh)
            #expect(
                pendingRefresh.parking
                    == Parking(OriginHost(of: "http://o/"), worksAs: .slow, ends: pendingRefresh.job.expires))
            waits.append(pendingRefresh.notBefore - start.wall)
        }
        #expect(waits.allSatisfy { (60_000...120_000).contains($0) })
        let most = Dictionary(grouping: waits) { $0.milliseconds / 10_000 }.values.map(\.count).max() ?? 40
        #expect(most <= 15, "\(waits)")
    }

    @Test("A job that wants what is stored alone takes what is stale, where it lets that answer")
    func cacheOnly() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60")])
        for (fallback, kind) in [(JobFallback.none, OutcomeKind.failed), (.stale, .stale)] {
            let pending = job(&driver, "j", [PartitionStateTests.small], fallback)
            var own = pending.job
            own.freshness = .cacheOnly
            let effects = driver.feed(.arrived(PendingJob(job: own, record: pending.record)), at: 61_000)
            let (complete, pendingRefresh) = try #require(outcome(effects))
            #expect(complete.kind == kind && complete.failure?.code == "cache.not-stored" && pendingRefresh == nil)
        }
    }
}
