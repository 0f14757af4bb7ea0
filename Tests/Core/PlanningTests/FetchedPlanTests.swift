import ImageModel
import Images
import Planning
import TestSupport
import Testing
import VariantSpec

@Suite("Planning after a fetch: what must still be rendered", .timeLimit(.minutes(1)))
struct FetchedPlanTests {
    private let fetched = Example.sourceRow(expires: 2000)

    private func plan(_ wanted: [String], _ stored: [VariantRow], fetched: SourceRow? = nil) -> FetchedPlan {
        FetchedPlan(wanted.map { spec($0) }, snapshot: Example.snapshot(stored), fetched: fetched ?? self.fetched)
    }

    @Test("The same version again: what is stored is fresh for longer, and nothing of it is rendered")
    func sameVersion() {
        let plan = plan(["640x640.jpg"], [Example.row("640x640.jpg"), Example.row("160y160.jpg")])
        #expect(plan.batch == nil)
        #expect(plan.unchanged.map(\.expires) == [2000])
        #expect(plan.renewed.map(\.spec) == [spec("640x640.jpg"), spec("160y160.jpg")])
        #expect(plan.renewed.allSatisfy { $0.expires == 2000 && $0.storedAt == 0 })
    }

    @Test("Only what is missing is rendered, from one decode")
    func missing() throws {
        let plan = plan(["640x640.jpg", "1280x1280.jpg", "320y320.webp"], [Example.row("640x640.jpg")])
        #expect(plan.unchanged.map(\.spec) == [spec("640x640.jpg")])
        let batch = try #require(plan.batch)
        #expect(batch.summary == ["1280x1280-q80.jpg from fetched", "320y320-q80.webp from fetched"])
        #expect(batch.orders[1].output == PixelSize(width: 320, height: 320))
        #expect(batch.orders[1].crop == Region(x: 500, y: 0, width: 3000, height: 3000))
        #expect(
            batch.renderSource.derivedFrom == .origin && batch.renderSource.version == fetched.version
                && batch.renderSource.expires == 2000)
    }

    /// By reading: the second had the first's bytes, and its border, under its own name.
    @Test(
        "A small source gives one picture for several specs, but for those whose borders differ",
        arguments: [
            (["300x100.jpg", "400x100.jpg"], 1), (["300x100-pad.jpg", "400x100-pad.jpg"], 2),
            (["200x100-pad.png", "100x200-pad.png"], 2),
        ])
    func alike(specs: [String], count: Int) throws {
        let plan = plan(
            specs, [], fetched: Example.sourceRow(of: (80, 80), version: SourceVersion(word: 2), expires: 2000))
        #expect(try #require(plan.batch).distinct.count == count)
    }

    @Test("Another version: all of it is made anew, also what was unchanged before the fetch")
    func newVersion() {
        let new = Example.sourceRow(of: (800, 600), version: SourceVersion(word: 2), expires: 2000)
        let plan = plan(["640x640.jpg", "1280x1280.jpg"], [Example.row("640x640.jpg")], fetched: new)
        #expect(plan.unchanged.isEmpty && plan.renewed.isEmpty)
        #expect(
            plan.batch?.orders.map(\.output) == [
                PixelSize(width: 640, height: 480), PixelSize(width: 800, height: 600),
            ])
    }

    @Test("A row that is fresh for longer than the origin says now is so no more")
    func longer() {
        let plan = plan(["640x640.jpg"], [Example.row("640x640.jpg", expires: 9000)])
        #expect(plan.unchanged.map(\.expires) == [2000])
        #expect(plan.renewed.map(\.expires) == [2000] && plan.batch == nil)
    }

    @Test("A row that is fresh neither before nor after the fetch is not announced again")
    func neverFresh() {
        let plan = plan(
            ["640x640.jpg"], [Example.row("640x640.jpg", expires: 500)],
            fetched: Example.sourceRow(expires: 900, fetchedAt: 1000))
        #expect(plan.unchanged.map(\.expires) == [900])
        #expect(plan.renewed.isEmpty && plan.batch == nil)
    }
}
