import Canonical
import Clocks
import Failures
import HTTPCache
import Hosts
import ImageModel
import Images
import Jobs
import Ledger
import Partition
internal import Permits
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

/// What is remembered of sources that gave nothing, of which URL, and of which variants.
extension CachingTests {
    private static let forbidden = Unfetched(FetchFailure.status(url: "http://o/a?sig=old", 403))

    private func pending(
        _ driver: inout PartitionStateTests.Driver, _ id: String, _ url: SourceURL,
        _ specs: [VariantSpec] = [PartitionStateTests.small]
    ) -> PendingJob {
        let pending = driver.pending(id, source, specs)
        let job = Job(id: id, url: url, source: source, variants: specs, lane: .fast)
        return PendingJob(job: job, record: pending.record)
    }

    @Test("What one URL gave is remembered of that URL: another signature, or an alias, is asked itself")
    func otherURL() throws {
        var driver = PartitionStateTests.Driver()
        let old = driver.feed(.arrived(pending(&driver, "1", "http://o/a?sig=old")))
        let id = try #require(rules.flight(old))
        _ = driver.feed(.granted(.fetch, id))
        #expect(rules.kinds(driver.feed(.unfetched(id, Self.forbidden))) == [.failed])
        #expect(rules.kinds(driver.feed(.arrived(pending(&driver, "2", "http://o/a?sig=old")), at: 1)) == [.failed])
        let new = driver.feed(.arrived(pending(&driver, "3", "http://o/a?sig=new")), at: 2)
        #expect(rules.kinds(new).isEmpty)
        let next = try #require(rules.flight(new))
        let asked = request(driver.feed(.granted(.fetch, next), at: 2))
        #expect(asked?.url == "http://o/a?sig=new" && asked?.known == nil)
    }

    @Test("Jobs of other URLs do not fail with their flight: they ask by their own, together")
    func sharedFlight() throws {
        var driver = PartitionStateTests.Driver()
        let first = driver.feed(.arrived(pending(&driver, "1", "http://o/a?sig=old")))
        let id = try #require(rules.flight(first))
        for (name, url) in [("2", "http://o/a?sig=new"), ("3", "http://o/a?sig=old"), ("4", "http://o/a?sig=new")] {
            #expect(driver.feed(.arrived(pending(&driver, name, SourceURL(url)))).isEmpty)
        }
        _ = driver.feed(.granted(.fetch, id))
        let ended = driver.feed(.unfetched(id, Self.forbidden))
        #expect(rules.settled(ended).compactMap { $0.outcome?.job } == ["1", "3"])
        let next = try #require(rules.flight(ended))
        #expect(request(driver.feed(.granted(.fetch, next)))?.url == "http://o/a?sig=new")
        let last = driver.feed(.unfetched(next, Unfetched(FetchFailure.status(url: "http://o/a?sig=new", 404))))
        #expect(rules.settled(last).compactMap { $0.outcome?.job } == ["2", "4"] && rules.flight(last) == nil)
    }

    @Test(
        "A picture whose pixels are damaged is fetched no more for the variants that showed it; another one may show less"
    )
    func damagedPixels() throws {
        var driver = PartitionStateTests.Driver()
        let malformed = FailureNote(RenderFailure.malformed(.png, reason: "the test says so"))
        func render(_ specs: [VariantSpec], at now: Moment) -> FlightID? {
            guard
                let id = rules.flight(
                    driver.feed(.arrived(pending(&driver, "\(now.wall.milliseconds)", "http://o/a", specs)), at: now))
            else { return nil }
            _ = driver.feed(.granted(.fetch, id), at: now)
            _ = driver.feed(.fetched(id, picture([1], [("etag", "\"a\"")])), at: now)
            _ = driver.feed(.granted(.render, id), at: now)
            return id
        }
        let (small, large) = (PartitionStateTests.small, PartitionStateTests.large)
        func ends(_ id: FlightID, at now: Moment) -> [OutcomeKind] {
            rules.kinds(driver.feed(.failed(id, malformed), at: now))
        }
        #expect(ends(try #require(render([small], at: 0)), at: 0) == [.failed])
        #expect(render([small], at: 1) == nil)
        // Its decode would be of all that is wanted: no more could be made.
        #expect(render([small, large], at: 2) == nil)
        // Alone it may show less.
        #expect(ends(try #require(render([large], at: 3)), at: 3) == [.failed])
        // That it was fetched again tells nothing new of the smaller one: each is remembered for its own time.
        #expect(render([small], at: 599_999) == nil && render([large], at: 600_002) == nil)
        #expect(ends(try #require(render([small], at: 600_000)), at: 600_000) == [.failed])
        #expect(render([small], at: 600_001) == nil)
        #expect(render([large], at: 600_003) != nil)
    }

    @Test("Two jobs of one decode that fails: what one of them left open is not refused for the other's sake")
    func openBesideAnother() throws {
        var driver = PartitionStateTests.Driver()
        let truncated = FailureNote(RenderFailure.truncated(.gif, reason: "the test says so"))
        let open = try VariantSpec("90x0.auto")
        let id = try #require(rules.flight(driver.feed(.arrived(pending(&driver, "1", "http://o/a", [open])))))
        _ = driver.feed(.arrived(pending(&driver, "2", "http://o/a", [PartitionStateTests.small])))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, PartitionStateTests.picture))
        _ = driver.feed(.granted(.render, id))
        #expect(rules.kinds(driver.feed(.failed(id, truncated))) == [.failed, .failed])
        #expect(rules.flight(driver.feed(.arrived(pending(&driver, "3", "http://o/a", [open])))) != nil)
    }

    @Test(
        "Of what cannot be made together one may be made alone; a format that was left open is asked for by its own name"
    )
    func damagedTogether() throws {
        var driver = PartitionStateTests.Driver()
        let truncated = FailureNote(RenderFailure.truncated(.gif, reason: "the test says so"))
        let open = try VariantSpec("90x0.auto")
        func render(_ specs: [VariantSpec]) -> FlightID? {
            guard let id = rules.flight(driver.feed(.arrived(pending(&driver, "j", "http://o/a", specs)))) else {
                return nil
            }
            _ = driver.feed(.granted(.fetch, id))
            _ = driver.feed(.fetched(id, PartitionStateTests.picture))
            _ = driver.feed(.granted(.render, id))
            return id
        }
        let wanted = [PartitionStateTests.small, open]
        _ = driver.feed(.failed(try #require(render(wanted)), truncated))
        #expect(render(wanted) == nil)
        #expect(render([PartitionStateTests.small]) != nil)
    }

    /// By reading, the old code fails: the refused moving variant was fetched again, and once it failed alone, it failed all
    /// jobs that wanted another variant, too.
    @Test(
        "A refused moving variant is known after the first job, and other variants of the image are still rendered",
        arguments: [nil, "kept/original"])
    func refusedMoving(original: String?) throws {
        var driver = PartitionStateTests.Driver()
        let moving = VariantSpec(width: 90, height: 90, format: .webp)
        let stills = [90, 60].map { VariantSpec(width: $0, height: $0, format: .png) }
        func arrive(_ specs: [VariantSpec]) -> [JobEffect] {
            driver.feed(.arrived(pending(&driver, "j", "http://o/a", specs)))
        }
        let id = try #require(rules.flight(arrive([moving, stills[0]])))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, FetchedPicture(frames: 2)))
        _ = driver.feed(.granted(.render, id))
        let note = FailureNote(RenderFailure.malformed(.gif, reason: "the test says so"))
        _ = driver.feed(.refusedVariants(id, [moving], note))
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id))))
        _ = driver.feed(.rendered(id))
        var source = try #require(task.source)
        source.original = original
        // Of a moving source, so that the still is no donor for the moving variant.
        let stored = rules.rows(task).map { row in
            var row = row
            row.facts = SourceFacts(format: .gif, frames: 2)
            return row
        }
        _ = driver.feed(.announced(id, original: original, rows: stored, position: 2))
        #expect(rules.kinds(driver.feed(.folded(2))) == [.failed])
        driver.stored = SourceSnapshot(source: source, variants: stored)
        let again = arrive([moving, stills[0]])
        let told = try #require(outcome(again)?.outcome)
        #expect(told.variants.map(\.kind) == [.failed, .unchanged] && told.failure?.code == note.code)
        #expect(rules.flight(again) == nil && rules.flight(arrive([moving])) == nil)
        #expect(rules.flight(arrive([moving, stills[1]])) != nil)
    }

    @Test("What is stored and fresh is told beside what is known not to be made")
    func storedBeside() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=600")])
        let other = VariantSpec(width: 900, height: 900, format: .webp)
        let wanted = [PartitionStateTests.small, other]
        let id = try #require(rules.flight(driver.feed(.arrived(pending(&driver, "1", "http://o/a", wanted)))))
        _ = driver.feed(.granted(.fetch, id))
        let first = driver.feed(.unfetched(id, Unfetched(FetchFailure.status(url: "http://o/a", 404))))
        let again = driver.feed(.arrived(pending(&driver, "2", "http://o/a", wanted)), at: 1)
        for effects in [first, again] {
            let told = try #require(outcome(effects)?.outcome)
            #expect(told.kind == .failed && told.variants.map(\.kind) == [.unchanged, .failed])
        }
    }

    @Test("The dead letter of a variant that crashes renderers lists the stored variant as unchanged")
    func deadBeside() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=600")])
        let wanted = [PartitionStateTests.small, VariantSpec(width: 900, height: 900, format: .webp)]
        let id = try #require(
            rules.flight(driver.feed(.arrived(driver.pending("1", source, wanted, attempts: 2)))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, picture([1], [])))
        _ = driver.feed(.granted(.render, id))
        let ended = driver.feed(.failed(id, FailureNote(RenderFailure.crashed(reason: "no"))))
        let told = try #require(rules.settled(ended).first?.outcome)
        #expect(told.kind == .dead && told.variants.map(\.kind) == [.unchanged, .failed])
    }

    @Test("A variant that is fresh is told as unchanged beside one that stands in, and is owed nothing")
    func freshBesideDegraded() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=600")])
        let wanted = [PartitionStateTests.small, VariantSpec(width: 900, height: 900, format: .webp)]
        let pending = job(&driver, "1", wanted, .degraded)
        let (outcome, pendingRefresh) = try #require(outcome(try failing(pending, &driver, at: 1_000)))
        #expect(outcome.kind == .degraded && outcome.variants.map(\.kind) == [.unchanged, .degraded])
        #expect(pendingRefresh?.job.variants == [wanted[1]])
    }

    @Test("Redirects limit the freshness of a source")
    func redirects() throws {
        var driver = PartitionStateTests.Driver()
        let id = try #require(
            rules.flight(driver.feed(.arrived(driver.pending("1", source, [PartitionStateTests.small])))))
        _ = driver.feed(.granted(.fetch, id))
        var head = head([("cache-control", "max-age=600")])
        let control: [(name: String, value: String)] = [(name: "cache-control", value: "max-age=60, must-revalidate")]
        head.hops = [RedirectHop(ResponseFields(control), status: 302, sent: [], asked: 0)]
        let picture = PartitionStateTests.picture
        let source = FetchedSource(body: picture.source.body, digest: picture.source.digest, head: head)
        _ = driver.feed(.fetched(id, FetchedPicture(source: source, picture: picture.picture)))
        let row = try #require(rules.renderTask(driver.feed(.granted(.render, id)))?.fetched?.row)
        #expect(row.expires == 60_000 && !row.policy.allowsStale)
    }

    @Test("What a redirect forbade once holds until the origin is asked again, and no longer")
    func onceForbidden() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=60"), ("etag", "\"a\"")])
        func confirm(_ control: String, at now: Moment) throws -> SourceRow {
            let id = try #require(
                rules.flight(driver.feed(.arrived(pending(&driver, "\(now.wall.milliseconds)", "http://o/a")), at: now))
            )
            _ = driver.feed(.granted(.fetch, id), at: now)
            var head = head([])
            let fields = ResponseFields([(name: "cache-control", value: control)])
            head.hops = [RedirectHop(fields, status: 302, sent: [], asked: now.wall)]
            _ = driver.feed(.notModified(id, head), at: now)
            let row = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: now))?.fetched?.row)
            driver = PartitionStateTests.Driver()
            driver.stored = try stored([])
            driver.stored.source = row
            for place in driver.stored.variants.indices { driver.stored.variants[place].expires = row.expires }
            return row
        }
        let forbidden = try confirm("no-store", at: 61_000)
        #expect(forbidden.expires == 61_000 && !forbidden.policy.allowsStale && forbidden.policy.etag == "\"a\"")
        let allowed = try confirm("max-age=3600", at: 62_000)
        #expect(allowed.expires == 62_000 + 60_000 && allowed.policy.allowsStale)
    }
}
