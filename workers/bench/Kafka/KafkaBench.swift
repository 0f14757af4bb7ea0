internal import CommandLine
internal import Foundation
internal import LogChoice
internal import Ports
internal import Posix
internal import Records
internal import Settings

/// Workers and producers on topics of their own on a real Kafka.
final class KafkaBench {
    let broker: BenchBroker
    let workers: WorkerBench
    let partitions: Int
    private let more: [String]
    /// Prefix of the current topics.
    private(set) var prefix = ""

    init(
        _ arguments: ParsedArguments, partitions: Int = 12, pictures: [String: URL] = [:], settings: [String] = []
    ) throws {
        (self.partitions, more) = (partitions, settings)
        broker = try BenchBroker(arguments)
        workers = try WorkerBench(pictures: pictures)
        try startAnew()
    }

    /// Creates new topics; everything stored so far is forgotten.
    func startAnew() throws {
        prefix = "bench\(UInt32.random(in: 0 ... .max))."
        workers.settings =
            more + ["kafka.bootstrap=\(broker.bootstrap)", "kafka.prefix=\(prefix)", "kafka.group=\(prefix)workers"]
        workers.startAnew()
        _ = try workers.launch(
            "mezzotint", ["topics", "create", "--partitions", "\(partitions)", "--replication", "1"]
        )
        .finish()
    }

    func open(_ more: String...) async throws -> any Log { try await workers.log(more) }

    static let rounds = Option("rounds", value: "n", help: "Runs; the median counts (3).")
}

extension WorkerBench {
    /// The log of the programs here.
    func log(_ more: [String] = []) async throws -> any Log {
        let loaded = try Settings.loaded(
            file: nil, environment: [:], assignments: assignments + more, inspect: ChosenLog.problems)
        return try await ChosenLog.open(loaded.settings).log
    }

    /// Runs this many workers at the same time, until they are idle.
    func work(workers count: Int) throws -> [[String: Double]] {
        let workers = try (0..<count).map { _ in try worker() }
        return try workers.map(summary)
    }
}

extension Log {
    /// All records of a topic, by whole partitions.
    func all(_ topic: Topic, from starts: [Int64] = []) async throws -> [Record] {
        var records: [Record] = []
        for partition in partitions {
            var next = starts.isEmpty ? 0 : starts[Int(partition.number)]
            while case let some = try await read(topic, partition, from: next, limit: 10_000), let last = some.last {
                records += some
                next = last.offset + 1
            }
        }
        return records
    }

    func ends(_ topic: Topic) async throws -> [Int64] {
        var ends: [Int64] = []
        for partition in partitions { ends.append(try await bounds(topic, partition).upperBound) }
        return ends
    }

    /// Appends many records, some thousands at a time and some batches at once.
    func append(_ count: Int, _ record: @escaping @Sendable (Int) -> NewRecord) async throws {
        let size = 5_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in stride(from: 0, to: count, by: size) {
                if start >= 4 * size { try await group.next() }
                group.addTask {
                    let results = await append((start..<min(count, start + size)).map(record))
                    if let failure = results.lazy.compactMap(\.refusal).first { throw failure }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension AppendResult {
    fileprivate var refusal: LogFailure? {
        switch self {
        case .acknowledged: nil
        case .refused(let failure), .unknown(let failure): failure
        }
    }
}

extension [Double] {
    /// The value that this share of all values (0…1) does not exceed.
    func percentile(_ part: Double) -> Double {
        isEmpty ? 0 : sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}
