internal import Canonical
internal import Clocks
internal import CommandLine
internal import Digest
internal import Foundation
internal import Ports
internal import Records
internal import TestSupport
internal import VariantSpec

/// `mezzotint-bench kafka-scale`: the gain of more workers, and the cost of a cluster.
enum KafkaScaleBenchmark {
    static let command = Command(
        "kafka-scale",
        abstract: "Photographs on Kafka, beside KafkaJS with sharp.",
        examples: ["mezzotint-bench kafka-scale --json", "mezzotint-bench kafka-scale --format webp --rounds 7"],
        options: [
            Option("images", value: "dir", help: "JPEGs to render; by default ../shared/images/photos."),
            Option("format", value: "format", help: "The output format (webp).", oneOf: ["webp", "jpeg"]),
            Option("rounds", value: "n", help: "Rounds of all, interleaved; the median counts (2)."),
            BenchBroker.option, .json,
        ]
    ) { arguments in
        let pictures = try Photographs.named(by: arguments)
        let format = arguments.value("format").flatMap { ImageFormat(rawValue: $0) } ?? .webp
        let trial = Trial(
            kafka: try KafkaBench(arguments, pictures: Photographs.served(pictures)),
            embedded: try WorkerBench(pictures: Photographs.served(pictures)), pictures: pictures, format: format)
        let peer = KafkaPeer.folder("node")
        if peer == nil {
            Console.complain("kafka-scale: KafkaJS with sharp is NOT MEASURED: ../shared/peers/node is not here.")
        }
        var rates: [String: [Double]] = [:]
        for _ in 0..<(try arguments.number("rounds", in: 1...99) ?? 2) {
            rates["kafka, 1 worker", default: []].append(try await trial.kafka(workers: 1))
            rates["kafka, 3 workers", default: []].append(try await trial.kafka(workers: 3))
            rates["embedded, 1 worker", default: []].append(try await trial.alone())
            if let peer { rates["KafkaJS + sharp", default: []].append(try await trial.peer(peer)) }
        }
        let one = rates["kafka, 1 worker"]?.median ?? 0
        var figures = Figures("kafka-scale")
        for (name, found) in rates.sorted(by: { $0.key < $1.key }) {
            figures.add([
                "what": .text(name), "format": .text(format.rawValue), "variantsPerSecond": .number(found.median),
                "oneWorkerIsTimes": .number(one / found.median),
            ])
        }
        Console.print(figures.print(asJSON: arguments.flag("json")))
        return .success
    }

    /// One set of photographs, rendered again in each run. For every engine, time runs from the first fetch to the last
    /// outcome: how long a worker takes to join, or to detect the end, is measured elsewhere.
    private struct Trial {
        let kafka: KafkaBench
        let embedded: WorkerBench
        let pictures: [URL]
        let format: ImageFormat

        private var jobs: [(url: String, variants: [String])] {
            pictures.map { (url: Photographs.path($0), variants: Photographs.specs(format)) }
        }

        func kafka(workers count: Int) async throws -> Double {
            try kafka.startAnew()
            try kafka.workers.publish(jobs)
            return try await rate(of: kafka.workers, workers: count)
        }

        func alone() async throws -> Double {
            embedded.startAnew()
            try embedded.publish(jobs)
            return try await rate(of: embedded, workers: 1)
        }

        private func rate(of bench: WorkerBench, workers count: Int) async throws -> Double {
            bench.requests.forget()
            // Clocks of the origin and of the log, at one moment.
            let (wall, monotonic) = bench.clocks
            let renders = try bench.work(workers: count).reduce(0) { $0 + ($1["renders"] ?? 0) }
            guard renders == Double(3 * pictures.count) else {
                throw BenchFailure(description: "The workers rendered \(renders) variants of \(3 * pictures.count).")
            }
            let log = try await bench.log()
            let last = try await log.all(.outcomes).map(\.timestamp).max() ?? .epoch
            await log.close()
            let first = bench.requests.all.values.compactMap(\.first).min() ?? monotonic
            return renders / ((last - wall) - (first - monotonic)).seconds
        }

        /// The peer waits for itself when it disconnects from within a message, so it is killed once it has printed its
        /// figures.
        private static let untilItsFigures = """
            coproc peer { exec node "$@"; }
            pid=$peer_PID
            grep --max-count=1 '^{' <&"${peer[0]}"
            found=$?
            kill "$pid" 2>/dev/null
            exit $found
            """

        /// It has its own messages, on topics like ours, with as many partitions.
        func peer(_ folder: URL) async throws -> Double {
            try kafka.startAnew()
            let (origin, prefix) = (kafka.workers.address, kafka.prefix)
            let sizes = [(1280, 1280, "x"), (640, 640, "x"), (160, 160, "y")].map { width, height, mode in
                #"{"w":\#(width),"h":\#(height),"mode":"\#(mode)","format":"\#(format.rawValue)","quality":80}"#
            }
            // KafkaJS cannot read lz4.
            let log = try await kafka.open("kafka.options={compression.codec: none}")
            let urls = pictures.map { origin + Photographs.path($0) }
            let body = sizes.joined(separator: ",")
            try await log.append(urls.count) { [count = log.partitionCount] number in
                let source = SourceKey(SHA256.digest(of: Array(urls[number].utf8)))
                return NewRecord(
                    topic: .jobsFast, partition: source.partition(of: count), key: Array(source.hex.utf8),
                    value: Array(#"{"url":"\#(urls[number])","variants":[\#(body)]}"#.utf8))
            }
            await log.close()
            let out = FileManager.default.temporaryDirectory.appending(
                path: "mezzotint-bench-peer-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: out) }
            let cores = ProcessInfo.processInfo.activeProcessorCount
            let text = try ChildProgram.output(
                "bash",
                [
                    "-c", Self.untilItsFigures, "peer", folder.appending(path: "worker.js").path, kafka.broker.bootstrap, prefix + "jobs.fast",
                    prefix + "peer",
                    out.path, "\(cores)", "\(urls.count)",
                ], environment: ["KAFKAJS_NO_PARTITIONER_WARNING": "1"])
            guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("{") }),
                let report = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let rate = report["variantsPerSecond"] as? Double
            else { throw BenchFailure(description: "worker.js printed no figures: \(text)") }
            return rate
        }
    }
}

/// Other projects' Kafka consumers, if they are installed.
enum KafkaPeer {
    static func folder(_ name: String) -> URL? { Shared.part("peers/\(name)") }
}
