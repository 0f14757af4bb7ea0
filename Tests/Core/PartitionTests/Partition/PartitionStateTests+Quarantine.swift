import Canonical
import Clocks
import Digest
import Failures
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Quarantine
import Records
import TestSupport
import Testing

extension PartitionStateTests {
    @Suite("Jobs that owners may have died of")
    struct Quarantine {
        private let tests = PartitionStateTests()
        private let other = SourceKey(SHA256.digest(of: Array("b".utf8)))

        /// A partition whose record 0 of the fast lane was under way when an owner died.
        private func driver(_ begun: ProgressRow.QuarantinedJob.Begun?, crashes: Int) -> PartitionStateTests.Driver {
            var driver = PartitionStateTests.Driver()
            driver.state.takeOver(row(begun, crashes: crashes), isOwn: false)
            return driver
        }

        private func row(_ begun: ProgressRow.QuarantinedJob.Begun?, crashes: Int) -> ProgressRow {
            ProgressRow(
                partition: PartitionID(0), topics: [:], isClean: false, crashes: crashes,
                quarantined: begun.map { [.init(.jobsFast, 0, crashes: min(crashes, 2), begun: $0)] } ?? [], at: 1)
        }

        private func isolated(_ effects: [JobEffect]) -> (FlightID, patience: Duration)? {
            for case .permit(.isolate(let request, let patience)) in effects { return (request.flight, patience) }
            return nil
        }

        @Test("One that was under way when a worker that ran nothing else died is a dead letter, unexecuted")
        func condemned() throws {
            var driver = driver(.alone, crashes: 2)
            let effects = driver.feed(.arrived(driver.pending("j", tests.source, [PartitionStateTests.large])))
            #expect(tests.kinds(effects) == [.dead] && effects.count == 1)
            guard case .dead(let deadLetter, let outcome) = try #require(tests.settled(effects).first) else {
                Issue.record("no dead letter")
                return
            }
            #expect(deadLetter.cause.code == "job.poison" && deadLetter.cause.message.contains("mezzotint dead show j"))
            #expect(outcome.failure == deadLetter.cause)
            // The next is any job.
            #expect(tests.flight(driver.feed(.arrived(driver.pending("k", other, [PartitionStateTests.large])))) != nil)
        }

        @Test("One that two deaths name runs alone, after a wait; others ask for their permits as ever")
        func alone() throws {
            var driver = driver(.beside, crashes: 1)
            let asked = try #require(
                isolated(driver.feed(.arrived(driver.pending("j", tests.source, [PartitionStateTests.large])))))
            #expect(asked.patience == 10_000)
            #expect(tests.flight(driver.feed(.arrived(driver.pending("k", other, [PartitionStateTests.large])))) != nil)
        }

        @Test("A suspect that joins a flight that has not begun takes it with it")
        func joins() throws {
            var driver = driver(.beside, crashes: 1)
            let quarantinedJob = driver.pending("j", tests.source, [PartitionStateTests.large])
            let earlier = driver.pending("k", tests.source, [PartitionStateTests.small], lane: .slow)
            let flight = try #require(
                tests.flight(driver.feed(.arrived(earlier))))
            #expect(isolated(driver.feed(.arrived(quarantinedJob)))?.0 == flight)
        }

        @Test("What begins after a death is named first, and once; after a good end nothing is")
        func names() throws {
            var driver = driver(nil, crashes: 0)
            let pending = driver.pending("j", tests.source, [PartitionStateTests.large])
            let flight = try #require(tests.flight(driver.feed(.arrived(pending))))
            let first = driver.state.beginNaming()
            let grant = Naming.Grant(.fetch, flight)
            var isAwaited = driver.state.awaitsName(grant, at: 0)
            let places = driver.state.beginNaming()
            #expect(first == [] && isAwaited && places == [pending.place])
            let row = ProgressRow(
                partition: PartitionID(0), topics: [:], isClean: false, crashes: 1,
                quarantined: driver.state.quarantined.rows(naming: [pending.place], isAlone: false), at: 1)
            let begun = driver.state.named(by: row, at: 0)
            isAwaited = driver.state.awaitsName(grant, at: 0)
            #expect(begun == [grant] && !isAwaited)
            _ = driver.feed(.granted(.fetch, flight))
            #expect(driver.state.namedStill == [pending.place])
            // A row on its way without it: it must be named again.
            driver.state.forgetNames(but: ProgressRow(partition: PartitionID(0), topics: [:], at: 2))
            #expect(driver.state.namedStill == [])

            var calm = PartitionStateTests.Driver()
            let other = try #require(
                tests.flight(calm.feed(.arrived(calm.pending("j", tests.source, [PartitionStateTests.large])))))
            isAwaited = calm.state.awaitsName(Naming.Grant(.fetch, other), at: 0)
            #expect(!isAwaited)
        }

        @Test("Nothing begins beside it: what is under way ends first, and others wait until its row is replaced")
        func turn() throws {
            var driver = driver(.beside, crashes: 1)
            var permits = PermitScheduler(PermitRules(fetch: 4, render: 2))
            let third = SourceKey(SHA256.digest(of: Array("c".utf8)))
            let jobs = [tests.source, other, third].map { driver.pending("j", $0, [PartitionStateTests.large]) }
            func run(_ event: PartitionEvent, at now: Moment) {
                var work: [Effect] = []
                driver.state.run(event, at: now, permits: &permits, into: &work) { _ in SourceSnapshot() }
            }
            let gone = FailureNote(code: "fetch.status", message: "", verdict: .fail)
            run(.arrived(jobs[0]), at: 0)
            run(.arrived(jobs[1]), at: 0)
            let beside = permits.grants(at: 0)
            #expect(beside.count == 1)
            run(.granted(.fetch, beside[0].flight), at: 0)
            run(.arrived(jobs[2]), at: 10_000)
            var next = permits.grants(at: 10_000)
            #expect(next.isEmpty && permits.isolatedRuns.isClosed)
            run(.failed(beside[0].flight, gone), at: 10_001)
            next = permits.grants(at: 10_002)
            let alone = try #require(permits.isolatedRuns.flight)
            #expect(next.map(\.flight) == [alone])
            run(.granted(.fetch, alone), at: 10_002)
            next = permits.grants(at: 10_003)
            #expect(next.isEmpty)
            run(.failed(alone, gone), at: 10_004)
            next = permits.grants(at: 10_005)
            #expect(next.isEmpty && permits.isolatedRuns.ended == alone)
            permits.endIsolatedRun(at: Moment(10_006))
            next = permits.grants(at: 10_007)
            #expect(next.count == 1 && !permits.isolatedRuns.isClosed)
        }

        private let late = FailureNote(code: "fetch.deadline", message: "", verdict: .retry)

        @Test("One that is tried again before it came to its render runs alone again; one that was rendered does not")
        func cleared() throws {
            var driver = driver(.beside, crashes: 1)
            let pending = driver.pending("j", tests.source, [PartitionStateTests.large])
            let first = try #require(isolated(driver.feed(.arrived(pending))))
            _ = driver.feed(.granted(.fetch, first.0))
            let row = try #require(tests.parked(driver.feed(.failed(first.0, late))).first)
            _ = driver.feed(.acknowledged([pending.place]))
            let second = try #require(isolated(driver.feed(.arrived(row.started(offset: 1)), at: 1_000)))
            #expect(first.patience == 10_000)
            _ = driver.feed(.granted(.fetch, second.0))
            _ = driver.feed(.fetched(second.0, PartitionStateTests.picture))
            _ = driver.feed(.granted(.render, second.0))
            #expect(driver.state.quarantined.aloneCount == 1)
            _ = driver.feed(.rendered(second.0))
            #expect(driver.state.quarantined.aloneCount == 0)
            let next = try #require(tests.parked(driver.feed(.failed(second.0, late), at: 1_000)).first)
            #expect(tests.flight(driver.feed(.arrived(next.started(offset: 2)), at: 3_000)) != nil)
        }

        @Test("A suspect that is parked runs alone under the next owner, too; one with a third crash does not run", arguments: [2, 3])
        func retried(crashes: Int) throws {
            var first = PartitionStateTests.Driver(retry: RetryPolicy(attempts: 3, base: 60_000, cap: 60_000))
            first.state.takeOver(row(.beside, crashes: 1), isOwn: false)
            let asked = try #require(
                isolated(first.feed(.arrived(first.pending("j", tests.source, [PartitionStateTests.large])))))
            _ = first.feed(.granted(.fetch, asked.0))
            let row = try #require(tests.parked(first.feed(.failed(asked.0, late))).first)
            #expect(row.pending.crashes == 2)

            var next = PartitionStateTests.Driver()
            let again = row.started(crashes: crashes)
            let effects = next.feed(.arrived(again))
            #expect((isolated(effects) != nil) == (crashes < 3))
            _ = next.feed(.acknowledged([again.place]))
            #expect(!next.state.quarantined.isNaming)
        }

        @Test("A flight that is named is not parked: its name is its record's")
        func stays() throws {
            for crashes in [0, 1] {
                var driver = PartitionStateTests.Driver(holdLimit: 1_000)
                if crashes > 0 { driver.state.takeOver(row(nil, crashes: crashes), isOwn: false) }
                let flight = try #require(
                    tests.flight(driver.feed(.arrived(driver.pending("j", tests.source, [PartitionStateTests.large])))))
                _ = driver.feed(.granted(.fetch, flight))
                let next = driver.pending("k", other, [PartitionStateTests.large])
                _ = driver.feed(.arrived(next))
                _ = driver.feed(.acknowledged([next.place]))
                #expect(tests.parked(driver.feed(.tick, at: 2_000)).count == (crashes == 0 ? 1 : 0))
            }
        }
    }
}
