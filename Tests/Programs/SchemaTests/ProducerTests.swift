import Canonical
import Foundation
import ImageModel
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

@Suite(
    "A producer in another language", .timeLimit(.minutes(3)),
    .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct ProducerTests {
    /// The Python lines of config/producers.md.
    private var example: String {
        get throws {
            let page = try String(contentsOf: Validator.configuration.appending(path: "producers.md"), encoding: .utf8)
            let begin = try #require(page.range(of: "```python\n"))
            let end = try #require(page.range(of: "\n```", range: begin.upperBound..<page.endIndex))
            return String(page[begin.upperBound..<end.lowerBound])
        }
    }

    @Test("The page's Python publishes jobs as ours are: same key, same partition, as the schema says")
    func python() async throws {
        let broker = try await KafkaBroker.shared.value
        var configuration = KafkaConfiguration()
        configuration.bootstrap = broker.bootstrap
        configuration.prefix = "python\(UInt32.random(in: 0 ... .max))."
        configuration.timing.response = .seconds(30)
        #expect(try await KafkaTopics.create(configuration, partitions: 12, replication: 1).problems == [])

        let scratch = try TemporaryFolder()
        try Data(example.utf8).write(to: scratch.url.appending(path: "producer.py"))
        let urls = (0..<100).map { "http://a.example/\($0).jpg?n=\($0 * 7)" }
        try Data(urls.joined(separator: "\n").utf8).write(to: scratch.url.appending(path: "urls"))
        let ended = try await RunningProgram(
            "/bin/sh",
            ["-c", "exec python3 producer.py \(broker.bootstrap) \(configuration.prefix)jobs.fast < urls"],
            in: scratch.url
        ).ended()
        try #require(ended.status == 0, "\(ended.errors)")

        let log = try await KafkaLog.open(configuration) { _ in }
        var records: [Record] = []
        for number in 0..<Int32(log.partitionCount) {
            records += try await log.read(.jobsFast, PartitionID(number), from: 0, limit: 1_000)
        }
        await log.close()
        #expect(records.count == urls.count && Set(records.map(\.partition)).count == 12)
        let intake = Intake(rules: CanonicalRules())
        var jobs: [Job] = []
        for record in records {
            let job = try intake.job(from: record)
            let own = job.newRecord(partitions: 12, at: 0)
            #expect(record.key == own.key && record.partition == own.partition, "\(job.url)")
            jobs.append(job)
        }
        #expect(Set(jobs.map(\.url.fetched)) == Set(urls) && Set(jobs.map(\.id)).count == urls.count)
        #expect(try await Validator.check(records) == [])
    }
}
