import Foundation
import Glibc
import ImageModel
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

/// What belongs to a cluster, beside another that has topics of the same names.
@Suite(
    "Parts of another cluster", .timeLimit(.minutes(4)),
    .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct ForeignClusterTests {
    private static let variants = ["24x24-q80.webp"]

    private func publish(_ urls: [String], id: String = "job", to place: Workplace) throws {
        try place.publish(urls.map { ($0, Self.variants, .fast) }, id: id)
    }

    /// On another cluster, with topics of the same names.
    private func twin(of place: Workplace, on broker: KafkaBroker) async throws -> Workplace {
        var kafka = try #require(place.kafka)
        kafka.bootstrap = broker.bootstrap
        #expect(try await KafkaTopics.create(kafka, partitions: 2, replication: 1).problems == [])
        return try Workplace(
            [
                "kafka.bootstrap=\(kafka.bootstrap)", "kafka.prefix=\(kafka.prefix)", "kafka.group=\(kafka.group)",
                "kafka.timing.session=2s",
            ], kafka: kafka)
    }

    private func copy(_ part: String, from: Workplace, to: Workplace) throws {
        let path = to.folder.file("data/\(part)")
        try FileManager.default.createDirectory(
            atPath: to.folder.file("data"), withIntermediateDirectories: true, attributes: nil)
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: from.folder.file("data/\(part)"), toPath: path)
    }

    @Test("Its indexes, its store and its progress rows are named, and nothing of ours is lost or fetched again")
    func parts() async throws {
        let theirs = try await Workplace.onKafka(try await KafkaBroker.shared.value, partitions: 2)
        let other = try await KafkaBroker.start { _ in ["group.min.session.timeout.ms=500"] }
        let ours = try await twin(of: theirs, on: other)
        let (theirURLs, urls) = (theirs.draw(12), ours.draw(8))
        try publish(theirURLs, to: theirs)
        #expect(try await theirs.work()["stored"] == 12)

        // Rows of a changelog that was copied from there, before any of ours: where their jobs stand is not where ours do.
        let rows = try await theirs.records(.variants).compactMap { record -> NewRecord? in
            guard case .progress(let row) = try ChangelogEntry(record) else { return nil }
            return ProgressRow(partition: row.partition, topics: row.topics, at: row.at).newRecord()
        }
        #expect(!rows.isEmpty)
        try await ours.append(rows)
        // And their indexes, which have names of their own.
        try copy("index", from: theirs, to: ours)
        try publish(urls, to: ours)
        let first = try await ours.worker().ended()
        let begun = try Summary(first)
        #expect(begun["jobs"] == 8 && begun["stored"] == 8, "\(first.errors)")
        #expect(first.errors.contains("log.recreated"), "\(first.errors)")

        // Under our names, with rows of our own to make them anew from.
        let indexes = ours.folder.file("data/index")
        let names = try FileManager.default.contentsOfDirectory(atPath: indexes)
        let own = try #require(
            names.first { !FileManager.default.fileExists(atPath: theirs.folder.file("data/index/\($0)")) })
        let others = try #require(names.first { $0 != own })
        try FileManager.default.removeItem(atPath: "\(indexes)/\(own)")
        try FileManager.default.moveItem(atPath: "\(indexes)/\(others)", toPath: "\(indexes)/\(own)")
        try publish(urls, id: "again", to: ours)
        let second = try await ours.worker().ended()
        let gone = try Summary(second)
        #expect(gone["jobs"] == 8 && gone["unchanged"] == 8 && gone["fetches"] == 0, "\(second.errors)")
        #expect(second.errors.contains("is not of this log's changelog"), "\(second.errors)")

        let kept = try TemporaryFolder()
        for part in ["store", "originals"] {
            try FileManager.default.moveItem(atPath: ours.folder.file("data/\(part)"), toPath: kept.file(part))
            try copy(part, from: theirs, to: ours)
        }
        try publish(urls, id: "waiting", to: ours)
        let waiting = try ours.worker()
        await waiting.says("store.mismatched")
        #expect(waiting.isRunning, "\(waiting.errors)")
        for part in ["store", "originals"] {
            try FileManager.default.removeItem(atPath: ours.folder.file("data/\(part)"))
            try FileManager.default.moveItem(atPath: kept.file(part), toPath: ours.folder.file("data/\(part)"))
        }
        let last = try await waiting.ended()
        let done = try Summary(last)
        #expect(done["jobs"] == 8 && done["unchanged"] == 8, "\(last.errors)")
        #expect(try await Set(ours.outcomes().map(\.job)).count == 24)
        #expect(ours.origin.requestCount == 8)
    }
}
