import Foundation
import ImageModel
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

extension ClusterTests {
    @Suite("A late record of an owner whose time is over")
    struct LateRecords {
        @Test("Does not bring a purged variant back, whether the changelog is compacted or not", arguments: [false, true])
        func purged(isCompacted: Bool) async throws {
            let cluster = try await Cluster()
            let jobs = [(url: cluster.place.draw(1)[0], variants: ["32x32.png"], lane: Lane.fast)]
            try cluster.place.publish(jobs)
            #expect(try await cluster.place.work()["stored"] == 1)
            let row = try #require(try await cluster.place.rows().first)
            let partition = row.source.partition(of: Cluster.partitions)

            // The next owner begins, and purges the source; then the first one's word comes.
            let epoch = try #require(try await Self.newest(in: cluster.place, partition)) + 1
            let purge = [
                EpochRow(partition: partition, epoch: epoch, owner: "next", isClean: false, at: 0).newRecord(),
                VariantRow.drop(row.spec, of: row.source, partition: partition), SourceRow.drop(row.source, partition: partition),
            ]
            try await cluster.place.append(
                purge.map { $0.announced(in: epoch) } + [row.newRecord(partition: partition).announced(in: epoch - 1)])

            // Whoever owns it after that says once more what holds.
            #expect(try await cluster.place.work()["jobs"] == 0)
            if isCompacted { try await Self.compact(cluster, until: row) }
            let log = try await cluster.place.open()
            #expect(try await log.latest(.variants, partition, keyPrefix: RecordKey.job(row.source).bytes).isEmpty)
            await log.close()

            // An index that begins with nothing.
            try FileManager.default.removeItem(at: cluster.place.folder.url.appending(path: "data/index"))
            try cluster.place.publish(jobs, id: "again")
            let again = try await cluster.place.work()
            #expect(again["jobs"] == 1 && again["unchanged"] == 0 && again["fetches"] == 1)
            #expect(cluster.place.origin.requestCount == 2)
        }

        private static func newest(in place: Workplace, _ partition: PartitionID) async throws -> Int64? {
            let marks = try await place.records(.variants).filter { $0.partition == partition }.compactMap { record in
                if case .epoch(let row) = try ChangelogEntry(record) { row.epoch } else { nil }
            }
            return marks.max()
        }

        /// Until no record of the row is left but that it is gone.
        private static func compact(_ cluster: Cluster, until row: VariantRow) async throws {
            _ = try await cluster.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name", cluster.configuration.prefix + "variants",
                "--add-config", "segment.ms=100,min.cleanable.dirty.ratio=0.001,min.compaction.lag.ms=0")
            let log = try await cluster.place.open()
            let partition = row.source.partition(of: Cluster.partitions)
            let key = RecordKey.variant(row.source, row.spec).bytes
            // A segment is closed by the first record after its time.
            let tick = SourceRow.drop(row.source, partition: partition)
            try await eventually {
                _ = await log.append([tick])
                return try await !log.read(.variants, partition, from: 0, limit: 10_000).contains {
                    $0.key == key && $0.value != nil
                }
            }
            await log.close()
        }
    }
}
