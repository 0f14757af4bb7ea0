internal import Canonical
internal import Clocks
internal import CommandLine
internal import Digest
internal import Foundation
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec

/// `mezzotint-bench kafka-restore`: a worker without an index takes over partitions full of rows.
enum KafkaRestoreBenchmark {
    static let command = Command(
        "kafka-restore", abstract: "A new worker restores its indexes from the changelog.",
        examples: ["mezzotint-bench kafka-restore --json", "mezzotint-bench kafka-restore --rows 100000"],
        options: [
            Option("rows", value: "n", help: "Rows in the changelog (1000000)."),
            Option("rounds", value: "n", help: "Runs; the median counts (1)."), BenchBroker.option, .json,
        ]
    ) { arguments in
        let rows = try arguments.number("rows", in: 1_000...100_000_000) ?? 1_000_000
        // The rows refer to no files: without this setting, workers wait for the store with these files
        // (store.mismatched).
        let bench = try KafkaBench(arguments, settings: ["store.adopt=true"])
        let log = try await bench.open()
        let now = SystemTime.wall
        try await log.append(rows) { [count = log.partitionCount] number in
            let written = row(number, at: now)
            return written.newRecord(partition: written.source.partition(of: count))
        }
        await log.close()
        var (seconds, cpu, memory): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<(try arguments.number("rounds", in: 1...99) ?? 1) {
            bench.workers.startAnew()
            let restoring = try bench.workers.work()
            // Again, with the indexes from before: the cost of a start, of joining the group and of detecting the end.
            let resting = try bench.workers.work()
            guard bench.workers.stateBytes > rows * 100 else {
                throw BenchFailure(description: "The worker's indexes have \(bench.workers.stateBytes) bytes: too few for \(rows) rows.")
            }
            seconds.append(restoring["seconds"] - resting["seconds"])
            cpu.append((restoring.cpu - resting.cpu) / .microseconds(1) / Double(rows))
            memory.append(restoring["peakMemoryBytes"])
        }
        var figures = Figures("kafka-restore")
        figures.add([
            "rows": .whole(Double(rows)), "partitions": .whole(Double(bench.partitions)),
            "seconds": .number(seconds.median),
            "rowsPerSecond": .whole(Double(rows) / seconds.median), "cpuMicrosecondsPerRow": .number(cpu.median),
            "peakMiB": .number(memory.median / 1_048_576),
        ])
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// Rows for five variants of each source, as a worker writes them.
    private static func row(_ number: Int, at now: WallTime) -> VariantRow {
        let digest = SHA256.digest(of: Array("source \(number / 5)".utf8))
        let (source, version) = (SourceKey(digest), SourceVersion(digest))
        let side = [1280, 960, 640, 320, 160][number % 5]
        let spec = VariantSpec(width: side, height: side, format: .webp)
        let size = PixelSize(width: 4000, height: 3000)
        return VariantRow(
            source: source, spec: spec, version: version, size: PixelSize(width: side, height: side * 3 / 4),
            bytes: side * 40, digest: SHA256.digest(of: Array("variant \(number)".utf8)),
            location: "\(source.hex.prefix(2))/\(source.hex.dropFirst(2).prefix(2))/\(source.hex)/\(version)/\(spec)",
            derivedFrom: .origin, sourceSize: size, region: Region(whole: size), hasAlpha: false, storedAt: now,
            expires: now + .days(7))
    }
}
