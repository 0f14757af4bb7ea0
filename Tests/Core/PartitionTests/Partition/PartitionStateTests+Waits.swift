import Canonical
import Clocks
import Digest
import Failures
import ImageModel
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

/// Jobs that come again: in memory for seconds, through retry topics for longer.
extension PartitionStateTests {
    private static let refusal = FailureNote(code: "fetch.server-error", message: "503", verdict: .retry)

    private func fail(_ driver: inout Driver, _ id: FlightID, at now: Moment) -> [JobEffect] {
        _ = driver.feed(.granted(.fetch, id), at: now)
        return driver.feed(.failed(id, Self.refusal), at: now)
    }

    @Test("A short wait holds its record, and the attempts are in the progress until the job is answered")
    func shortWait() throws {
        var driver = Driver()
        let pending = driver.pending("j", source, [Self.large])
        driver.state.begin(.jobsFast, at: 0)
        var id = try #require(flight(driver.feed(.arrived(pending))))
        for attempt in 1...2 {
            let now = Moment(WallTime(attempt * 1_000))
            #expect(settled(fail(&driver, id, at: now)).isEmpty)
            #expect(driver.state.waiting(.jobsFast) == 1 && driver.state.unfinished(.jobsFast) == 1)
            let progress = driver.state.progress(.jobsFast)
            let waits = try #require(progress).waits
            #expect(waits.map(\.offset) == [0] && waits.map(\.attempts) == [attempt])
            #expect(waits.map(\.code) == [Self.refusal.code])
            #expect(waits.allSatisfy { (now.wall + 50...now.wall + 200).contains($0.notBefore) })
            id = try #require(flight(driver.feed(.tick, at: now + 200)))
            #expect(driver.state.waiting(.jobsFast) == 0)
            #expect(driver.state.progress(.jobsFast)?.waits.map(\.attempts) == [attempt])
        }
        #expect(kinds(fail(&driver, id, at: 4_000)) == [.dead])
        _ = driver.feed(.acknowledged([pending.place]), at: 4_001)
        #expect(driver.state.progress(.jobsFast) == TopicProgress(next: 1))
    }

    @Test("The next owner goes on counting where the progress row ends, and tells of it before the record comes")
    func nextOwner() throws {
        var driver = Driver()
        let waits = [TopicProgress.Wait(offset: 0, attempts: 2, notBefore: 500, failingSince: 100, code: "a.b")]
        driver.state.begin(.jobsFast, at: 0, waits: waits)
        #expect(driver.state.progress(.jobsFast)?.waits == waits)
        let pending = driver.pending("j", source, [Self.large])
        #expect(driver.feed(.arrived(pending), at: 499).isEmpty)
        #expect(driver.state.progress(.jobsFast)?.waits == waits)
        let id = try #require(flight(driver.feed(.tick, at: 500)))
        #expect(kinds(fail(&driver, id, at: 500)) == [.dead])
    }

    @Test("Where no more short waits are kept, and where a wait is long, a job goes to a tier with all that is known")
    func longWait() throws {
        for (room, base) in [(0, 1 as Duration), (9, 700_000)] {
            var driver = Driver(retry: RetryPolicy(attempts: 3, base: base, cap: base), shortWaits: room)
            let pending = driver.pending("j", source, [Self.large], lane: .slow)
            let id = try #require(flight(driver.feed(.arrived(pending))))
            let effects = fail(&driver, id, at: 1_000_000)
            guard case .retry(let later, let tier, let note)? = settled(effects).first else {
                Issue.record("it stays in memory")
                continue
            }
            // Of 700 s half is fixed.
            #expect(tier == .minute && note == Self.refusal)
            #expect(later.attempts == 1 && later.firstSeen == 0 && later.notBefore >= 1_000_000)
            #expect(putOff(effects).count == 1)
        }
    }

    @Test("A record of a tier whose job has to wait for longer goes on to another one, and one of the old topic too")
    func goesOn() throws {
        let cases: [(Topic, Duration, DelayTier?)] = [
            (.retry, 700_000, .tenMinutes), (.retry1m, 700_000, .tenMinutes), (.retry1m, 30_000, .tenSeconds),
            (.retry1m, 5_000, nil),
        ]
        for (topic, left, tier) in cases {
            var driver = Driver()
            let pending = driver.pending(
                "j", source, [Self.large], topic: topic, attempts: 1, notBefore: .epoch + .seconds(1) + left)
            let effects = driver.feed(.arrived(pending), at: 1_000)
            guard case .retry(let later, let found, let note)? = settled(effects).first else {
                #expect(tier == nil && driver.state.waiting(topic) == 1)
                continue
            }
            #expect(found == tier && note.code == "retry.deferred" && later.attempts == 1)
            // Nothing failed: it is no retry that counts.
            #expect(putOff(effects).isEmpty)
        }
    }

    @Test("What comes a little too early from a tier is begun, whatever the clocks say")
    func slack() {
        var driver = Driver(shortWaits: 0)
        let pending = driver.pending("j", source, [Self.large], topic: .retry1m, attempts: 1, notBefore: 1_900)
        #expect(flight(driver.feed(.arrived(pending), at: 1_000)) != nil)
    }

    @Test("A job that waits in memory while thousands of later ones are done makes way")
    func span() throws {
        var driver = Driver(retry: RetryPolicy(attempts: 3, base: 9_000, cap: 9_000))
        let pending = driver.pending("j", source, [Self.large])
        _ = fail(&driver, try #require(flight(driver.feed(.arrived(pending)))), at: 0)
        for number in 0..<4_096 {
            let done = driver.pending("d\(number)", SourceKey(SHA256.digest(of: [1])), [Self.large], expires: 1)
            #expect(kinds(driver.feed(.arrived(done), at: 2)) == [.expired])
        }
        guard case .retry(let later, .tenSeconds, _)? = settled(driver.feed(.tick, at: 3)).first else {
            Issue.record("it holds the others back")
            return
        }
        #expect(later.attempts == 1 && driver.state.waiting(.jobsFast) == 0)
        #expect(flight(driver.feed(.tick, at: 9_000)) == nil)
    }

    @Test("A job that is tried again is as old as it was at first")
    func age() throws {
        var driver = Driver()
        let record = Record(
            topic: .retry1m, partition: PartitionID(0), offset: 0, timestamp: 90_000, key: [], value: [], headers: [])
        let job = Job(id: "j", url: "http://o/a", source: source, variants: [Self.large], lane: .slow)
        let pending = PendingJob(job: job, record: record, attempts: 1, firstSeen: 1_000, notBefore: 150_000)
        guard
            case .permit(.request(_, let id, _, since: 1_000, _, _))? = driver.feed(.arrived(pending), at: 150_000)
                .first
        else {
            Issue.record("it is as old as its record")
            return
        }
        let other = PendingJob(
            job: job,
            record: Record(
                topic: .retry1m, partition: PartitionID(0), offset: 1, timestamp: 90_000, key: [], value: [],
                headers: []), firstSeen: 500)
        _ = driver.feed(.arrived(other), at: 150_000)
        _ = driver.feed(.granted(.fetch, id), at: 150_000)
        let asked = driver.feed(.fetched(id, Self.picture), at: 150_000)
        guard case .permit(.request(.render, _, _, since: 500, _, _))? = asked.last else {
            Issue.record("the older job does not count")
            return
        }
    }

    @Test(
        "A job that ends in wait while others are done halts nobody, and dies once it did so for an hour",
        arguments: [true, false])
    func endlessWait(others: Bool) throws {
        var driver = Driver(retry: RetryPolicy(attempts: 3, base: 100, cap: 1_000))
        let full = FailureNote(code: "store.full", message: "full", verdict: .wait)
        var now: Moment = 0
        var pending = driver.pending("j", source, [Self.large])
        var (rounds, halts, isDead, isKept) = (0, 0, false, false)
        while !isDead, rounds < 60 {
            rounds += 1
            // Short waits are in memory, and end with time.
            let asked = isKept ? driver.feed(.tick, at: now) : driver.feed(.arrived(pending), at: now)
            let id = try #require(flight(asked), "\(rounds)")
            _ = driver.feed(.granted(.fetch, id), at: now)
            let effects = driver.feed(.failed(id, full), at: now)
            halts += effects.count { if case .permit(.fail(_, .machine)) = $0 { true } else { false } }
            isDead = kinds(effects) == [.dead]
            guard let later = putOff(effects).first?.pending else { break }
            isKept = true
            if case .retry(_, let tier, _)? = settled(effects).first {
                isKept = false
                // Its record in the tier, appended now and read when it is due.
                let record = Record(
                    topic: tier.topic, partition: PartitionID(0), offset: Int64(rounds), timestamp: now.wall, key: [],
                    value: [],
                    headers: [])
                pending = PendingJob(
                    job: later.job, record: record, attempts: later.attempts, firstSeen: later.firstSeen,
                    notBefore: later.notBefore, heldSince: later.heldSince)
                now += tier.wait
            } else {
                pending = later
            }
            if later.notBefore > now.wall { now = Moment(later.notBefore) }
            if others { driver.lastPass = now.wall - 1 }
        }
        #expect(isDead == others && halts == (others ? 1 : rounds), "\(rounds) rounds, \(halts) halts, \(now)")
        #expect(!others || (3_600_000...21_600_000).contains(now.wall))
    }

    @Test("A job that runs too long while later ones are done goes on through a retry topic, once")
    func movedAside() throws {
        var driver = Driver(holdLimit: 1_000)
        let held = driver.pending("held", source, [Self.large])
        let id = try #require(flight(driver.feed(.arrived(held))))
        _ = driver.feed(.granted(.fetch, id), at: 10)
        let other = driver.pending("done", SourceKey(SHA256.digest(of: [1])), [Self.large], expires: 5)
        _ = driver.feed(.arrived(other), at: 10)
        _ = driver.feed(.acknowledged([other.place]), at: 10)
        #expect(driver.feed(.tick, at: 1_010).isEmpty)
        guard case .retry(let later, .tenSeconds, let note)? = settled(driver.feed(.tick, at: 1_011)).first else {
            Issue.record("it was not moved")
            return
        }
        #expect(note.code == "retry.slow" && later.attempts == 1)
        #expect(driver.feed(.tick, at: 9_000).isEmpty)
    }

    @Test("One that runs too long at its last attempt is waited for: else a slow one that fails would come for ever")
    func lastAttempt() throws {
        var driver = Driver(holdLimit: 1_000)
        let id = try #require(flight(driver.feed(.arrived(driver.pending("held", source, [Self.large], attempts: 2)))))
        _ = driver.feed(.granted(.fetch, id), at: 10)
        let other = driver.pending("done", SourceKey(SHA256.digest(of: [1])), [Self.large], expires: 5)
        _ = driver.feed(.arrived(other), at: 10)
        _ = driver.feed(.acknowledged([other.place]), at: 10)
        #expect(driver.feed(.tick, at: 1_011).isEmpty)
        let late = FailureNote(code: "fetch.deadline", message: "", verdict: .retry)
        #expect(kinds(driver.feed(.failed(id, late), at: 30_000)) == [.dead])
    }
}
