import Canonical
import Clocks
import Digest
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

/// What is told of a source that has other bytes, by whomever what was stored of it is made anew.
extension CachingTests {
    private typealias Driver = PartitionStateTests.Driver
    private static let caching = [("cache-control", "max-age=60")]
    private var small: VariantSpec { PartitionStateTests.small }
    private var large: VariantSpec { PartitionStateTests.large }

    private func snapshot(of count: Int) throws -> SourceSnapshot {
        var stored = try stored(Self.caching)
        if count > 2 {
            let row = stored.variants[0]
            stored.variants += (2..<count).map { place in
                var row = row
                row.spec = VariantSpec(width: 100 + place, height: 100 + place, format: .webp)
                return row
            }
        }
        for place in stored.variants.indices {
            stored.variants[place].location = "old/\(stored.variants[place].spec)"
            // Each was made by a job of its own.
            stored.variants[place].storedAt = .epoch + .seconds(place)
        }
        return stored
    }

    private func made(_ task: RenderTask) -> [VariantRow] {
        task.rows(at: 61_000) { "new/\($0)" }.map { row in
            var row = row
            row.digest = SHA256.digest(of: [2])
            return row
        }
    }

    private var changed: FetchedPicture { picture([2], Self.caching) }

    /// One that has asked for `spec`, and fetched other bytes than were stored.
    private func finding(
        _ driver: inout Driver, _ specs: [VariantSpec], at now: Moment = 61_000
    ) throws -> (flight: FlightID, task: RenderTask) {
        let id = try #require(rules.flight(driver.feed(.arrived(driver.pending("j", source, specs)), at: now)))
        _ = driver.feed(.granted(.fetch, id), at: now)
        _ = driver.feed(.fetched(id, changed), at: now)
        return (id, try #require(rules.renderTask(driver.feed(.granted(.render, id), at: now))))
    }

    /// The jobs that a pending refresh leaves, as the log has them.
    private func left(_ task: RenderTask, _ driver: inout Driver) throws -> [PendingJob] {
        let pendingRefresh = try #require(task.pendingRefresh)
        return try #require(pendingRefresh.change).headers.map { header in
            var record = driver.pending("r", source, pendingRefresh.job.variants, topic: .parked).record
            record.headers.append(header)
            var job = pendingRefresh.job
            job.id = SourceChange.id(job.id, telling: header)
            return PendingJob(job: job, record: record)
        }
    }

    /// What events tell, as text.
    private func told(_ effects: [JobEffect]) -> [String] {
        rules.settled(effects).flatMap { disposition -> [String] in
            guard case .changed(_, let variants, _) = disposition else { return [] }
            return variants.map { "\($0.replaces) \($0.location)" }
        }
    }

    private func told(_ task: RenderTask) -> [String]? {
        task.change?.variants(by: task.standing + made(task)).map { "\($0.replaces) \($0.location)" }
    }

    private func all(_ snapshot: SourceSnapshot) -> [String] {
        snapshot.variants.map { "old/\($0.spec) new/\($0.spec)" }
    }

    @Test("An owner that dies after it has made some of a change leaves a job by which the next one tells all of it")
    func leftChange() throws {
        let before = try snapshot(of: 2)
        var first = Driver()
        first.stored = before
        let (_, task) = try finding(&first, [small])
        #expect(task.batch?.orders.map(\.spec) == [small] && task.change == nil)
        let pendingRefresh = try #require(task.pendingRefresh)
        #expect(
            pendingRefresh.job.isOwn && !pendingRefresh.job.isStaleRefresh && pendingRefresh.job.variants == [large]
                && pendingRefresh.job.lane == .slow)
        // Its own record comes while the first owner is at work: it waits for that.
        let own = try #require(try left(task, &first).first)
        #expect(rules.kinds(first.feed(.arrived(own), at: 61_001)).isEmpty)
        // The first part is there, and its owner is not.
        let half = SourceSnapshot(
            source: task.fetched?.row, variants: made(task) + before.variants.filter { $0.spec == large })
        var second = Driver()
        second.stored = half
        let job = try #require(try left(task, &second).first)
        let again = try #require(rules.flight(second.feed(.arrived(job), at: 62_000)))
        #expect(try #require(request(second.feed(.granted(.fetch, again), at: 62_000))).known == nil)
        _ = second.feed(.fetched(again, changed), at: 62_000)
        let rest = try #require(rules.renderTask(second.feed(.granted(.render, again), at: 62_000)))
        #expect(rest.batch?.orders.map(\.spec) == [large] && rest.pendingRefresh == nil)
        #expect(rest.change?.id == task.pendingRefresh?.change?.id && told(rest) == all(before))

        // Another job is there when it comes: they share the flight, and its event.
        var other = Driver()
        other.stored = half
        let sooner = other.pending("k", source, [VariantSpec(width: 1600, height: 1600, format: .webp)])
        let shared = try #require(rules.flight(other.feed(.arrived(sooner), at: 62_000)))
        #expect(rules.flight(other.feed(.arrived(try left(task, &other)[0]), at: 62_000)) == nil)
        _ = other.feed(.granted(.fetch, shared), at: 62_000)
        _ = other.feed(.fetched(shared, changed), at: 62_000)
        let found = try #require(rules.renderTask(other.feed(.granted(.render, shared), at: 62_000)))
        #expect(found.batch?.orders.map(\.spec) == [sooner.job.variants[0]] && found.change == nil)
        _ = other.feed(.rendered(shared), at: 62_000)
        _ = other.feed(.announced(shared, original: nil, rows: made(found), position: 0), at: 62_000)
        let last = try #require(rules.renderTask(other.feed(.granted(.render, shared), at: 62_000)))
        #expect(last.batch?.orders.map(\.spec) == [large] && told(last) == all(before))
    }

    @Test("What another job has made anew after that is told by the job that was left, whatever is stored by then")
    func takenOver() throws {
        let before = try snapshot(of: 2)
        var first = Driver()
        first.stored = before
        let (_, task) = try finding(&first, [small])
        var second = Driver()
        second.stored = SourceSnapshot(
            source: task.fetched?.row, variants: made(task) + before.variants.filter { $0.spec == large })
        second.stored.source?.original = "original"
        let asked = second.pending("k", source, [large])
        let id = try #require(rules.flight(second.feed(.arrived(asked), at: 61_500)))
        let reuse = try #require(rules.renderTask(second.feed(.granted(.render, id), at: 61_500)))
        #expect(reuse.isReuse && reuse.batch?.orders.map(\.spec) == [large])
        // The job that was left comes while that is at work.
        let job = try #require(try left(task, &second).first)
        #expect(rules.settled(second.feed(.arrived(job), at: 61_600)).isEmpty)
        _ = second.feed(.rendered(id), at: 61_600)
        second.stored.variants = made(task) + made(reuse)
        let ended = second.feed(.announced(id, original: nil, rows: made(reuse), position: 0), at: 61_600)
        #expect(Set(told(ended)) == Set(all(before)) && rules.kinds(ended).contains(.unchanged))
        // And where that was done before it comes.
        var third = Driver()
        third.stored = second.stored
        #expect(Set(told(third.feed(.arrived(try left(task, &third)[0]), at: 90_000))) == Set(all(before)))
        // Once its source has changed again, what of the first change is not told otherwise.
        var later = Driver()
        later.stored = second.stored
        later.stored.source?.version = SourceVersion(word: 9)
        #expect(Set(told(later.feed(.arrived(try left(task, &later)[0]), at: 90_000))) == Set(all(before)))
    }

    @Test("An owner that has told of a change does not tell again for the job that it left, nor of what was never made")
    func toldOnce() throws {
        let before = try snapshot(of: 2)
        var driver = Driver()
        driver.stored = before
        let (id, task) = try finding(&driver, [small])
        _ = driver.feed(.rendered(id), at: 61_000)
        _ = driver.feed(.announced(id, original: nil, rows: made(task), position: 0), at: 61_000)
        let rest = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 61_000)))
        #expect(told(rest) == all(before))
        _ = driver.feed(.rendered(id), at: 61_000)
        _ = driver.feed(.announced(id, original: nil, rows: made(rest), position: 0), at: 61_000)
        driver.stored = SourceSnapshot(source: task.fetched?.row, variants: made(task) + made(rest))
        let own = driver.feed(.arrived(try left(task, &driver)[0]), at: 121_000)
        #expect(rules.kinds(own) == [.unchanged] && told(own).isEmpty && rules.settled(own).count == 1)
        // The rows that were to follow the job's record never came.
        var early = Driver()
        early.stored = before
        let nothing = early.feed(.arrived(try left(task, &early)[0]), at: 62_000)
        #expect(rules.kinds(nothing) == [.unchanged] && told(nothing).isEmpty)
    }

    @Test("A source that is gone before the rest of its change is made: what was made is told")
    func sourceGone() throws {
        let before = try snapshot(of: 2)
        var first = Driver()
        first.stored = before
        let (_, task) = try finding(&first, [small])
        var second = Driver()
        second.stored = SourceSnapshot(
            source: task.fetched?.row, variants: made(task) + before.variants.filter { $0.spec == large })
        let id = try #require(rules.flight(second.feed(.arrived(try left(task, &second)[0]), at: 62_000)))
        _ = second.feed(.granted(.fetch, id), at: 62_000)
        let ended = second.feed(.unfetched(id, Unfetched(FetchFailure.status(url: "http://o/a", 404))), at: 62_000)
        #expect(rules.kinds(ended) == [.failed] && told(ended) == ["old/\(small) new/\(small)"])
        // So does one whose time is over.
        let late = second.feed(.arrived(try left(task, &second)[0]), at: 61_000 + .days(8))
        #expect(rules.kinds(late) == [.expired] && told(late) == ["old/\(small) new/\(small)"])
    }

    @Test("A job that is left of a change waits for its host as long as a stale answer's does: days")
    func hostAway() throws {
        let before = try snapshot(of: 2)
        var first = Driver()
        first.stored = before
        let (_, task) = try finding(&first, [small])
        var second = Driver()
        second.stored = SourceSnapshot(
            source: task.fetched?.row, variants: made(task) + before.variants.filter { $0.spec == large })
        let back: Moment = 61_000 + .days(6)
        let id = try #require(rules.flight(second.feed(.arrived(try left(task, &second)[0]), at: back)))
        _ = second.feed(.granted(.fetch, id), at: back)
        _ = second.feed(.fetched(id, changed), at: back)
        let rest = try #require(rules.renderTask(second.feed(.granted(.render, id), at: back)))
        #expect(rest.batch?.orders.map(\.spec) == [large] && told(rest) == all(before))
    }

    @Test("A flight whose only job is parked leaves a job for its change, too")
    func movedAside() throws {
        let before = try snapshot(of: 2)
        var driver = Driver(holdLimit: 1_000)
        driver.stored = before
        let id = try #require(rules.flight(driver.feed(.arrived(driver.pending("j", source, [small])), at: 61_000)))
        _ = driver.feed(.granted(.fetch, id), at: 61_000)
        // Something is finished behind it.
        driver.stored = SourceSnapshot()
        let next = driver.pending("k", SourceKey(SHA256.digest(of: [7])), [small])
        _ = driver.feed(.arrived(next), at: 61_000)
        _ = driver.feed(.acknowledged([next.place]), at: 61_000)
        #expect(rules.parked(driver.feed(.tick, at: 63_000)).count == 1)
        _ = driver.feed(.fetched(id, changed), at: 63_000)
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 63_000)))
        #expect(task.batch?.orders.map(\.spec) == [small] && task.pendingRefresh?.change?.stored.count == 2)
    }

    @Test("Jobs that are left of a change name each variant, and together tell of all", arguments: [40, 150])
    func many(_ count: Int) throws {
        let before = try snapshot(of: count)
        var first = Driver()
        first.stored = before
        let (_, task) = try finding(&first, [small])
        var second = Driver()
        second.stored = SourceSnapshot(
            source: task.fetched?.row, variants: made(task) + before.variants.filter { $0.spec != small })
        let jobs = try left(task, &second)
        #expect(jobs.count == (count + 63) / 64)
        let id = try #require(rules.flight(second.feed(.arrived(jobs[0]), at: 62_000)))
        for job in jobs.dropFirst() { #expect(rules.flight(second.feed(.arrived(job), at: 62_000)) == nil) }
        _ = second.feed(.granted(.fetch, id), at: 62_000)
        _ = second.feed(.fetched(id, changed), at: 62_000)
        var last: [String]?
        var rendered = 0
        for _ in 0..<count where last == nil {
            let task = try #require(rules.renderTask(second.feed(.granted(.render, id), at: 62_000)))
            rendered += task.batch?.orders.count ?? 0
            last = told(task)
            _ = second.feed(.rendered(id), at: 62_000)
            _ = second.feed(.announced(id, original: nil, rows: made(task), position: 0), at: 62_000)
        }
        #expect(rendered == count - 1 && Set(last ?? []) == Set(all(before)))
    }

    @Test("What was made together is made anew together, and what was made of a donor after that")
    func together() throws {
        var driver = Driver()
        driver.stored = try snapshot(of: 6)
        for (place, storedAt) in [0, 0, 5_000, 5_000, 5_001, 5_000].enumerated() {
            driver.stored.variants[place].storedAt = WallTime(storedAt)
        }
        let specs = driver.stored.variants.map(\.spec)
        driver.stored.variants[5].derivedFrom = .donor(specs[0])
        let new = VariantSpec(width: 777, height: 777, format: .png)
        let (id, first) = try finding(&driver, [new, specs[3], specs[5]])
        var task = first
        var batches: [[VariantSpec]] = []
        for _ in 0..<5 {
            batches.append(task.batch?.orders.map(\.spec) ?? [])
            _ = driver.feed(.rendered(id), at: 61_000)
            let next = driver.feed(.announced(id, original: nil, rows: made(task), position: 0), at: 61_000)
            guard rules.flight(next) != nil else { break }
            task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 61_000)))
        }
        #expect(batches == [[new], [specs[2], specs[3]], [specs[0], specs[1]], [specs[5]], [specs[4]]])
    }

    @Test("A change that is found again after a kill has its id; bytes that come back, or more of it, another")
    func sameChange() throws {
        func ids(_ stored: SourceSnapshot, _ bytes: String, at now: Moment, of count: Int = 2) throws -> [String] {
            var driver = Driver()
            driver.stored = stored
            let id = try #require(
                rules.flight(driver.feed(.arrived(driver.pending("j", source, [small, large])), at: now)))
            _ = driver.feed(.granted(.fetch, id), at: now)
            _ = driver.feed(.fetched(id, picture(Array(bytes.utf8), Self.caching)), at: now)
            var task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: now)))
            _ = driver.feed(.rendered(id), at: now)
            _ = driver.feed(.announced(id, original: nil, rows: made(task), position: 0), at: now)
            task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: now)))
            let change = try #require(task.change)
            let variants = change.variants(by: task.standing + made(task)).prefix(count)
            return change.newRecords(Array(variants), partition: PartitionID(0), traceparent: nil).map {
                String(decoding: $0.headers[EventHeader.id] ?? [], as: UTF8.self)
            }
        }
        let before = try snapshot(of: 2)
        let first = try ids(before, "b", at: 61_000)
        #expect(try first.count == 1 && first == ids(before, "b", at: 99_000))
        #expect(try first != ids(before, "c", at: 61_000))
        #expect(try first != ids(before, "b", at: 61_000, of: 1))
        var later = before
        later.source?.fetchedAt = 200_000
        #expect(try first != ids(later, "b", at: 300_000))
    }
}
