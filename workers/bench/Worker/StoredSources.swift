internal import Canonical
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records

/// Rows and files of many sources, copied from one source that a worker rendered: a million renders would take an hour
/// and would not change the lookups.
struct StoredSources {
    private let source: SourceRow
    private let variants: [VariantRow]
    private let keys: [SourceKey]

    static func make(_ count: Int, in bench: WorkerBench) async throws {
        try bench.publish([SkipBenchmark.job(0)])
        _ = try bench.work()
        let log = try await bench.log()
        let made = try StoredSources(count, from: await log.all(.variants), at: bench.address)
        for number in 1..<count { try made.store(number, in: bench) }
        let each = 1 + made.variants.count
        try await log.append((count - 1) * each) { [address = bench.address, partitions = log.partitionCount] record in
            made.record(record % each, of: 1 + record / each, at: address, partitions)
        }
        await log.close()
        // Restores the index before the time runs.
        _ = try bench.work()
    }

    private init(_ count: Int, from changelog: [Record], at address: String) throws {
        var (source, variants): (SourceRow?, [VariantRow]) = (nil, [])
        for record in changelog {
            switch try ChangelogEntry(record) {
            case .change(.source(let row)): source = row
            case .change(.variant(let row)): variants.append(row)
            default: break
            }
        }
        guard var source else { throw BenchFailure(description: "The worker stored nothing for the first source.") }
        source.original = nil
        (self.source, self.variants) = (source, variants)
        keys = try (0..<count).map { try CanonicalRules().source(of: address + SkipBenchmark.job($0).url).key }
    }

    /// Links the names of one source to one file, since all have the same bytes; a file system allows some ten thousand
    /// names.
    private func store(_ number: Int, in bench: WorkerBench) throws {
        let key = keys[number]
        for row in variants {
            let (path, leaf) = (bench.store + "/" + location(row, of: key), row.location.split(separator: "/").last!)
            try Folder.make(String(path.dropLast(leaf.count + 1)))
            let kept = bench.store + "/" + row.location + ".\(number / 10_000)"
            if !FileManager.default.fileExists(atPath: kept) {
                try FileManager.default.copyItem(atPath: bench.store + "/" + row.location, toPath: kept)
            }
            _ = try FileSystem.link(kept, as: path)
        }
    }

    private func record(_ row: Int, of number: Int, at address: String, _ partitions: Int) -> NewRecord {
        let key = keys[number]
        guard row > 0 else {
            var source = source
            (source.source, source.url) = (key, address + SkipBenchmark.job(number).url)
            return source.newRecord(partition: key.partition(of: partitions))
        }
        var variant = variants[row - 1]
        (variant.source, variant.location) = (key, location(variant, of: key))
        return variant.newRecord(partition: key.partition(of: partitions))
    }

    /// Location `ab/cd/<source key>/<version>/<leaf>`.
    private func location(_ row: VariantRow, of key: SourceKey) -> String {
        let hex = key.hex
        let rest = row.location.split(separator: "/").suffix(2).joined(separator: "/")
        return "\(hex.prefix(2))/\(hex.dropFirst(2).prefix(2))/\(hex)/\(rest)"
    }
}
