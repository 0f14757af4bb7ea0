import Canonical
import Clocks
import Digest
import Failures
internal import Hosts
import ImageModel
internal import Jobs
internal import Ledger
import Partition
import Permits
import Planning
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

/// `expires`: looked at before every permit, and where a retry would wait beyond it.
extension PartitionStateTests {
    @Test("An expired job is answered without a fetch")
    func expired() {
        var driver = Driver()
        let pending = driver.pending("j", source, [Self.large], expires: 50)
        #expect(kinds(driver.feed(.arrived(pending), at: 50)) == [.expired])
    }

    /// A flight of three jobs: the first wants the large variant until `first`, the second too until `second`, the third
    /// the small one until `third`. nil: for ever.
    @Test(
        "Jobs whose time has passed are told so before each permit; the flight goes on for the others, or is over",
        arguments: [
            (first: 50, second: nil, third: nil, now: 49, expired: [], wants: 2),
            (first: 50, second: nil, third: nil, now: 50, expired: ["one"], wants: 2),
            (first: 50, second: 50, third: nil, now: 50, expired: ["one", "two"], wants: 1),
            (first: nil, second: nil, third: 50, now: 60, expired: ["three"], wants: 1),
            (first: 50, second: 40, third: 30, now: 60, expired: ["one", "two", "three"], wants: 0),
        ] as [(first: WallTime?, second: WallTime?, third: WallTime?, now: Moment, expired: [String], wants: Int)],
        [PermitKind.fetch, .render])
    func expiredAtPermit(
        row: (first: WallTime?, second: WallTime?, third: WallTime?, now: Moment, expired: [String], wants: Int),
        kind: PermitKind
    ) throws {
        var driver = Driver()
        let id = try #require(
            flight(driver.feed(.arrived(driver.pending("one", source, [Self.large], expires: row.first)))))
        _ = driver.feed(.arrived(driver.pending("two", source, [Self.large], expires: row.second)))
        _ = driver.feed(.arrived(driver.pending("three", source, [Self.small], expires: row.third)))
        if kind == .render {
            _ = driver.feed(.granted(.fetch, id))
            _ = driver.feed(.fetched(id, Self.picture))
        }
        var effects = driver.feed(.granted(kind, id), at: row.now)
        let told = settled(effects).compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        #expect(told.map(\.job) == row.expired && told.allSatisfy { $0.kind == .expired })
        if row.wants == 0 {
            let isOver = effects.contains { if case .permit(.forget(id)) = $0 { true } else { false } }
            #expect(isOver && !driver.state.has(id) && flight(effects) == nil)
            return
        }
        // Planned anew, it gives its permit back and asks for another one.
        if !row.expired.isEmpty {
            guard case .permit(.release(kind, id))? = effects.dropLast().last,
                case .permit(.request(kind, id, _, _, _, _))? = effects.last
            else {
                Issue.record("the permit was kept: \(effects)")
                return
            }
            effects = driver.feed(.granted(kind, id), at: row.now)
        }
        if kind == .fetch {
            guard case .work(.fetch)? = effects.first else {
                Issue.record("no fetch")
                return
            }
            _ = driver.feed(.fetched(id, Self.picture), at: row.now)
            effects = driver.feed(.granted(.render, id), at: row.now)
        }
        #expect(try #require(renderTask(effects)).batch?.orders.count == row.wants)
    }

    @Test(
        "A job that has all it wants is answered as stored, though its time passes while its flight goes on for another"
    )
    func expiredBesideOthers() throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("done", source, [Self.large], expires: 50)))))
        _ = driver.feed(.arrived(driver.pending("failed", source, [Self.small], expires: 50)))
        _ = driver.feed(.arrived(driver.pending("other", source, [VariantSpec(width: 32, height: 32, format: .png)])))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, Self.picture))
        _ = driver.feed(.granted(.render, id))
        let note = FailureNote(code: "render.output", message: "no", verdict: .fail)
        _ = driver.feed(.refusedVariants(id, [Self.small], note))
        // Its render comes too late for the first, and the second has failed in time.
        #expect(kinds(driver.feed(.granted(.render, id), at: 60)) == [.expired])
        let task = try #require(renderTask(driver.feed(.granted(.render, id), at: 60)))
        _ = driver.feed(.rendered(id), at: 60)
        _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 2), at: 60)
        #expect(kinds(driver.feed(.folded(2), at: 60)) == [.failed, .stored])
    }

    @Test("A job that came too late for the decode is looked up when all others of the flight have expired")
    func lateBehindExpired() throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("one", source, [Self.large], expires: 50)))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, Self.picture))
        _ = driver.feed(.granted(.render, id))
        _ = driver.feed(.arrived(driver.pending("late", source, [Self.small])))
        _ = driver.feed(.blobsGone(id, locations: ["none"]))
        let effects = driver.feed(.granted(.render, id), at: 60)
        #expect(kinds(effects) == [.expired])
        #expect(try #require(flight(effects)) != id)
    }

    @Test(
        "A failed job is told that its time has passed, not put off; a failure that ends it is told as it is",
        arguments: [(Verdict.wait, "expired"), (.retry, "expired"), (.fail, "failed"), (.deadLetter, "dead")])
    func expiredAtRetry(verdict: Verdict, ends: String) throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("j", source, [Self.large], expires: 50)))))
        _ = driver.feed(.granted(.fetch, id), at: 10)
        let effects = driver.feed(.failed(id, FailureNote(code: "x", message: "", verdict: verdict)), at: 60)
        #expect(kinds(effects).map(\.rawValue) == [ends])
    }

    @Test("A job that waits for longer than it lives is parked until it expires, and reported as expired then")
    func expiredBeforeRetry() throws {
        var driver = Driver()
        let pending = driver.pending(
            "j", source, [Self.large], topic: .retry, attempts: 1, notBefore: 5_000_000, expires: 5_000)
        let row = try #require(parked(driver.feed(.arrived(pending), at: 100)).first)
        #expect(row.parking.ends == 5_000 && row.pending.notBefore == 5_000_000)
        #expect(kinds(driver.feed(.arrived(row.started()), at: 5_000)) == [.expired])
    }

    /// Two jobs of one source, whose fetch runs; `now`: when the partition looks.
    @Test(
        "A job that expires while its source is fetched is answered then; a fetch without jobs is aborted",
        arguments: [
            (first: 50, second: 60, now: 49, expired: [], goesOn: true),
            (first: 50, second: 60, now: 50, expired: ["one"], goesOn: true),
            (first: 50, second: nil, now: 90, expired: ["one"], goesOn: true),
            (first: 50, second: 60, now: 60, expired: ["one", "two"], goesOn: false),
        ] as [(first: WallTime, second: WallTime?, now: Moment, expired: [String], goesOn: Bool)])
    func expiredInFetch(row: (first: WallTime, second: WallTime?, now: Moment, expired: [String], goesOn: Bool)) throws
    {
        var driver = Driver()
        let id = try #require(
            flight(driver.feed(.arrived(driver.pending("one", source, [Self.large], expires: row.first)))))
        _ = driver.feed(.arrived(driver.pending("two", source, [Self.small], expires: row.second)))
        _ = driver.feed(.granted(.fetch, id))
        let effects = driver.feed(.tick, at: row.now)
        let told = settled(effects).compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        #expect(told.map(\.job) == row.expired && told.allSatisfy { $0.kind == .expired })
        let isAborted = effects.contains { if case .work(.abort(id)) = $0 { true } else { false } }
        #expect(isAborted != row.goesOn && driver.state.has(id) == row.goesOn)
        // The permit is free once the fetch has ended.
        #expect(!effects.contains { if case .permit = $0 { true } else { false } })
        #expect(driver.state.held.values.reduce(0, +) == 2 - row.expired.count)
        let again = driver.feed(.fetched(id, Self.picture), at: row.now)
        guard row.goesOn else {
            #expect(again.isEmpty)
            return
        }
        let task = try #require(renderTask(driver.feed(.granted(.render, id), at: row.now)))
        #expect(task.batch?.orders.count == 2 - row.expired.count)
    }

    @Test("A fetch that a redirect has led to another host is over with its last job, though it waits for a permit")
    func expiredInRedirect() throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("one", source, [Self.large], expires: 50)))))
        _ = driver.feed(.granted(.fetch, id))
        let target = OriginHost(of: "http://other/")
        _ = driver.feed(.redirected(id, Redirect(to: "http://other/b", at: target, hop: 1, spent: .zero)))
        #expect(driver.feed(.tick, at: 49).isEmpty)
        let effects = driver.feed(.tick, at: 50)
        #expect(kinds(effects) == [.expired] && !driver.state.has(id))
        #expect(effects.contains { if case .permit(.forget(id)) = $0 { true } else { false } })
    }

    @Test("A job that asks for a fetch of its own gets one once the fetch that all others expired in is aborted")
    func forcedBehindExpired() throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("one", source, [Self.large], expires: 50)))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.arrived(driver.pending("forced", source, [Self.large], freshness: .force)))
        let effects = driver.feed(.tick, at: 50)
        #expect(kinds(effects) == [.expired])
        #expect(try #require(flight(effects)) != id)
    }

    @Test("The replay of a job that was stored before it expired finds it stored")
    func expiredReplay() throws {
        var driver = Driver()
        let pending = driver.pending("j", source, [Self.large], expires: 50)
        let id = try #require(flight(driver.feed(.arrived(pending), at: 10)))
        _ = driver.feed(.granted(.fetch, id), at: 10)
        _ = driver.feed(.fetched(id, Self.picture), at: 10)
        let task = try #require(renderTask(driver.feed(.granted(.render, id), at: 10)))
        var replay = Driver()
        replay.stored = SourceSnapshot(source: task.source, variants: rows(task))
        #expect(kinds(replay.feed(.arrived(pending), at: 60)) == [.unchanged])
    }
}
