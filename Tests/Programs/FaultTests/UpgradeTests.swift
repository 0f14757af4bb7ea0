import Canonical
import EmbeddedLog
import Foundation
import Glibc
import ImageModel
import Index
import KafkaSetup
import Ports
import Records
import SQLite
import TestSupport
import TestWorkplace
import Testing

/// What older versions left: `Fixtures/make` says what is in it.
@Suite("A log and a store of an older version", .timeLimit(.minutes(2)))
struct UpgradeTests {
    /// Of 127/8, and none that anybody listens at.
    private static let origin = "http://127.83.27.5:18999"

    private static let versions = ["454fb1b", "43cee9c"]

    private func place(_ version: String) throws -> Workplace {
        let place = try Workplace(
            "log.partitions=1", "retry.attempts=2", "store.maxAge=3650d", "origins.freshness.ceiling=3650d")
        try unpack(version, in: place)
        return place
    }

    private func unpack(_ version: String, in place: Workplace) throws {
        try unpack("data-\(version)", into: place.folder.url)
    }

    private func unpack(_ fixture: String, into folder: URL) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(fixture).tar.gz")
        let unpacked = try Process.run(URL(filePath: "/usr/bin/tar"), arguments: ["-xzf", file.path, "-C", folder.path])
        unpacked.waitUntilExit()
        #expect(unpacked.terminationStatus == 0)
    }

    @Test("Of 454fb1b: an original that lies among the variants is used where it is")
    func original() async throws {
        let place = try place("454fb1b")
        try place.publish([("\(Self.origin)/stored.png", ["40x40.png"], .fast)], id: "larger")
        try await place.work()
        let outcome = try #require(try await place.outcomes().first { $0.job == "larger-0" })
        #expect(outcome.kind == .reused && outcome.variants.map(\.derivedFrom) == [.origin])
        let kept = try FileManager.default.subpathsOfDirectory(atPath: place.folder.file("data/store"))
        #expect(kept.contains { $0.hasSuffix("/original.png") })
    }

    /// Seen to fail: the file kept version 3, and 43cee9c called rows damaged that this program wrote.
    @Test("Of 43cee9c: an index is converted, and keeps its rows")
    func index() throws {
        let folder = try TemporaryFolder()
        try unpack("index-43cee9c", into: folder.url)
        let (index, rebuilt) = try SQLiteVariantIndexes(folder.file("index")).open(PartitionID(0))
        #expect(rebuilt == nil && index.position == 4 && index.checkpoint?.fingerprints != nil)
        #expect(index.checkpoint?.isOpened == true)
        let found = try index.snapshot(of: CanonicalRules().source(of: "\(Self.origin)/stored.png").key)
        #expect(found.source != nil && found.variants.map { "\($0.spec)" } == ["16x16.png"])
        #expect(found.variants.map { $0.facts?.isDrawing } == [nil])
        index.close()
        let file = try Connection(folder.file("index/0.sqlite"), .create)
        #expect(try file.number("PRAGMA user_version") == 4)
    }

    @Test(
        "Stored variants are found, the retry continues its count, and unread jobs are done", arguments: versions)
    func retries(version: String) async throws {
        let place = try place(version)
        try await goesOn(place)
        // Topics that it did not have are asked like any other.
        let lag = try place.run("lag", "--json")
        let found = try JSONSerialization.jsonObject(with: Data(lag.output.utf8)) as? [[String: Any]]
        let left = (found ?? []).map { "\($0["topic"] ?? "") \($0["records"] ?? "")" }
        #expect(left.sorted() == (Topic.consumed + [.parked]).map { "\($0.rawValue) 0" }.sorted(), "\(lag.errors)")
    }

    /// Records as that version wrote them to Kafka, too, in the topics that it had, with the offsets that it committed.
    @Test(
        "Of 454fb1b on Kafka: newer topics that are missing are named, and made; then all goes on",
        .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func topics() async throws {
        let broker = try await KafkaBroker.shared.value
        let place = try await Workplace.onKafka(
            broker, partitions: 1, "retry.attempts=2", "store.maxAge=3650d", "origins.freshness.ceiling=3650d")
        let kafka = try #require(place.kafka)
        try unpack("454fb1b", in: place)
        let newer = [Topic.retry10s, .retry1m, .retry10m, .retry1h, .parked, .origins, .events]
        let pattern = newer.map(\.rawValue).joined(separator: "|")
        _ = try await broker.tool("topics", "--delete", "--topic", "\(kafka.prefix)(\(pattern))")
        let refused = try await place.worker().ended()
        #expect(refused.status == 1 && refused.errors.contains("mezzotint topics create"), "\(refused.errors)")
        for topic in newer { #expect(refused.errors.contains(kafka.prefix + topic.rawValue)) }
        // The old ones' files go meanwhile.
        try await eventually {
            try place.run("topics", "create", "--partitions", "1", "--replication", "1").status == 0
        }

        let old = try place.log
        for topic in Topic.allCases where !newer.contains(topic) {
            let records = try await old.read(topic, PartitionID(0), from: 0, limit: 100)
            try await place.append(
                records.map {
                    NewRecord(
                        topic: topic, partition: PartitionID(0), key: $0.key, value: $0.value, headers: $0.headers)
                })
        }
        await old.close()
        for lane in Topic.lanes {
            _ = try await broker.tool(
                "groups", "--reset-offsets", "--to-offset", "1", "--execute", "--group", kafka.group, "--topic",
                kafka.prefix + lane.rawValue)
        }
        try await goesOn(place)
    }

    /// One source is stored, a retry waits, and nobody took up two jobs.
    private func goesOn(_ place: Workplace) async throws {
        try place.publish([("\(Self.origin)/stored.png", ["16x16.png"], .fast)], id: "again")
        let before = try await place.outcomes().map(\.job)
        #expect(before == ["stored"])
        var waiting: [String?] = []
        for topic in Topic.retries {
            waiting += try await place.records(topic).map { $0.header("ce_id") }
        }
        #expect(waiting == ["down"])

        let summary = try await place.work()
        #expect(summary["jobs"] == 4 && summary["unchanged"] == 1 && summary["dead"] == 3)
        let dead = Dictionary(
            uniqueKeysWithValues: try await place.records(.dead).map { ($0.header("ce_id") ?? "", $0) })
        #expect(dead.keys.sorted() == ["down", "unread-fast", "unread-slow"])
        #expect(dead.values.allSatisfy { $0.header("mz_attempt") == "2" })
        // One of its two attempts was the older version's.
        #expect(summary["requests"] == 5 && summary["fetches"] == 0)
    }
}
