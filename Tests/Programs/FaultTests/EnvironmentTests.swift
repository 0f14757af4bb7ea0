import Foundation
import Glibc
import ImageModel
import Ports
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("What is wrong around the worker is said, with what to do", .timeLimit(.minutes(3)))
struct EnvironmentTests {
    private let place: Workplace
    init() throws { place = try Workplace() }

    private func fails(_ more: String..., with part: String) async throws {
        let worker = more.isEmpty ? try place.worker() : try place.worker(more[0])
        let ended = try await worker.ended()
        #expect(ended.status == 1)
        let last = ended.errors.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("mezzotint-worker: ") && last.contains(part), "\(ended.errors)")
        #expect(!ended.errors.contains("jobs done"))
    }

    private func publishOne(_ size: String = "40x40-q80.webp") throws {
        place.origin.serve("/a.png", .bytes(Pixels.photograph(width: 200, height: 150, seed: 3).png, type: "image/png"))
        try place.publish([(place.origin.url("/a.png"), [size], .fast)], id: size)
    }

    private var storeFiles: [URL] {
        let walk = FileManager.default.enumerator(
            at: place.folder.url.appending(path: "data"), includingPropertiesForKeys: nil)
        return (walk?.allObjects as? [URL] ?? []).filter { ["png", "webp", "jpg"].contains($0.pathExtension) }
    }

    @Test("A second worker on the same data says who holds it")
    func second() async throws {
        let first = try place.worker(untilIdle: false)
        await first.says("The worker runs")
        // Until the first owns the log the second could win it: a job that is done proves that it does.
        try publishOne()
        while try await place.outcomes().isEmpty { await Task.yield() }
        try await fails(with: "Another worker (pid \(first.pid),")
        first.signal(SIGTERM)
        #expect(try await first.ended().status == 0)
    }

    @Test("A renderer that is not there, or is none, is named")
    func noRenderer() async throws {
        try await fails("render.program=/nowhere/mezzotint-renderer", with: "/nowhere/mezzotint-renderer")
        try await fails("render.program=/bin/true", with: "/bin/true is not a working renderer: it ended with")
    }

    @Test(
        "A data directory that cannot be made is named, with why and what to do",
        arguments: [
            ("/proc/nothing", "mkdir /proc/nothing: No such file or directory"),
            ("/dev/null/data", "mkdir /dev/null/data/log: Not a directory"),
        ])
    func noDirectory(path: String, why: String) async throws {
        let sentence = "The log at \(path)/log cannot be opened: \(why)."
        try await fails(
            "data=\(path)",
            with: "\(sentence) Set data to a directory that this user can create, read and write.")
    }

    @Test("A file in the place of the log, the index or the store is named", arguments: ["log", "index", "store"])
    func fileInTheWay(name: String) async throws {
        try FileManager.default.createDirectory(
            at: place.folder.url.appending(path: "data"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: place.folder.url.appending(path: "data/\(name)"))
        try await fails(with: "data/\(name)")
    }

    @Test("A damaged log is named and not touched")
    func damagedLog() async throws {
        try publishOne()
        try await place.work()
        let file = place.folder.url.appending(path: "data/log/log.sqlite")
        let damaged = Data(repeating: 0x5A, count: 40_000)
        try damaged.write(to: file)
        try await fails(with: "data/log")
        #expect(try Data(contentsOf: file) == damaged)
    }

    @Test("A log that is removed under a running worker ends it, with what to do; what is stored is found again")
    func removedLog() async throws {
        let worker = try place.worker(untilIdle: false)
        try publishOne()
        try await eventually { try await place.outcomes().count == 1 }
        try FileManager.default.removeItem(at: place.folder.url.appending(path: "data/log"))
        let ended = try await worker.ended()
        #expect(
            ended.status == 1 && ended.errors.contains("was removed, replaced or emptied while it was in use"),
            "\(ended.errors)")
        #expect(ended.errors.contains("publish those jobs once more"))
        let again = try place.worker("store.adopt=true")
        try publishOne()
        #expect(try await Summary(again.ended())["stored"] == 1)
    }

    @Test("Indexes that are damaged, or gone, are rebuilt from the changelog", arguments: [true, false])
    func index(isDamaged: Bool) async throws {
        try publishOne()
        try await place.work()
        let folder = place.folder.url.appending(path: "data/index")
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            if isDamaged {
                try Data(repeating: 0x5A, count: 9_000).write(to: file)
            } else {
                try FileManager.default.removeItem(at: file)
            }
        }
        try publishOne()
        let worker = try place.worker()
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(ended.status == 0 && summary["unchanged"] == 1 && summary["fetches"] == 0, "\(ended.errors)")
        #expect(ended.errors.contains("rebuilt from the changelog") == isDamaged)
    }

    @Test("A stored file that is gone is made again by the next job that needs it, without a fetch")
    func repaired() async throws {
        try publishOne()
        try await place.work()
        for row in try await place.rows() {
            try FileManager.default.removeItem(atPath: place.folder.file("data/store/\(row.location)"))
        }
        try publishOne()
        let summary = try await place.work()
        #expect(summary["unchanged"] == 0 && summary["fetches"] == 0 && summary["renders"] == 1)
        #expect(try await place.rows().count == 1)
    }

    @Test(
        "Donors that are gone, cut short or damaged are not used: the source is fetched",
        arguments: ["gone", "short", "damaged"])
    func donors(fault: String) async throws {
        try publishOne("160x160-q90.jpg")
        try await place.work()
        let files = storeFiles
        #expect(files.count == 2, "a variant and the original")
        for file in files {
            var bytes = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            if fault == "gone" { continue }
            if fault == "short" { bytes.removeLast(bytes.count / 2) } else { bytes[bytes.count / 2] ^= 0x40 }
            try bytes.write(to: file)
        }
        try publishOne("40x40-q80.jpg")
        let summary = try await place.work()
        #expect(summary["jobs"] == 1 && summary["fetches"] == 1 && summary["failed"] == 0 && summary["stored"] == 1)
        // What was damaged is right again, so that the next size needs no fetch.
        try publishOne("30x30-q80.jpg")
        #expect(try await place.work()["fetches"] == 0)
    }
}
