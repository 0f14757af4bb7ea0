import Canonical
import Digest
import EmbeddedLog
import Failures
import Foundation
import ImageModel
internal import Jobs
import Partition
import Records
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("Stored files that are not what was stored", .timeLimit(.minutes(2)))
struct DamagedBlobTests {
    private let bench: Bench
    private let wanted = "320x320-q80.webp"

    /// What happens to a file; all but the last change its length.
    enum Damage: CaseIterable {
        case emptied, cut, lengthened, overwritten

        func bytes(_ bytes: Data) -> Data {
            switch self {
            case .emptied: Data()
            case .cut: bytes.prefix(bytes.count / 2)
            case .lengthened: bytes + [0]
            case .overwritten: Data(repeating: 0x5A, count: bytes.count)
            }
        }
    }

    init() throws {
        bench = try Bench()
        bench.origin.serve("/a.png", .bytes(Pixels.photograph(width: 800, height: 600, seed: 1).png, type: "image/png"))
    }

    private var source: SourceKey { get throws { try bench.rules.source(of: bench.url("/a.png")).key } }

    private func work(_ variants: [String], maxAge: Duration = 3_600_000, originals: Int = 0) async throws -> Int {
        let log = try bench.log
        try await bench.publish([(bench.url("/a.png"), variants, .fast)], to: log)
        return try await bench.work(
            {
                $0.partition.maxAge = maxAge
                $0.originalsLimit = originals
            }, log: log
        ).unchanged
    }

    private func file(_ row: VariantRow) -> URL { URL(filePath: bench.folder.file("store/\(row.location)")) }

    private func damage(_ row: VariantRow, _ damage: Damage) throws {
        try damage.bytes(try Data(contentsOf: file(row))).write(to: file(row))
    }

    private func isWhole(_ row: VariantRow) throws -> Bool {
        SHA256.digest(of: Array(try Data(contentsOf: file(row)))) == row.digest
    }

    @Test(
        "A length that is not the stored one is found at the look-up, and the file is made again",
        arguments: [
            Damage.emptied, .cut, .lengthened,
        ])
    func lookUp(damage: Damage) async throws {
        _ = try await work([wanted])
        let row = try #require(try await bench.rows(of: source).values.first)
        try self.damage(row, damage)
        #expect(try await work([wanted]) == 0)
        let again = try #require(try await bench.rows(of: source)[row.spec])
        #expect(try isWhole(again) && again.bytes == row.bytes && again.derivedFrom == .origin)
    }

    /// The store cannot tell what is gone; its rows are believed until somebody reads the file.
    @Test(
        "With a store that does not know what is gone, a lost original is found when it is read, and the source fetched"
    )
    func unknown() async throws {
        let store = InMemoryStore(knowsWhatIsGone: false)
        func work(_ variant: String) async throws -> Counters {
            let log = try bench.log
            try await bench.publish([(bench.url("/a.png"), [variant], .fast)], to: log)
            return try await bench.work({ $0.originalsLimit = 8 << 20 }, log: log, storing: { _ in store })
        }
        #expect(try await work("320x320-q80.webp").stored == 1)
        for location in store.locations { try await store.remove(location) }
        #expect(try await work("320x320-q80.webp").unchanged == 1, "unknown is not gone")
        #expect(try await work("100x100-q80.webp").stored == 1)
        #expect(bench.origin.requests(of: "/a.png") == 2)
        #expect(store.locations.count == 2, "the variant and the original")
    }

    @Test("Of many jobs that come together, those whose files are gone or cut are made again, and no others")
    func together() async throws {
        let picture = Pixels.photograph(width: 16, height: 16, seed: 1).png
        let paths = (0..<120).map { "/\($0).png" }
        for path in paths { bench.origin.serve(path, .bytes(picture, type: "image/png")) }
        func work() async throws -> Counters {
            let log = try bench.log
            try await bench.publish(paths.map { (bench.url($0), ["8x8-q80.webp"], .fast) }, to: log)
            return try await bench.work(log: log)
        }
        _ = try await work()
        var rows: [VariantRow] = []
        for path in paths[..<3] {
            rows += try await bench.rows(of: bench.rules.source(of: bench.url(path)).key).values
        }
        try FileManager.default.removeItem(at: file(rows[0]))
        try damage(rows[1], .cut)
        let again = try await work()
        #expect(again.unchanged == 118 && again.renders == 2)
        for row in rows { #expect(try isWhole(row)) }
    }

    @Test("What expired is renewed only if its bytes are those that were stored", arguments: Damage.allCases)
    func renewal(damage: Damage) async throws {
        _ = try await work([wanted, "64y64-q80.jpg", "100x100-q80.jpg"], maxAge: 1)
        let rows = try await bench.rows(of: source)
        let asked = try bench.rules.spec(of: wanted)
        let whole = try bench.rules.spec(of: "100x100-q80.jpg")
        for row in rows.values where row.spec != whole { try self.damage(row, damage) }
        // One that is damaged and wanted, and one that is whole; the third nobody asks for.
        #expect(try await work([wanted, "100x100-q80.jpg"]) == 1)
        let later = try await bench.rows(of: source)
        #expect(Set(later.keys) == [asked, whole])
        for row in later.values { #expect(try isWhole(row) && row.expires > (rows[row.spec]?.expires ?? 0)) }
    }

    @Test("A kept original that was damaged gives way to the bytes that were fetched", arguments: Damage.allCases)
    func original(damage: Damage) async throws {
        _ = try await work([wanted], maxAge: 1, originals: 10_000_000)
        let original = try #require(try await bench.sourceRow(of: source)?.original)
        let path = URL(filePath: bench.folder.file("store/.originals/\(original)"))
        let bytes = try Data(contentsOf: path)
        try damage.bytes(bytes).write(to: path)
        _ = try await work([wanted], originals: 10_000_000)
        #expect(try Data(contentsOf: path) == bytes)
    }

    @Test("Rows that name places outside the store cost work, and no job", arguments: [1 << 20, 0])
    func outside(originals: Int) async throws {
        _ = try await work([wanted], originals: originals)
        var row = try #require(try await bench.rows(of: source).values.first)
        var parent = try #require(try await bench.sourceRow(of: source))
        (row.location, parent.original) = ("../../../etc/passwd", originals > 0 ? "/etc/passwd" : nil)
        let log = try bench.log
        let partition = try source.partition(of: log.partitionCount)
        try await bench.append([row.newRecord(partition: partition), parent.newRecord(partition: partition)], to: log)
        await log.close()
        #expect(try await work([wanted, "160x160-q80.webp"], originals: originals) == 0)
        let outcomes = try await bench.outcomes()
        #expect(outcomes.count == 2 && outcomes.allSatisfy { $0.kind.isSuccess }, "\(outcomes)")
        #expect(outcomes.flatMap(\.variants).allSatisfy { $0.location?.hasPrefix(".") == false })
    }
}
