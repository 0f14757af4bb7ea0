import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("A worker's last line", .timeLimit(.minutes(2)))
struct SummaryTests {
    @Test("It has every field that scripts rely on, with what the run came to")
    func fields() async throws {
        let place = try Workplace()
        let picture = Pixels.photograph(width: 120, height: 90, seed: 4).png
        place.origin.serve("/a.png", .bytes(picture, type: "image/png"))
        let (url, gone) = (place.origin.url("/a.png"), place.origin.url("/gone.png"))
        try place.publish([(url, ["64x64-q80.webp", "32x32-q80.jpg"], .fast), (gone, ["32x32.png"], .slow)])
        let late = "{\"url\":\"\(url)\",\"variants\":[\"10x10.png\"],\"expires\":978307200000}"
        #expect(try place.run("publish", "-", input: late).status == 0)
        try await place.append([
            NewRecord(topic: .jobsFast, partition: PartitionID(0), key: [], value: Array("{".utf8))
        ])
        let first = try await place.work()
        #expect(
            first.names.isSuperset(of: [
                "jobs", "stored", "reused", "unchanged", "failed", "expired", "cancelled", "dead", "fetches",
                "fetchedBytes", "notModified", "stale", "degraded", "renders", "requests", "waiting", "seconds",
                "peakMemoryBytes",
                "rendererPeakMemoryBytes",
            ]))
        #expect(
            [
                "jobs", "stored", "reused", "unchanged", "failed", "expired", "cancelled", "dead", "fetches", "renders",
                "requests", "waiting",
            ]
            .map { first[$0] } == [4, 2, 0, 0, 1, 1, 0, 1, 1, 2, 2, 0])
        #expect(first["fetchedBytes"] == picture.count)
        // Two renderers and a worker; neither is so small, nor so large.
        let plausible = 4 << 20...1 << 30
        #expect(plausible.contains(first["peakMemoryBytes"]) && plausible.contains(first["rendererPeakMemoryBytes"]))
        #expect((0...120).contains(first["seconds"]))

        // The kept original gives one more size without a fetch; what was stored stays.
        try place.publish(
            [(url, ["64x64-q80.webp", "32x32-q80.jpg"], .slow), (url, ["48x48-q80.webp"], .fast)], id: "again")
        let second = try await place.work()
        #expect(
            ["jobs", "stored", "reused", "unchanged", "failed", "fetches", "fetchedBytes", "renders"].map { second[$0] }
                == [2, 0, 1, 2, 0, 0, 0, 1])
        #expect(first["reusedOriginals"] == 0 && second["reusedOriginals"] == 1)
        let reused = try #require(try await place.outcomes().flatMap(\.variants).first { $0.kind == .reused })
        #expect(reused.isFromKept && reused.derivedFrom == .origin)
        let listed = try place.run("variants", url).output
        #expect(listed.contains("The store: data/store\n"))
        #expect(
            listed.contains(#/48x48-q80\.webp .* original \(kept\) /#)
                && listed.contains(#/64x64-q80\.webp .* origin /#))
        let json = try place.run("variants", "--json", url).output
        #expect(json.components(separatedBy: "\"derivedFrom\":\"origin\",\"keptOriginal\":true").count == 2)
        let outcomes = try place.run("outcomes", "--json", "--url", url).output
        #expect(
            outcomes.components(separatedBy: "\"derivedFrom\":\"origin\",\"keptOriginal\":true").count == 2,
            "\(outcomes)")
    }

    @Test("Its table shows the figures that are not 0, in units for people")
    func table() async throws {
        let place = try Workplace()
        try place.publish([(place.draw(1)[0], ["64x64-q80.webp"], .fast)])
        let ended = try Built.run("mezzotint-worker", place.programWords + ["--until-idle"], in: place.folder.url)
        let names = ended.lines.map { $0.split(separator: "  ")[0] }
        #expect(
            names == [
                "jobs", "stored", "fetches", "requests", "fetched", "renders", "time", "peak memory",
                "renderer peak memory",
            ])
        #expect(
            ended.output.contains(#/\nfetched +\d+(\.\d)? (B|KiB)\n/#)
                && ended.output.contains(#/\npeak memory +\d+\.\d MiB\n/#))
    }
}
