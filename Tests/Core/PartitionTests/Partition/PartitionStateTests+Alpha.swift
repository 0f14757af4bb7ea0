import Canonical
import Digest
import Failures
import ImageModel
import Images
import Jobs
internal import Ledger
import Partition
import Permits
import Planning
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

/// What is known of a source's alpha, and formats that depend on it.
extension PartitionStateTests {
    /// By reading, the old code fails: the joined job became a PNG in the flight of the first.
    @Test("A format is chosen by alpha that was looked at: of a header alone, the source is fetched again")
    func uncheckedAlpha() throws {
        let open = try VariantSpec("90x0.auto")
        var driver = Driver()
        let first = try #require(
            flight(driver.feed(.arrived(driver.pending("one", source, [try VariantSpec("90x90.jpg")])))))
        _ = driver.feed(.granted(.fetch, first))
        _ = driver.feed(.arrived(driver.pending("two", source, [open])))
        let picture = FetchedPicture(hasAlpha: true)
        _ = driver.feed(
            .fetched(
                first, FetchedPicture(source: picture.source, picture: picture.picture, isAlphaUnchecked: true)))
        _ = driver.feed(.arrived(driver.pending("three", source, [open])))
        let task = try #require(renderTask(driver.feed(.granted(.render, first))))
        #expect(task.batch?.orders.map { "\($0.spec)" } == ["90x90-q80.jpg"] && task.source?.isAlphaUnchecked == true)
        _ = driver.feed(.rendered(first))
        let stored = rows(task)
        _ = driver.feed(.announced(first, original: nil, rows: stored, position: 5))
        driver.stored = SourceSnapshot(source: task.source?.checked(by: stored), variants: stored)
        let effects = driver.feed(.folded(5))
        #expect(kinds(effects) == [.stored])
        let second = try #require(flight(effects))
        guard case .work(.fetch(_, let request)) = try #require(driver.feed(.granted(.fetch, second)).first) else {
            Issue.record("no fetch")
            return
        }
        #expect(request.needsAlpha && request.known == nil)
        _ = driver.feed(.fetched(second, picture))
        let again = try #require(renderTask(driver.feed(.granted(.render, second))))
        #expect(again.batch?.orders.map { "\($0.spec)" } == ["90x0.png"])
    }

    /// By reading: the source was fetched for both.
    @Test("A job for auto that joins once the kept original was looked at is rendered from it, without a fetch")
    func joiningBehindLook() throws {
        var driver = Driver()
        let jpeg = driver.pending("one", source, [try VariantSpec("90x90.jpg")])
        let first = try #require(flight(driver.feed(.arrived(jpeg))))
        _ = driver.feed(.granted(.fetch, first))
        let picture = FetchedPicture(hasAlpha: true)
        _ = driver.feed(
            .fetched(
                first, FetchedPicture(source: picture.source, picture: picture.picture, isAlphaUnchecked: true)))
        let fetched = try #require(renderTask(driver.feed(.granted(.render, first))))
        var row = try #require(fetched.source)
        (row.original, row.expires) = ("original", 1_000)
        driver = Driver()
        driver.stored = SourceSnapshot(source: row, variants: [])
        let id = try #require(
            flight(driver.feed(.arrived(driver.pending("two", source, [try VariantSpec("90x0.auto")])))))
        let look = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(look.batch?.orders.map(\.spec.isAuto) == [true])
        _ = driver.feed(.rendered(id))
        row.isAlphaUnchecked = false
        _ = driver.feed(.looked(id, row))
        // Its look-up was before the row of the look.
        _ = driver.feed(.arrived(driver.pending("three", source, [try VariantSpec("60x0.auto")])))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(task.batch?.orders.map { "\($0.spec)" } == ["90x0.png", "60x0.png"])
    }

    @Test(
        "What rendered variants show of their source's alpha: all of it, if they show all of it",
        arguments: [
            ("200x200.png", false, false, false), ("200x200.webp", false, false, false),
            ("90x90.png", true, true, false),
            ("90y90.png", true, true, false), ("200y200.png", false, true, true), ("200x200.jpg", false, true, true),
            ("200x200.gif", true, true, true), ("200x200-pad.png", true, true, true), ("20x20.png", false, true, true),
            ("200x200-bgffffff.png", false, true, true),
        ])
    func checkedAlpha(text: String, isClear: Bool, hasAlpha: Bool, isUnchecked: Bool) throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("j", source, [try VariantSpec(text)])))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, FetchedPicture(hasAlpha: true)))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        var row = try #require(task.source)
        let variants = rows(task).map { row in
            var row = row
            row.hasAlpha = isClear
            return row
        }
        #expect(row.checked(by: variants) == row)
        row.isAlphaUnchecked = true
        let checked = row.checked(by: variants)
        #expect(checked.hasAlpha == hasAlpha && checked.isAlphaUnchecked == isUnchecked)
    }
}
