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
    /// The Python program of config/producers.md that begins with this name.
    private func example(_ name: String) throws -> Data {
        let page = try String(contentsOf: Validator.configuration.appending(path: "producers.md"), encoding: .utf8)
        let begin = try #require(page.range(of: "```python\n\"\"\"\(name) "))
        let end = try #require(page.range(of: "\n```", range: begin.upperBound..<page.endIndex))
        return Data(page[begin.lowerBound..<end.lowerBound].dropFirst("```python\n".count).utf8)
    }

    private func topics(of broker: KafkaBroker) async throws -> KafkaConfiguration {
        var configuration = KafkaConfiguration()
        configuration.bootstrap = broker.bootstrap
        configuration.prefix = "python\(UInt32.random(in: 0 ... .max))."
        configuration.timing.response = .seconds(30)
        #expect(try await KafkaTopics.create(configuration, partitions: 12, replication: 1).problems == [])
        return configuration
    }

    private func records(_ topic: Topic, _ configuration: KafkaConfiguration) async throws -> [Record] {
        let log = try await KafkaLog.open(configuration) { _ in }
        var records: [Record] = []
        for partition in log.partitions { records += try await log.read(topic, partition, from: 0, limit: 1_000) }
        await log.close()
        return records
    }

    @Test("The page's Python publishes jobs as ours are: same key, same partition, as the schema says")
    func python() async throws {
        let broker = try await KafkaBroker.shared.value
        let configuration = try await topics(of: broker)
        let scratch = try TemporaryFolder()
        try example("producer.py").write(to: scratch.url.appending(path: "producer.py"))
        let urls = (0..<100).map { "http://a.example/\($0).jpg?n=\($0 * 7)" }
        try Data(urls.joined(separator: "\n").utf8).write(to: scratch.url.appending(path: "urls"))
        let ended = try await RunningProgram(
            "/bin/sh",
            ["-c", "exec python3 producer.py \(broker.bootstrap) \(configuration.prefix)jobs.fast < urls"],
            in: scratch.url
        ).ended()
        try #require(ended.status == 0, "\(ended.errors)")

        let records = try await records(.jobsFast, configuration)
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

    @Test("The page's Python writes controls: one for each partition, or one in its source's")
    func controls() async throws {
        let broker = try await KafkaBroker.shared.value
        let configuration = try await topics(of: broker)
        let scratch = try TemporaryFolder()
        try example("control.py").write(to: scratch.url.appending(path: "control.py"))
        let rules = CanonicalRules()
        let source = try rules.source(of: "http://a.example/b.jpg").key
        for (control, key) in [
            (#"{"kind":"cancel","job":"a"}"#, []), (#"{"kind":"promote","url":"http://a.example/b.jpg"}"#, [source.hex]),
            (#"{"kind":"pause","host":"a.example"}"#, []),
        ] {
            let words = ["control.py", broker.bootstrap, "\(configuration.prefix)control", control] + key
            let ended = try await RunningProgram(
                "/bin/sh", ["-c", #"exec python3 "$@""#, "sh"] + words, in: scratch.url
            ).ended()
            try #require(ended.status == 0, "\(ended.errors)")
        }
        let records = try await records(.control, configuration)
        #expect(try await Validator.check(records) == [])
        let controls = try records.map { (record: $0, control: try Control($0, rules: rules)) }
        let cancelled = controls.filter { $0.control.scope == .job("a") && $0.control.verb == .cancel }
        #expect(Set(cancelled.map(\.record.partition)).count == 12 && Set(cancelled.map(\.control.id)).count == 1)
        let promoted = try #require(controls.first { $0.control.verb == .promote })
        let paused = controls.filter { $0.control.verb == .pause && $0.control.pauseScope == .host("a.example") }
        #expect(Set(paused.map(\.record.partition)).count == 12)
        #expect(controls.count == 25 && promoted.record.partition == source.partition(of: 12))
        #expect(promoted.control.by == "python" && promoted.record.key == RecordKey.job(source).bytes)
    }
}
