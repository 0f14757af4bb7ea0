internal import Digest
package import EmbeddedLog
package import Foundation
package import ImageModel
internal import KafkaLog
package import KafkaSetup
package import Ports
package import Records
package import TestPixels
package import TestSupport
internal import Testing

/// A data directory with the real programs around it, and an origin on loopback; the log embedded, or on a real Kafka.
package final class Workplace: Sendable {
    package let folder: TemporaryFolder
    package let origin: LocalOrigin
    /// Settings of every program that is run here.
    private let settings: [String]
    /// nil: the log is embedded.
    package let kafka: KafkaConfiguration?

    package convenience init(_ settings: String..., pictures: URL? = nil) throws {
        try self.init(settings, pictures: pictures)
    }

    package init(_ settings: [String], pictures: URL? = nil, kafka: KafkaConfiguration? = nil) throws {
        folder = try TemporaryFolder()
        origin = try LocalOrigin(folder: pictures)
        self.kafka = kafka
        self.settings =
            ([
                "data=data", "fetch.allow=127.0.0.0/8", "retry.base=50ms", "retry.cap=200ms", "render.processes=2",
                // Its one origin is its own, and fails on purpose.
                "origins.concurrency=64", "origins.breaker.failures=0", "origins.backoff=0ms", "retry.attempts=5",
            ] + settings)
            .flatMap { ["--set", $0] }
    }

    /// On topics of its own. A worker that is not heard of for two seconds is replaced, if the broker allows as much.
    package static func onKafka(
        _ broker: KafkaBroker, partitions: Int = 12, replication: Int = 1, _ settings: String...
    ) async throws -> Workplace {
        var kafka = KafkaConfiguration()
        kafka.bootstrap = broker.bootstrap
        kafka.prefix = "t\(UInt32.random(in: 0 ... .max))."
        kafka.group = kafka.prefix + "workers"
        kafka.timing.response = .seconds(30)
        let problems = try await KafkaTopics.create(kafka, partitions: partitions, replication: replication).problems
        #expect(problems == [])
        let own = [
            "kafka.bootstrap=\(kafka.bootstrap)", "kafka.prefix=\(kafka.prefix)", "kafka.group=\(kafka.group)",
            "kafka.timing.session=2s",
        ]
        return try Workplace(own + settings, pictures: nil, kafka: kafka)
    }

    /// The settings as a shell takes them.
    package var words: String { settings.joined(separator: " ") }
    /// The same as a program takes them.
    package var programWords: [String] { settings }

    /// Draws small pictures, and serves each under `/<number>.png`; their URLs.
    package func draw(_ count: Int, side: Int = 96) -> [String] {
        (0..<count).map { number in
            origin.serve("/\(number).png", .bytes(Self.picture(number, side: side).png, type: "image/png"))
            return origin.url("/\(number).png")
        }
    }

    /// What `draw` draws.
    package static func picture(_ number: Int, side: Int = 96) -> Pixels {
        Pixels.photograph(width: side + number % 7, height: side * 3 / 4, seed: UInt64(number + 1))
    }

    package func run(_ words: String..., input: String = "") throws -> Ended { try run(words, input: input) }
    package func run(_ words: [String], input: String = "") throws -> Ended {
        try Built.run("mezzotint", settings + words, input: Data(input.utf8), in: folder.url)
    }

    /// Appends a job a line, as `mezzotint publish` takes them.
    package func publish(_ jobs: [(url: String, variants: [String], lane: Lane)], id prefix: String = "job") throws {
        let lines = jobs.enumerated().map { number, job in
            let variants = job.variants.map { "\"\($0)\"" }.joined(separator: ",")
            return
                "{\"url\":\"\(job.url)\",\"variants\":[\(variants)],\"lane\":\"\(job.lane.rawValue)\",\"id\":\"\(prefix)-\(number)\"}"
        }
        let ended = try run("publish", "-", input: lines.joined(separator: "\n"))
        #expect(ended.status == 0, "\(ended.errors)")
    }

    package func worker(_ more: String..., untilIdle: Bool = true) throws -> RunningProgram {
        try worker(more, untilIdle: untilIdle)
    }

    package func worker(
        _ more: [String], untilIdle: Bool = true, patience: String? = nil, environment: [String: String] = [:]
    ) throws -> RunningProgram {
        try RunningProgram(
            "mezzotint-worker",
            settings + more.flatMap { ["--set", $0] } + ["--json"] + (untilIdle ? ["--until-idle"] : [])
                + (patience.map { ["--patience", $0] } ?? []),
            in: folder.url, environment: environment)
    }

    /// A worker's whole run; its summary.
    @discardableResult
    package func work(_ more: String...) async throws -> Summary {
        let worker = try RunningProgram(
            "mezzotint-worker", settings + more.flatMap { ["--set", $0] } + ["--json", "--until-idle"], in: folder.url)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        return try Summary(ended)
    }

    package var log: EmbeddedLog { get throws { try EmbeddedLog(folder.file("data/log")) } }

    /// To look at the log from outside, or to write to it past `mezzotint publish`.
    package func open() async throws -> any Log {
        if let kafka { return try await KafkaLog.open(kafka) { _ in } }
        return try log
    }

    /// Every record of a topic, partition by partition.
    package func records(_ topic: Topic) async throws -> [Record] {
        let log = try await open()
        var records: [Record] = []
        for number in 0..<Int32(log.partitionCount) {
            var next: Int64 = 0
            while case let some = try await log.read(topic, PartitionID(number), from: next, limit: 10_000),
                let last = some.last
            {
                records += some
                next = last.offset + 1
            }
        }
        await log.close()
        return records
    }

    package func append(_ records: [NewRecord]) async throws {
        let log = try await open()
        for result in await log.append(records) { #expect(result.offset != nil) }
        await log.close()
    }

    package func outcomes() async throws -> [OutcomeReport] {
        try await records(.outcomes).filter { !$0.isOfControl }.map { try OutcomeReport($0) }
    }

    /// The parked jobs.
    package func parkedRows() async throws -> [ParkedRow] {
        var rows: [RecordKey: ParkedRow] = [:]
        for record in try await records(.parked) {
            switch try ParkedEntry(record) {
            case .change(.park(let row, _)): rows[row.key] = row
            case .change(.drop(let source, let identity)): rows[.parked(source, identity)] = nil
            case .epoch: break
            }
        }
        return Array(rows.values)
    }

    /// The rows that the changelog holds, and whether every one's file is there with just these bytes.
    package func rows() async throws -> [VariantRow] {
        var rows: [VariantRow] = []
        for record in try await records(.variants) {
            if case .change(.variant(let row)) = try ChangelogEntry(record) { rows.append(row) }
        }
        for row in rows {
            let bytes = try Data(contentsOf: folder.url.appending(path: "data/store/\(row.location)"))
            #expect(bytes.count == row.bytes && SHA256.digest(of: Array(bytes)) == row.digest, "\(row.location)")
        }
        return rows
    }
}

/// What a worker's last line says.
package struct Summary {
    private let numbers: [String: Double]

    package init(_ ended: Ended) throws {
        let line = try #require(ended.lines.last, "\(ended.errors)")
        numbers = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Double])
    }

    package var names: Set<String> { Set(numbers.keys) }

    package subscript(_ name: String) -> Int { numbers[name].map { Int($0) } ?? -1 }
}
