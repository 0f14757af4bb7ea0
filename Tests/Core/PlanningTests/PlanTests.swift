import Clocks
import Digest
import ImageModel
import Images
import Planning
import TestSupport
import Testing
import VariantSpec

@Suite("Planning: unchanged, reused or fetched", .timeLimit(.minutes(1)))
struct PlanTests {
    @Test("What is stored and fresh is unchanged, in the order asked")
    func unchanged() {
        let rows = ["160y160.jpg", "640x640.jpg", "1280x1280.jpg"].map { Example.row($0) }
        let plan = Plan(["1280x1280.jpg", "160y160.jpg"], Example.snapshot(rows))
        #expect(plan.summary == ["1280x1280-q80.jpg unchanged", "160y160-q80.jpg unchanged"])
    }

    @Test("Of a source that nothing is known of, everything is fetched")
    func unknown() {
        #expect(Plan(["640x640.jpg"], SourceSnapshot()).summary == ["640x640-q80.jpg fetched"])
    }

    @Test("What has expired, or shows an older version, is not unchanged and stands in for nothing")
    func superseded() {
        let rows = [Example.row("1280x1280-q95.jpg")]
        #expect(Plan(["1280x1280-q95.jpg"], Example.snapshot(rows), now: 1000).summary == ["1280x1280-q95.jpg fetched"])
        let newer = Example.snapshot(rows, source: Example.sourceRow(version: SourceVersion(word: 2)))
        #expect(
            Plan(["1280x1280-q95.jpg", "640x640.jpg"], newer).summary
                == ["1280x1280-q95.jpg fetched", "640x640-q80.jpg fetched"])
    }

    @Test("Without the source's row the version stored last is the newest")
    func withoutSource() {
        let old = Example.row("640x640.jpg", version: SourceVersion(word: 9), storedAt: 1)
        let new = Example.row("160y160.jpg", storedAt: 2)
        let plan = Plan(["640x640.jpg", "160y160.jpg"], Example.snapshot([old, new], source: nil))
        #expect(plan.summary == ["160y160-q80.jpg unchanged", "640x640-q80.jpg fetched"])
    }

    @Test("If anything must be fetched, everything missing is rendered from that fetch")
    func allFromTheFetch() {
        let snapshot = Example.snapshot([Example.row("1280x1280-q90.jpg"), Example.row("160y160.jpg")])
        #expect(Plan(["640x640.jpg"], snapshot).summary == ["640x640-q80.jpg from 1280x1280-q90.jpg"])
        #expect(
            Plan(["640x640.jpg", "160y160.jpg", "1920x1920.jpg"], snapshot).summary
                == ["160y160-q80.jpg unchanged", "640x640-q80.jpg fetched", "1920x1920-q80.jpg fetched"])
    }

    @Test("From a kept original everything missing is made, at any size, as from the origin")
    func original() throws {
        let source = Example.sourceRow(original: "ab/original.jpg")
        let snapshot = Example.snapshot([Example.row("1280x1280-q95.jpg")], source: source)
        let plan = Plan(["1920x1920.png", "640x640.jpg"], snapshot)
        #expect(plan.summary == ["1920x1920.png from original", "640x640-q80.jpg from original"])
        let renderSource = try #require(plan.reuses.first).renderSource
        #expect(renderSource.input == .original(source, at: "ab/original.jpg"))
        #expect(renderSource.derivedFrom == .origin && !renderSource.isDonor && renderSource.expires == source.expires)
    }

    /// From a fetch, from the kept original, and from a stored variant; without the source's row nobody knows where it lies.
    @Test("Crops that name no place lie around the regions that the source marks, whatever they are made from")
    func marked() throws {
        let rows = [Example.row("2000x2000-q95.jpg")]
        let wanted = ["300y300.jpg", "300y300-west.jpg", "300y200.jpg"]
        func crops(_ source: SourceRow?) -> [Region?] {
            let plan = Plan(wanted, Example.snapshot(rows, source: source))
            return wanted.map { text in
                plan.reuses.flatMap { batch in
                    batch.orders.filter { $0.spec == spec(text) }.map {
                        batch.renderSource.row(
                            of: $0.spec, as: Rendition(size: $0.output, hasAlpha: false, quality: 80), facts: nil,
                            bytes: 1,
                            digest: SHA256.digest(of: []), location: "", at: 0
                        ).region
                    }
                }.first
            }
        }
        var source = Example.sourceRow()
        let middle = [
            Region(x: 500, y: 0, width: 3000, height: 3000), Region(x: 0, y: 0, width: 3000, height: 3000),
            Region(x: 0, y: 167, width: 4000, height: 2666),
        ]
        #expect(crops(source) == middle)
        let regions = try #require([KeptRegion](checking: [600, 50, 200, 100, 100, 50, 100, 100, 900, 50, 100, 100]))
        source.regions = regions
        let around = [
            Region(x: 1000, y: 0, width: 3000, height: 3000), middle[1], Region(x: 0, y: 0, width: 4000, height: 2667),
        ]
        #expect(crops(source) == around)
        source.original = "ab/original.jpg"
        #expect(crops(source) == around)
        #expect(crops(nil) == [nil, nil, nil])
        // A row of a program that did not look: no donor, and the kept original is asked itself.
        let kept = try #require(source.original)
        (source.regions, source.isFocusKnown, source.original) = ([], false, nil)
        #expect(crops(source) == [nil, nil, nil])
        #expect(Plan(["300y300-west.jpg", "300x300.jpg"], Example.snapshot(rows, source: source)).toFetch.isEmpty)
        source.original = kept
        let planned = try #require(Plan(wanted, Example.snapshot(rows, source: source)).reuses.first)
        let inspected = planned.inspected(regions)
        #expect(planned.orders.map(\.crop) == middle && inspected.orders.map(\.crop) == around)
        #expect(inspected.renderSource.regions == regions)
        (source.regions, source.isFocusKnown) = (regions, true)
        let fetched = try #require(
            FetchedPlan(wanted.map { spec($0) }, snapshot: Example.snapshot([]), fetched: source).batch)
        #expect(fetched.orders.map(\.crop) == around)
    }

    @Test("An original that has expired is fetched anew")
    func staleOriginal() {
        let snapshot = SourceSnapshot(source: Example.sourceRow(original: "ab/original.jpg", expires: 5))
        #expect(Plan(["640x640.jpg"], snapshot).summary == ["640x640-q80.jpg fetched"])
        #expect(
            Plan(["640x640.jpg"], snapshot, rules: .example(allowsStale: true)).summary == [
                "640x640-q80.jpg from original"
            ])
    }

    @Test("Each donor is decoded once for all that is made from it")
    func grouped() throws {
        let snapshot = Example.snapshot([Example.row("1280x1280-q95.jpg"), Example.row("300y300-q95.jpg")])
        let plan = Plan(["640x640.jpg", "120y120.jpg", "320x320.jpg"], snapshot)
        #expect(plan.toFetch.isEmpty)
        #expect(plan.reuses.flatMap(\.orders).count == 3)
        #expect(Set(plan.reuses.map(\.renderSource)).count == plan.reuses.count)
        #expect(plan.reuses.contains { $0.orders.count > 1 })
    }

    @Test("With reuse switched off whatever is missing is fetched")
    func disabled() {
        let source = Example.sourceRow(original: "ab/original.jpg")
        let snapshot = Example.snapshot([Example.row("1280x1280-q95.jpg")], source: source)
        let plan = Plan(["1280x1280-q95.jpg", "640x640.jpg"], snapshot, rules: .example(isEnabled: false))
        #expect(plan.summary == ["1280x1280-q95.jpg unchanged", "640x640-q80.jpg fetched"])
    }

    @Test("An order from a donor asks for the pixels that the source would have given, cut from the donor's own")
    func order() throws {
        // 1280×961 of 4000×3003; 641 wide is 481 high from the source, and 481.3 from the donor.
        let snapshot = Example.snapshot(
            [Example.row("1280x1280-q95.jpg", of: (4000, 3003))], source: Example.sourceRow(of: (4000, 3003)))
        let orders = Plan(["641x641.jpg", "160y160-axis0_0.jpg"], snapshot).reuses.flatMap(\.orders)
        try #require(orders.count == 2)
        #expect(orders[0].output == PixelSize(width: 641, height: 481))
        #expect(orders[0].crop == Region(x: 0, y: 0, width: 1280, height: 961))
        #expect(orders[1].output == PixelSize(width: 160, height: 160))
        #expect(abs(orders[1].crop.width - 960.96) < 1e-9 && orders[1].crop.height == 961 && orders[1].crop.x == 0)
    }

    @Test("A row inherits version, size and freshness from what it was made of")
    func row() throws {
        let donor = Example.row("1280x1280-q95.jpg", expires: 77)
        let batch = try #require(Plan(["160y160.jpg"], Example.snapshot([donor])).reuses.first)
        let row = batch.renderSource.row(
            of: spec("160y160.jpg"),
            as: Rendition(size: PixelSize(width: 160, height: 160), hasAlpha: false, quality: 80), facts: nil, bytes: 9,
            digest: donor.digest, location: "x", at: 50)
        #expect(row.derivedFrom == .donor(donor.spec) && row.generation == 2)
        #expect(row.region == Region(x: 500, y: 0, width: 3000, height: 3000))
        #expect(
            row.expires == 77 && row.storedAt == 50 && row.version == donor.version
                && row.sourceSize == donor.sourceSize)
    }

    @Test(
        "Each variant is in exactly one place, and no plan both fetches and reuses", arguments: 0..<40 as Range<UInt64>)
    func once(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let texts = [
            "full.png", "1920x1920-q95.jpg", "1280x1280-q80.webp", "1280x1280-q90.jpg", "640x640-q80.jpg",
            "640y640-q90.jpg",
            "320x320-q80.webp", "160y160-q80.jpg", "160y160-axis0_0.png", "2000z500-q90.webp",
        ]
        for _ in 0..<200 {
            let stored = texts.shuffled(using: &random).prefix(.random(in: 0...6, using: &random)).map {
                Example.row(
                    $0, version: SourceVersion(word: .random(in: 1...2, using: &random)),
                    expires: WallTime(milliseconds: .random(in: 5...30, using: &random)))
            }
            let wanted = Array(texts.shuffled(using: &random).prefix(.random(in: 1...6, using: &random)))
            let original = Bool.random(using: &random) ? "o" : nil
            let source =
                Bool.random(using: &random)
                ? Example.sourceRow(
                    original: original, expires: WallTime(milliseconds: .random(in: 5...30, using: &random))) : nil
            let plan = Plan(wanted, SourceSnapshot(source: source, variants: stored))
            let placed = plan.unchanged.map(\.spec) + plan.reuses.flatMap(\.orders).map(\.spec) + plan.toFetch
            #expect(placed.count == wanted.count)
            #expect(Set(placed) == Set(wanted.map { spec($0) }))
            #expect(plan.toFetch.isEmpty || plan.reuses.isEmpty)
            for batch in plan.reuses where batch.renderSource.isDonor {
                guard case .donor(let row) = batch.renderSource.input else { continue }
                #expect(row.derivedFrom == .origin && row.expires > 10)
            }
        }
    }
}
