import Foundation
import Glibc
import ImageModel
import Records
import TestSupport
import TestWorkplace
import Testing

/// Folders that older versions left: `Fixtures/make` says what is in them.
@Suite("A data folder of an older version", .timeLimit(.minutes(2)))
struct UpgradeTests {
    /// Of 127/8, and none that anybody listens at.
    private static let origin = "http://127.83.27.5:18999"

    /// Nobody listens at the origin.
    private func place() throws -> Workplace {
        let place = try Workplace("log.partitions=1", "retry.attempts=2", "store.maxAge=3650d")
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/data-454fb1b.tar.gz")
        let unpacked = try Process.run(
            URL(filePath: "/usr/bin/tar"), arguments: ["-xzf", fixture.path, "-C", place.folder.url.path])
        unpacked.waitUntilExit()
        #expect(unpacked.terminationStatus == 0)
        return place
    }

    @Test("Of 454fb1b: an original that lies among the variants is used where it is")
    func original() async throws {
        let place = try place()
        try place.publish([("\(Self.origin)/stored.png", ["40x40.png"], .fast)], id: "larger")
        try await place.work()
        let outcome = try #require(try await place.outcomes().first { $0.job == "larger-0" })
        #expect(outcome.kind == .reused && outcome.variants.map(\.madeFrom) == [.origin])
        let kept = try FileManager.default.subpathsOfDirectory(atPath: place.folder.file("data/store"))
        #expect(kept.contains { $0.hasSuffix("/original.png") })
    }

    @Test("Of 454fb1b: what is stored is found, the retry goes on counting, and jobs that nobody took up are done")
    func retries() async throws {
        let place = try place()
        try place.publish([("\(Self.origin)/stored.png", ["16x16.png"], .fast)], id: "again")
        let before = try await place.outcomes().map(\.job)
        #expect(before == ["stored"])
        let waiting = try await place.records(.retry)
        #expect(waiting.map { $0.header("ce_id") } == ["down"])

        let summary = try await place.work()
        #expect(summary["jobs"] == 4 && summary["unchanged"] == 1 && summary["dead"] == 3)
        let dead = Dictionary(
            uniqueKeysWithValues: try await place.records(.dead).map { ($0.header("ce_id") ?? "", $0) })
        #expect(dead.keys.sorted() == ["down", "unread-fast", "unread-slow"])
        #expect(dead.values.allSatisfy { $0.header("mz_attempt") == "2" })
        // One of its two attempts was the older version's.
        #expect(summary["requests"] == 5 && summary["fetches"] == 0)
        #expect(try place.run("lag", "--json").output.contains("retry.1h"))
    }
}
