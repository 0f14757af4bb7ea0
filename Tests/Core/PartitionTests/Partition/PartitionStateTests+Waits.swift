import Canonical
import Clocks
import Digest
import Failures
import ImageModel
import Images
import Jobs
import Ledger
import Partition
import Permits
import Planning
import Positions
import Records
import TestSupport
import Testing
import VariantSpec

/// Jobs that return: rows of `parked`.
extension PartitionStateTests {
    private static let refusal = FailureNote(code: "fetch.server-error", message: "503", verdict: .retry)

    private func fail(_ driver: inout Driver, _ id: FlightID, _ note: FailureNote = refusal, at now: Moment) -> [JobEffect] {
        _ = driver.feed(.granted(.fetch, id), at: now)
        return driver.feed(.failed(id, note), at: now)
    }

    @Test(
        "A failed job is parked with its attempts, its times and the cause; only an origin's fault ends it by time",
        arguments: [
            ("fetch.server-error", Verdict.retry, nil, attempts: 1, failingSince: 5_000, heldSince: nil, ends: 86_405_000),
            ("fetch.server-error", .retry, 9_000, 1, 5_000, nil, 9_000), ("render.crashed", .retry, nil, 1, nil, nil, nil),
            ("render.crashed", .retry, 9_000, 1, nil, nil, 9_000), ("store.full", .wait, nil, 0, nil, 5_000, nil),
        ] as [(String, Verdict, WallTime?, attempts: Int, failingSince: WallTime?, heldSince: WallTime?, ends: WallTime?)])
    func parkedFailure(
        code: String, verdict: Verdict, expires: WallTime?, attempts: Int, failingSince: WallTime?, heldSince: WallTime?,
        ends: WallTime?
    ) throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("j", source, [Self.large], expires: expires)))))
        let note = FailureNote(code: code, message: "m", verdict: verdict)
        let effects = fail(&driver, id, note, at: 5_000)
        let row = try #require(parked(effects).first)
        #expect(row.cause == note && row.parking == Parking(OriginHost(of: "http://o/"), worksAs: .fast, ends: ends))
        let known = row.pending
        #expect((known.attempts, known.firstSeen) == (attempts, 0) && (5_050...5_100).contains(known.notBefore))
        #expect((known.failingSince, known.heldSince) == (failingSince, heldSince))
        // The job is in one place.
        #expect(putOff(effects).count == 1 && settled(effects).count == 1 && !driver.state.hasFlights)
    }

    @Test("A started job is looked up at once, and its attempts go on until the last one ends it")
    func attempts() throws {
        var driver = Driver()
        var pending = driver.pending("j", source, [Self.large])
        for attempt in 1...2 {
            let now = Moment(WallTime(attempt * 1_000))
            let id = try #require(flight(driver.feed(.arrived(pending), at: now)))
            let row = try #require(parked(fail(&driver, id, at: now)).first)
            #expect(row.pending.attempts == attempt && row.pending.failingSince == 1_000)
            // The index decides when it starts, whatever this clock says of its time.
            #expect(row.pending.notBefore > now.wall)
            _ = driver.feed(.acknowledged([pending.place]), at: now)
            pending = row.started(offset: Int64(attempt))
        }
        let last = try #require(flight(driver.feed(.arrived(pending), at: 2_000)))
        #expect(kinds(fail(&driver, last, at: 2_000)) == [.dead])
        // Only the lane has a position, which the first row finished.
        #expect(driver.state.progress(.jobsFast) == TopicProgress(next: 1) && driver.state.progress(.parked) == nil)
    }

    @Test(
        "A job of an old retry topic is parked until it is due, without an attempt; within a second of that it starts",
        arguments: [
            (Topic.retry, 700_000, true), (.retry10s, 1_001, true), (.retry10s, 1_000, false), (.retry1h, 0, false),
        ] as [(Topic, WallTime, Bool)])
    func oldTopics(topic: Topic, notBefore: WallTime, isParked: Bool) throws {
        var driver = Driver()
        let pending = driver.pending("j", source, [Self.large], topic: topic, attempts: 1, notBefore: notBefore)
        let effects = driver.feed(.arrived(pending), at: 0)
        #expect((flight(effects) == nil) == isParked && putOff(effects).isEmpty)
        guard let row = parked(effects).first else { return #expect(!isParked) }
        #expect(row.cause.code == "retry.deferred" && row.pending.attempts == 1 && row.pending.notBefore == notBefore)
        #expect(row.parking.ends == nil)
        _ = driver.feed(.acknowledged([pending.place]))
        #expect(driver.state.progress(topic)?.next == 1)
    }

    @Test("A flight is as old as its oldest job was when it was first seen")
    func age() throws {
        var driver = Driver()
        func started(_ id: String, firstSeen: WallTime) -> PendingJob {
            let new = driver.pending(id, source, [Self.large], lane: .slow, topic: .parked)
            return PendingJob(job: new.job, record: new.record, attempts: 1, firstSeen: firstSeen)
        }
        let first = driver.feed(.arrived(started("j", firstSeen: 1_000)), at: 150_000).first
        guard case .permit(.request(_, let id, _, since: 1_000, _, _))? = first else {
            Issue.record("it is as old as its record")
            return
        }
        _ = driver.feed(.arrived(started("k", firstSeen: 500)), at: 150_000)
        _ = driver.feed(.granted(.fetch, id), at: 150_000)
        let asked = driver.feed(.fetched(id, Self.picture), at: 150_000)
        guard case .permit(.request(.render, _, _, since: 500, _, _))? = asked.last else {
            Issue.record("the older job does not count")
            return
        }
    }

    @Test(
        "A job that the machine's fault has held back waits as long again, half of it by chance, and an hour at most",
        arguments: [(0, 50, 100), (1_000, 500, 1_000), (86_400_000, 1_800_000, 3_600_000)] as [(Duration, Duration, Duration)])
    func held(age: Duration, least: Duration, most: Duration) {
        let policy = RetryPolicy(attempts: 5, base: 100)
        #expect(policy.delay(heldFor: age, jitter: 0) == least)
        #expect((least...most).contains(policy.delay(heldFor: age, jitter: 0.999)))
    }

    @Test(
        "A job that ends in wait while others are done halts nobody, and dies once it did so for an hour",
        arguments: [true, false])
    func endlessWait(others: Bool) throws {
        var driver = Driver(retry: RetryPolicy(attempts: 3, base: 100, cap: 1_000))
        let full = FailureNote(code: "store.full", message: "full", verdict: .wait)
        var now: Moment = 0
        var pending = driver.pending("j", source, [Self.large])
        var (rounds, halts, isDead) = (0, 0, false)
        while !isDead, rounds < 60 {
            rounds += 1
            let id = try #require(flight(driver.feed(.arrived(pending), at: now)), "\(rounds)")
            _ = driver.feed(.granted(.fetch, id), at: now)
            let effects = driver.feed(.failed(id, full), at: now)
            halts += effects.count { if case .permit(.fail(_, .machine)) = $0 { true } else { false } }
            isDead = kinds(effects) == [.dead]
            guard let row = parked(effects).first else { break }
            pending = row.started(offset: Int64(rounds))
            now = Moment(row.pending.notBefore)
            if others { driver.lastPass = now.wall - 1 }
        }
        #expect(isDead == others && halts == (others ? 1 : rounds), "\(rounds) rounds, \(halts) halts, \(now)")
        #expect(!others || (3_600_000...21_600_000).contains(now.wall))
    }

    /// A driver with a flight that began at 10 and a later job that is done.
    private func heldBack(_ pending: PendingJob, _ driver: inout Driver) throws -> FlightID {
        let id = try #require(flight(driver.feed(.arrived(pending))))
        _ = driver.feed(.granted(.fetch, id), at: 10)
        let other = driver.pending("done", SourceKey(SHA256.digest(of: [1])), [Self.large], expires: 5)
        _ = driver.feed(.arrived(other), at: 10)
        _ = driver.feed(.acknowledged([other.place]), at: 10)
        return id
    }

    @Test(
        "A job that runs for longer than holdLimit while a later one is done is parked, and its flight ends its row",
        arguments: [JobFreshness.ifStale, .force])
    func parkedRunning(freshness: JobFreshness) throws {
        var driver = Driver(holdLimit: 1_000)
        let pending = driver.pending("held", source, [Self.large], freshness: freshness)
        let id = try heldBack(pending, &driver)
        #expect(driver.feed(.tick, at: 1_010).isEmpty)
        let effects = driver.feed(.tick, at: 1_011)
        let row = try #require(parked(effects).first)
        #expect(row.cause.code == "retry.slow" && row.pending.attempts == 0 && row.pending.notBefore == .epoch)
        #expect(row.parking == Parking(OriginHost(of: "http://o/"), isRunning: true, worksAs: .fast, ends: nil))
        #expect(effects.count == 1 && driver.state.isAtWork(id))
        _ = driver.feed(.acknowledged([pending.place]), at: 1_011)
        #expect(driver.state.committable(.jobsFast) == 2)
        #expect(driver.feed(.tick, at: 9_000).isEmpty)
        _ = driver.feed(.fetched(id, Self.picture), at: 9_000)
        let task = try #require(renderTask(driver.feed(.granted(.render, id), at: 9_000)))
        _ = driver.feed(.rendered(id), at: 9_000)
        _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 2), at: 9_000)
        // One outcome, for the row: nothing is fetched twice.
        guard case .work(.complete(let record, .outcome(let outcome)))? = driver.feed(.folded(2), at: 9_000).last else {
            Issue.record("no outcome")
            return
        }
        #expect(outcome.kind == .stored && outcome.job == "held" && !driver.state.hasFlights)
        #expect(ParkedKey(record) == ParkedKey(source, .record(CompletedRecord(pending.record))))
        #expect(record.jobOrigin == RecordOrigin(pending.record) && record.value == pending.record.value)
    }

    @Test(
        "A parked job whose flight fails gets its next row with one attempt more, or ends",
        arguments: [(0, 1), (2, nil)] as [(Int, Int?)])
    func failsAside(attempts: Int, next: Int?) throws {
        var driver = Driver(holdLimit: 1_000)
        let pending = driver.pending("held", source, [Self.large], attempts: attempts)
        let id = try heldBack(pending, &driver)
        let row = try #require(parked(driver.feed(.tick, at: 1_011)).first)
        #expect(row.pending.attempts == attempts)
        let effects = driver.feed(.failed(id, Self.refusal), at: 30_000)
        #expect(kinds(effects) == (next == nil ? [.dead] : []) && settled(effects).count == 1)
        let rows = parked(effects)
        #expect(rows.map(\.pending.attempts) == [next].compactMap(\.self) && rows.allSatisfy { !$0.parking.isRunning })
        let identities = rows.map { JobIdentity(of: $0.pending.record) }
        #expect(identities.allSatisfy { $0 == .record(CompletedRecord(pending.record)) })
    }

    @Test("A parked job that expires while its source is fetched is reported as expired, and the fetch is aborted")
    func expiresAside() throws {
        var driver = Driver(holdLimit: 1_000)
        let id = try heldBack(driver.pending("held", source, [Self.large], expires: 5_000), &driver)
        #expect(parked(driver.feed(.tick, at: 1_011)).map(\.parking.ends) == [5_000])
        #expect(kinds(driver.feed(.tick, at: 5_000)) == [.expired] && !driver.state.has(id))
    }

    @Test("If half of what a progress row can hold is read behind a queued job, jobs of the older half are parked")
    func pressed() throws {
        var driver = Driver()
        let count = TopicProgress.finishedLimit / 2
        var ids: [FlightID] = []
        for number in 0..<count {
            let isWaiting = [0, 7, count - 1].contains(number)
            let pending = driver.pending(
                "\(number)", .numbered(isWaiting ? number % 7 : 0), [Self.large], expires: isWaiting ? nil : 1)
            let effects = driver.feed(.arrived(pending), at: 1)
            if let id = flight(effects) { ids.append(id) }
            if !isWaiting { _ = driver.feed(.acknowledged([pending.place]), at: 1) }
            if number == count - 2 { #expect(driver.feed(.tick, at: 1).isEmpty) }
        }
        let effects = driver.feed(.tick, at: 1)
        #expect(parked(effects).map(\.pending.job.id) == ["0", "7"])
        #expect(parked(effects).allSatisfy { $0.cause.code == "retry.host-crowded" && $0.pending.notBefore == .epoch })
        // The last one keeps its flight, and the other flight is over.
        let kept = ids.map { driver.state.has($0) }
        #expect(kept == [false, true])
    }
}
