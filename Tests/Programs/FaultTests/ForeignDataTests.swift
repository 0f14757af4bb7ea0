import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// What belongs to another data directory, in the place of what is ours.
@Suite("Parts of another data directory", .timeLimit(.minutes(2)))
struct ForeignDataTests {
    private static let variants = ["24x24-q80.webp"]

    private func place(_ count: Int) async throws -> (Workplace, [String]) {
        let place = try Workplace("log.partitions=2")
        let urls = place.draw(count)
        try place.publish(urls.map { ($0, Self.variants, .fast) })
        #expect(try await place.work()["stored"] == count)
        return (place, urls)
    }

    private func move(_ part: String, from: Workplace, to: Workplace) throws {
        try? FileManager.default.removeItem(atPath: to.folder.file("data/\(part)"))
        try FileManager.default.copyItem(
            atPath: from.folder.file("data/\(part)"), toPath: to.folder.file("data/\(part)"))
    }

    @Test("The indexes of another: named, and made anew from our changelog; nothing is fetched again")
    func index() async throws {
        let (ours, urls) = try await place(12)
        let (theirs, _) = try await place(8)
        try move("index", from: theirs, to: ours)
        try ours.publish(urls.map { ($0, Self.variants, .fast) }, id: "again")
        let ended = try await ours.worker().ended()
        let summary = try Summary(ended)
        #expect(summary["jobs"] == 12 && summary["unchanged"] == 12 && summary["fetches"] == 0, "\(ended.errors)")
        #expect(ended.errors.contains("index.mismatched") && ended.errors.contains("is not of this log's changelog"))
    }

    /// It was restored from a backup, say.
    @Test("The log of another, beside our indexes and our store: indexes are made anew, and jobs wait for its store")
    func log() async throws {
        let (ours, _) = try await place(8)
        let (theirs, urls) = try await place(12)
        try move("log", from: theirs, to: ours)
        try ours.publish(urls.map { ($0, Self.variants, .fast) }, id: "again")
        let worker = try ours.worker()
        await worker.says("store.mismatched")
        #expect(worker.isRunning && worker.errors.contains("index.mismatched"), "\(worker.errors)")
        for part in ["store", "originals"] { try move(part, from: theirs, to: ours) }
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(summary["jobs"] == 12 && summary["unchanged"] == 12, "\(ended.errors)")
    }

    @Test("A log that was removed: its rows come back from our indexes, and not from those of another store")
    func removed() async throws {
        let (ours, urls) = try await place(12)
        let (theirs, _) = try await place(8)
        try FileManager.default.removeItem(atPath: ours.folder.file("data/log"))
        let refused = try ours.run("topics", "restore", "--index", theirs.folder.file("data/index"))
        #expect(refused.status == 1 && refused.output.contains("0 rows were published"), "\(refused.output)")
        #expect(refused.errors.contains("its rows name files of the store"), "\(refused.errors)")
        let restored = try ours.run("topics", "restore")
        #expect(restored.status == 0 && restored.output.contains("24 rows were published"), "\(restored.errors)")
        try ours.publish(urls.map { ($0, Self.variants, .fast) }, id: "again")
        let summary = try Summary(try await ours.worker().ended())
        #expect(summary["jobs"] == 12 && summary["unchanged"] == 12 && summary["fetches"] == 0)
    }

    @Test("A log that was removed, and indexes of two workers: of each partition the later one's rows are published")
    func differing() async throws {
        let (ours, urls) = try await place(12)
        let earlier = ours.folder.file("earlier")
        try FileManager.default.copyItem(atPath: ours.folder.file("data/index"), toPath: earlier)
        let more = Array(ours.draw(24).suffix(12))
        try ours.publish(more.map { ($0, Self.variants, .fast) }, id: "more")
        #expect(try await ours.work()["stored"] == 12)
        try FileManager.default.removeItem(atPath: ours.folder.file("data/log"))
        let restored = try ours.run(
            "topics", "restore", "--index", earlier, "--index", ours.folder.file("data/index"))
        #expect(restored.status == 0 && restored.output.contains("48 rows were published"), "\(restored.output)")
        #expect(restored.errors.components(separatedBy: "another index of this partition is newer").count == 3)
        #expect(!restored.output.contains(earlier), "\(restored.output)")
        try ours.publish((urls + more).map { ($0, Self.variants, .fast) }, id: "again")
        let summary = try Summary(try await ours.worker().ended())
        #expect(summary["jobs"] == 24 && summary["unchanged"] == 24 && summary["fetches"] == 0)
    }

    @Test("A log that was removed: a job that waited comes back from our index, and is done once")
    func parked() async throws {
        let place = try Workplace("log.partitions=2", "retry.base=2s", "retry.cap=2s")
        place.origin.serve("/a.png", .status(503), .bytes(Workplace.picture(1).png, type: "image/png"))
        let url = place.origin.url("/a.png")
        try place.publish([(url, Self.variants, .fast)])
        #expect(try Summary(try await place.worker([], patience: "0s").ended())["waiting"] == 1)
        try FileManager.default.removeItem(atPath: place.folder.file("data/log"))
        let dry = try place.run("topics", "restore", "--dry-run")
        #expect(dry.status == 0 && dry.output.contains(": 1 parked jobs of "), "\(dry.errors)")
        let restored = try place.run("topics", "restore")
        #expect(restored.status == 0 && restored.output.contains(": 1 parked jobs of "), "\(restored.errors)")
        let shown = try place.run("outcomes", "--url", url)
        #expect(shown.errors.contains("is pending in parked: no outcome yet"), "\(shown.errors)")
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["stored"] == 1)
        #expect(try await place.outcomes().count == 1 && place.origin.requestCount == 2)
    }

    /// As a changelog that was copied from another cluster has it: far ahead of our jobs.
    @Test("A progress row of another: our jobs are done all the same")
    func progress() async throws {
        let place = try Workplace("log.partitions=1")
        let theirs = Dictionary(
            uniqueKeysWithValues: Topic.consumed.map {
                ($0, TopicProgress(next: 6, committed: 6, fingerprint: RecordFingerprint(offset: 5, timestamp: 1_000)))
            })
        try place.publish(place.draw(9).map { ($0, Self.variants, .fast) })
        try await place.append([ProgressRow(partition: PartitionID(0), topics: theirs, at: 1).newRecord()])
        let ended = try await place.worker().ended()
        let summary = try Summary(ended)
        #expect(summary["jobs"] == 9 && summary["stored"] == 9, "\(ended.errors)")
        #expect(ended.errors.contains("log.recreated"))
    }

    @Test(
        "A disk that takes no room in advance: doctor and the worker say so, once",
        .enabled(if: SmallDisk.canBeMounted, "needs the right to mount a disk (unshare -m, ramfs)"))
    func noReserve() async throws {
        let place = try Workplace()
        let script = """
            mkdir -p data/log && mount -t ramfs none data/log
            \(Built.program("mezzotint-worker").path) \(place.words) --json --until-idle
            \(Built.program("mezzotint").path) doctor \(place.words)
            """
        let ended = try await RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
            .ended()
        let says = "takes no room in advance"
        #expect(ended.status == 0 && ended.output.contains(says), "\(ended.output) \(ended.errors)")
        #expect(ended.errors.components(separatedBy: says).count == 2, "\(ended.errors)")
    }
}
