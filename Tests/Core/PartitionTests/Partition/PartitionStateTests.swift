import Canonical
import Clocks
import Digest
import Failures
import Hosts
import ImageModel
import Images
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

@Suite("A partition's rules, one event at a time", .timeLimit(.minutes(1)))
struct PartitionStateTests {
    static let large = VariantSpec(width: 1280, height: 1280, format: .webp)
    static let small = VariantSpec(width: 160, height: 160, mode: .crop, format: .webp)
    let source = SourceKey(SHA256.digest(of: Array("a".utf8)))

    /// Drives one partition by hand; look-ups find nothing but what the test put in `stored`.
    struct Driver: ~Copyable {
        var state: PartitionState
        var stored = SourceSnapshot()
        /// When another partition of the worker was last done with a job.
        var lastPass = WallTime.distantPast
        private var offsets: [Topic: Int64] = [:]

        init(
            retry: RetryPolicy = RetryPolicy(attempts: 3, base: 100, cap: 1_000), holdLimit: Duration = 30_000,
            limits: OriginRules.GroupLimits = OriginRules.GroupLimits(),
            sent: SentHeaders? = nil
        ) {
            var rules = PartitionRules(reuse: ReuseRules(), retry: retry, holdLimit: holdLimit)
            rules.origins.limits["http://o"] = limits
            rules.sent = sent
            state = PartitionState(PartitionID(0), rules: rules, seed: 1)
        }

        mutating func feed(_ event: PartitionEvent, at now: Moment = 0) -> [JobEffect] {
            var effects: [JobEffect] = []
            state.notePass(at: lastPass)
            state.reduce(event, at: now, into: &effects)
            if case .announced = event { lastPass = max(lastPass, now.wall) }
            var next = 0
            while next < effects.count {
                if case .lookUp(let pending) = effects[next] {
                    state.reduce(.found(pending, stored), at: now, into: &effects)
                    effects.remove(at: next)
                } else {
                    next += 1
                }
            }
            return effects
        }

        mutating func pending(
            _ id: String, _ source: SourceKey, _ variants: [VariantSpec], lane: Lane = .fast, topic: Topic? = nil,
            attempts: Int = 0, notBefore: WallTime = .epoch, expires: WallTime? = nil,
            freshness: JobFreshness = .ifStale
        ) -> PendingJob {
            let topic = topic ?? .jobs(lane)
            let offset = offsets[topic, default: 0]
            offsets[topic] = offset + 1
            return PendingJob(
                job: Job(
                    id: id, url: "http://o/a", source: source, variants: variants, lane: lane, expires: expires,
                    freshness: freshness),
                record: Record(
                    topic: topic, partition: PartitionID(0), offset: offset, timestamp: 0, key: [], value: [],
                    headers: []),
                attempts: attempts, notBefore: notBefore)
        }
    }

    static let picture = FetchedPicture()

    func settled(_ effects: [JobEffect]) -> [Disposition] {
        effects.compactMap { if case .work(.complete(_, let disposition)) = $0 { disposition } else { nil } }
    }

    func kinds(_ effects: [JobEffect]) -> [OutcomeKind] {
        settled(effects).compactMap { $0.outcome?.kind }
    }

    /// Rows of jobs that wait.
    func parked(_ effects: [JobEffect]) -> [ParkedDouble] { settled(effects).compactMap(\.parked) }

    /// Failed jobs that are retried.
    func putOff(_ effects: [JobEffect]) -> [(pending: PendingJob, note: FailureNote)] {
        effects.compactMap { if case .work(.putOff(let pending, let note)) = $0 { (pending, note) } else { nil } }
    }

    func flight(_ effects: [JobEffect]) -> FlightID? {
        for case .permit(.request(_, let id, _, _, _, _)) in effects { return id }
        return nil
    }

    func renderTask(_ effects: [JobEffect]) -> RenderTask? {
        for case .work(.render(_, let task)) in effects { return task }
        return nil
    }

    func rows(_ task: RenderTask) -> [VariantRow] { task.rows(at: 0) }

    @Test("A job goes through fetch, render, announce and fold, and is answered only then")
    func oneJob() throws {
        var driver = Driver()
        let pending = driver.pending("j", source, [Self.large])
        let id = try #require(flight(driver.feed(.arrived(pending))))
        guard case .work(.fetch(_, let request)) = try #require(driver.feed(.granted(.fetch, id)).first) else {
            Issue.record("no fetch")
            return
        }
        #expect(request == FetchRequest(url: "http://o/a", lane: .fast))
        _ = driver.feed(.fetched(id, Self.picture))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(task.batch?.orders.map(\.spec) == [Self.large] && !task.isReuse)
        _ = driver.feed(.rendered(id))
        let announced = driver.feed(.announced(id, original: nil, rows: rows(task), position: 2))
        #expect(settled(announced).isEmpty)
        #expect(kinds(driver.feed(.folded(1))).isEmpty)
        #expect(kinds(driver.feed(.folded(2))) == [.stored])
        let done = driver.feed(.acknowledged([pending.place]))
        guard case .work(.commit(.jobsFast, 1)) = try #require(done.first) else {
            Issue.record("no commit")
            return
        }
    }

    @Test(
        "Pixels are asked whether alpha shows only if a format depends on it",
        arguments: [
            (["90x0.auto"], true), (["90x0.png", "90x0.auto"], true), (["90x0.png"], false),
            (["90x0-webp.auto"], false),
            (["90x0-bgffffff.auto"], false),
        ])
    func alpha(specs: [String], isAsked: Bool) throws {
        var driver = Driver()
        let id = try #require(
            flight(driver.feed(.arrived(driver.pending("one", source, try specs.map { try VariantSpec($0) })))))
        guard case .work(.fetch(_, let request)) = try #require(driver.feed(.granted(.fetch, id)).first) else {
            Issue.record("no fetch")
            return
        }
        #expect(request.needsAlpha == isAsked)
    }

    @Test("A format that a job left open is chosen when the fetch has told of the source, and has no other name since")
    func auto() throws {
        let open = try VariantSpec("640x0-avif-webp.auto")
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("one", source, [open, Self.large])))))
        _ = driver.feed(.granted(.fetch, id))
        let moving = FetchedPicture(format: .gif, hasAlpha: true, frames: 12)
        _ = driver.feed(.fetched(id, moving))
        // One that joins now knows as much.
        _ = driver.feed(.arrived(driver.pending("two", source, [try VariantSpec("90x0.auto")])))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(
            task.batch?.orders.map { "\($0.spec)" } == ["640x0-q80.webp", "\(Self.large)", "90x0.gif"]
                && task.source?.frames == 12)
        _ = driver.feed(.rendered(id))
        _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 5))
        let answers = settled(driver.feed(.folded(5)))
        guard case .outcome(let outcome) = try #require(answers.first) else {
            Issue.record("no outcome")
            return
        }
        #expect(outcome.variants.map { "\($0.spec)" } == ["640x0-q80.webp", "\(Self.large)"])
    }

    @Test("A job for a source in flight joins it, and its variants come from the same decode")
    func joins() throws {
        var driver = Driver()
        let first = driver.pending("one", source, [Self.large])
        let id = try #require(flight(driver.feed(.arrived(first))))
        _ = driver.feed(.granted(.fetch, id))
        let second = driver.pending("two", source, [Self.small, Self.large])
        #expect(flight(driver.feed(.arrived(second))) == nil)
        _ = driver.feed(.fetched(id, Self.picture))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(task.batch?.orders.map(\.spec) == [Self.large, Self.small])
        _ = driver.feed(.rendered(id))
        _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 3))
        #expect(kinds(driver.feed(.folded(3))) == [.stored, .stored])
    }

    @Test("A job that comes after the decode is planned anew when the flight is over")
    func late() throws {
        var driver = Driver()
        let first = driver.pending("one", source, [Self.large])
        let id = try #require(flight(driver.feed(.arrived(first))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, Self.picture))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        let lateJob = driver.pending("two", source, [Self.large])
        #expect(driver.feed(.arrived(lateJob)).isEmpty)
        _ = driver.feed(.rendered(id))
        _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 2))
        driver.stored = SourceSnapshot(source: task.source, variants: rows(task))
        #expect(kinds(driver.feed(.folded(2))) == [.stored, .unchanged])
    }

    @Test("A fast job makes the slow flight that it joins fast")
    func promotion() throws {
        var driver = Driver()
        let slow = driver.pending("slow", source, [Self.large], lane: .slow)
        let id = try #require(flight(driver.feed(.arrived(slow))))
        let fast = driver.pending("fast", source, [Self.large], lane: .fast)
        guard case .permit(.move(id, .fast, _)) = try #require(driver.feed(.arrived(fast)).first) else {
            Issue.record("the flight stayed slow")
            return
        }
    }

    @Test("A job that joins and needs more than donors give turns the reuse into a fetch")
    func reuseBecomesFetch() throws {
        var driver = Driver()
        let row = VariantRow(
            source: source, spec: VariantSpec(width: 640, height: 640, quality: 90, format: .jpeg),
            version: Self.picture.source.version, size: PixelSize(width: 640, height: 320), bytes: 1,
            digest: SHA256.digest(of: []), location: "d", derivedFrom: .origin,
            sourceSize: PixelSize(width: 2_000, height: 1_000),
            region: Region(x: 0, y: 0, width: 2_000, height: 1_000), hasAlpha: false, storedAt: 0, expires: 1_000_000)
        driver.stored = SourceSnapshot(variants: [row])
        let small = VariantSpec(width: 320, height: 0, format: .jpeg)
        let first = driver.pending("one", source, [small])
        let asked = driver.feed(.arrived(first))
        guard case .permit(.request(.render, let id, _, _, _, _)) = try #require(asked.first) else {
            Issue.record("no donor was taken")
            return
        }
        _ = driver.feed(.arrived(driver.pending("two", source, [Self.large])))
        let granted = driver.feed(.granted(.render, id))
        #expect(renderTask(granted) == nil)
        guard case .permit(.request(.fetch, id, _, _, _, _)) = try #require(granted.last) else {
            Issue.record("no fetch was asked for")
            return
        }
    }

    @Test(
        "A source that changed is made anew in all that was asked of it, also what was counted unchanged before the fetch"
    )
    func newVersion() throws {
        var driver = Driver()
        let old = { (spec: VariantSpec) in
            VariantRow(
                source: self.source, spec: spec, version: SourceVersion(word: 6),
                size: PixelSize(width: 640, height: 320),
                bytes: 1, digest: SHA256.digest(of: []), location: "\(spec)", derivedFrom: .origin,
                sourceSize: PixelSize(width: 2_000, height: 1_000),
                region: Region(x: 0, y: 0, width: 2_000, height: 1_000), hasAlpha: false, storedAt: 0,
                expires: 1_000_000)
        }
        let (donor, small) = (
            old(VariantSpec(width: 640, height: 640, quality: 90, format: .jpeg)),
            VariantSpec(width: 320, height: 0, format: .jpeg)
        )
        driver.stored = SourceSnapshot(variants: [donor])
        let id = try #require(flight(driver.feed(.arrived(driver.pending("j", source, [donor.spec, small])))))
        #expect(renderTask(driver.feed(.granted(.render, id)))?.isReuse == true)
        _ = driver.feed(.blobsGone(id, locations: ["none of ours"]))
        _ = driver.feed(.granted(.render, id))
        // The donor is gone in truth: the source is fetched, and is another by now.
        driver.stored = SourceSnapshot()
        _ = driver.feed(.blobsGone(id, locations: [donor.location]))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, Self.picture))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(task.batch?.orders.map(\.spec) == [donor.spec, small])
        // One that cannot be written does not bring the old rows back.
        let note = FailureNote(code: "render.output", message: "no", verdict: .fail)
        _ = driver.feed(.refusedVariants(id, [small], note))
        let again = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(again.batch?.orders.map(\.spec) == [donor.spec])
        #expect(again.batch?.renderSource.version == Self.picture.source.version)
    }

    @Test(
        "What a failure means for the job",
        arguments: [
            (verdict: Verdict.fail, attempts: 0, ends: "failed"),
            (verdict: .retry, attempts: 0, ends: "retry 1"), (verdict: .retry, attempts: 1, ends: "retry 2"),
            (verdict: .retry, attempts: 2, ends: "dead"), (verdict: .wait, attempts: 2, ends: "retry 2"),
            (verdict: .deadLetter, attempts: 0, ends: "dead"),
        ])
    func failures(verdict: Verdict, attempts: Int, ends: String) throws {
        var driver = Driver()
        let pending = driver.pending("j", source, [Self.large], attempts: attempts)
        let id = try #require(flight(driver.feed(.arrived(pending))))
        _ = driver.feed(.granted(.fetch, id))
        let note = FailureNote(code: "x", message: "y", verdict: verdict)
        let effects = driver.feed(.failed(id, note), at: 1_000)
        switch try #require(settled(effects).first) {
        case .outcome(let outcome): #expect(outcome.kind.rawValue == ends)
        case .dead: #expect(ends == "dead")
        case .park(let later, _, let cause):
            #expect(ends == "retry \(later.attempts)" && later.notBefore > 1_000 && cause == note)
            #expect(putOff(effects).count == 1)
        case .refreshing, .paid, .changed, .unpark, .move, .control, .rekey: Issue.record("\(effects)")
        }
    }

    @Test("A failure of a flight that is over, or of an earlier ownership, halts nothing and answers nobody")
    func failedTwice() throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("j", source, [Self.large])))))
        let note = FailureNote(code: "store.full", message: "full", verdict: .wait)
        #expect(driver.feed(.failed(FlightID(PartitionID(0), 0), note)).isEmpty)
        #expect(putOff(driver.feed(.failed(id, note))).count == 1)
        #expect(driver.feed(.failed(id, note)).isEmpty)
    }

    @Test("A donor that is gone is not tried again: the source is fetched")
    func donorGone() throws {
        var driver = Driver()
        let spec = VariantSpec(width: 1280, height: 1280, quality: 90, format: .jpeg)
        let row = VariantRow(
            source: source, spec: spec, version: Self.picture.source.version, size: PixelSize(width: 1280, height: 640),
            bytes: 1, digest: SHA256.digest(of: []), location: "gone", derivedFrom: .origin,
            sourceSize: PixelSize(width: 2_000, height: 1_000), region: Region(x: 0, y: 0, width: 2_000, height: 1_000),
            hasAlpha: false, storedAt: 0, expires: 1_000_000)
        driver.stored = SourceSnapshot(variants: [row])
        let asked = driver.feed(
            .arrived(driver.pending("j", source, [VariantSpec(width: 640, height: 0, format: .jpeg)])))
        guard case .permit(.request(.render, let id, _, _, _, _)) = try #require(asked.first) else {
            Issue.record("no donor was taken")
            return
        }
        #expect(renderTask(driver.feed(.granted(.render, id)))?.isReuse == true)
        guard
            case .permit(.request(.fetch, id, _, _, _, _)) = try #require(
                driver.feed(.blobsGone(id, locations: ["gone"])).last)
        else {
            Issue.record("no fetch was asked for")
            return
        }
    }
}
