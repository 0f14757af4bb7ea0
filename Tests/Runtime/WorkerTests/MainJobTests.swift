import Canonical
import Digest
import Foundation
import ImageModel
import Ports
import Posix
import Records
import Store
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("The main job, end to end, on real adapters", .timeLimit(.minutes(3)))
struct MainJobTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        let photo = Pixels.photograph(width: 800, height: 600, seed: 1)
        bench.origin.serve("/a.png", .bytes(photo.png, type: "image/png"))
    }

    @Test("One URL is fetched once, rendered, stored and answered; the same job again does nothing")
    func thread() async throws {
        let log = try bench.log
        try await bench.publish([(bench.url("/a.png"), ["320x320-q80.webp", "64y64-q80.jpg"], .fast)], to: log)
        let counters = try await bench.work(log: log)
        #expect(counters.jobs == 1 && counters.stored == 2 && counters.fetches == 1 && counters.renders == 2)
        let outcome = try #require(try await bench.outcomes().first)
        #expect(outcome.kind == .stored)

        let again = try bench.log
        try await bench.publish([(bench.url("/a.png"), ["320x320-q80.webp", "64y64-q80.jpg"], .slow)], to: again)
        let second = try await bench.work(log: again)
        #expect(second.jobs == 1 && second.unchanged == 2 && second.requests == 0 && second.renders == 0)
        #expect(bench.origin.requestCount == 1)
    }

    @Test("A file that stood in the store without a row is kept, and its row claims no more than is known")
    func foundInStore() async throws {
        let photo = Pixels.photograph(width: 800, height: 600, seed: 1)
        let (source, version) = (
            try bench.rules.source(of: bench.url("/a.png")).key, SourceVersion(SHA256.digest(of: photo.png))
        )
        let spec = try bench.rules.spec(of: "320x320-q90.jpg")
        let left = try OpenFile(anonymous: "left")
        try left.append(Pixels.photograph(width: 320, height: 240, seed: 2).png)
        let found = try await FileStore(root: bench.folder.file("store"))
            .put(FileSlice(whole: left), as: BlobName(source, version, spec))

        let log = try bench.log
        try await bench.publish([(bench.url("/a.png"), ["320x320-q90.jpg", "640x640-q90.jpg"], .fast)], to: log)
        try await bench.work({ $0.originalsLimit = 0 }, log: log)
        let rows = try await bench.rows(of: source)
        #expect(rows[spec]?.digest == found.digest && rows[spec]?.bytes == found.bytes)
        #expect(rows[spec]?.derivedFrom == .donor(spec))
        #expect(try rows[bench.rules.spec(of: "640x640-q90.jpg")]?.derivedFrom == .origin)
    }

    @Test("Specs that come to the same picture of a small source are made once and stored under each name")
    func samePictures() async throws {
        let specs = ["1280x1280-q80.webp", "2000x0-q80.webp", "full-q80.webp", "full-q70.webp", "400x300-q80.webp"]
        let log = try bench.log
        try await bench.publish([(bench.url("/a.png"), specs, .fast)], to: log)
        let counters = try await bench.work(log: log)
        #expect(counters.stored == 5 && bench.ordered == [3])
        let rows = try await bench.rows(of: bench.rules.source(of: bench.url("/a.png")).key)
        let digests = try specs.map { try rows[bench.rules.spec(of: $0)]?.digest }
        #expect(rows.count == 5 && Set(digests[..<3]).count == 1 && Set(digests).count == 3)
    }

    @Test("A kept original that is gone leaves its source's row, also where the source cannot be fetched again")
    func lostOriginal() async throws {
        let photo = Pixels.photograph(width: 200, height: 150, seed: 5)
        bench.origin.serve("/small.png", .bytes(photo.png, type: "image/png"))
        let log = try bench.log
        try await bench.publish([(bench.url("/small.png"), ["80x80-q80.webp"], .fast)], to: log)
        try await bench.work(log: log)
        let source = try bench.rules.source(of: bench.url("/small.png")).key
        let original = try #require(try await bench.sourceRow(of: source)?.original)
        try FileManager.default.removeItem(atPath: bench.folder.file("store/.originals/\(original)"))
        bench.origin.serve("/small.png", .status(404))
        let again = try bench.log
        try await bench.publish([(bench.url("/small.png"), ["120x120-q80.webp"], .fast)], to: again)
        #expect(try await bench.work(log: again).failed == 1)
        let row = try #require(try await bench.sourceRow(of: source))
        #expect(row.original == nil && row.size == PixelSize(width: 200, height: 150))
    }
}
