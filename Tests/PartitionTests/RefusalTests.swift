import Canonical
import Failures
import HTTPCache
import ImageModel
import Partition
import Ports
import Records
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
        func render(_ specs: [VariantSpec], at now: Int64) -> FlightID? {
            guard let id = rules.flight(driver.feed(.arrived(pending(&driver, "\(now)", "http://o/a", specs)), at: now))
            else { return nil }
            _ = driver.feed(.granted(.fetch, id), at: now)
            _ = driver.feed(.fetched(id, picture([1], [("etag", "\"a\"")])), at: now)
            _ = driver.feed(.granted(.render, id), at: now)
            return id
        }
        let (small, large) = (PartitionStateTests.small, PartitionStateTests.large)
        let first = try #require(render([small], at: 0))
        #expect(rules.kinds(driver.feed(.refusedVariant(first, small, malformed))) == [.failed])
        #expect(render([small], at: 1) == nil)
        // It is fetched for the larger one, and so the smaller one is tried again with the next job.
        let second = try #require(render([small, large], at: 2))
        _ = driver.feed(.refusedVariant(second, small, malformed), at: 2)
        #expect(rules.kinds(driver.feed(.refusedVariant(second, large, malformed), at: 2)) == [.failed])
        #expect(render([large, small], at: 600_001) == nil && render([small], at: 600_001) == nil)
        #expect(render([small], at: 600_002) != nil)
        // What cannot be written in its format is no fault of the picture's.
        driver = PartitionStateTests.Driver()
        let third = try #require(render([small], at: 0))
        let output = FailureNote(RenderFailure.output(small, reason: "the test says so"))
        _ = driver.feed(.refusedVariant(third, small, output))
        #expect(render([small], at: 1) != nil)
    }

    @Test("A variant that is fresh is told as unchanged beside one that stands in, and is owed nothing")
    func freshBesideDegraded() throws {
        var driver = PartitionStateTests.Driver()
        driver.stored = try stored([("cache-control", "max-age=600")])
        let wanted = [PartitionStateTests.small, VariantSpec(width: 900, height: 900, format: .webp)]
        let pending = job(&driver, "1", wanted, .degraded)
        let (outcome, debt) = try #require(outcome(try failing(pending, &driver, at: 1_000)))
        #expect(outcome.kind == .degraded && outcome.variants.map(\.kind) == [.unchanged, .degraded])
        #expect(debt?.job.variants == [wanted[1]])
    }

    @Test("A source is no fresher than the redirects that led to it")
    func redirects() throws {
        var driver = PartitionStateTests.Driver()
        let id = try #require(
            rules.flight(driver.feed(.arrived(driver.pending("1", source, [PartitionStateTests.small])))))
        _ = driver.feed(.granted(.fetch, id))
        var head = head([("cache-control", "max-age=600")])
        let control: [(name: String, value: String)] = [(name: "cache-control", value: "max-age=60, must-revalidate")]
        head.hops = [RedirectHop(AnswerFields(control), status: 302, sent: [], asked: 0)]
        let picture = PartitionStateTests.picture
        let source = FetchedSource(body: picture.source.body, digest: picture.source.digest, head: head)
        _ = driver.feed(.fetched(id, FetchedPicture(source: source, picture: picture.picture)))
        let row = try #require(rules.renderTask(driver.feed(.granted(.render, id)))?.fetched?.row)
        #expect(row.expires == 60_000 && !row.policy.allowsStale)
    }
}
