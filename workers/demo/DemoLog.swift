import Foundation
import KafkaLog
internal import KafkaSetup
import LogChoice
import Ports
import Settings

/// The log of the demo: a file, or topics of its own on a Kafka cluster, which the demo removes at its end.
struct DemoLog {
    /// `--set` values of every program.
    let assignments: [String]
    /// Number of workers that share the jobs.
    let workers: Int
    private let settings: Settings

    /// - Parameter kafka: the brokers to contact first; nil: a file in `data`.
    init(data: URL, kafka: String?) throws {
        let cluster = kafka.map { bootstrap in
            let prefix = "mezzotint-demo-\(String(UInt32.random(in: 0 ... .max), radix: 16))."
            return ["kafka.bootstrap=\(bootstrap)", "kafka.prefix=\(prefix)", "kafka.group=\(prefix)workers"]
        }
        assignments =
            ["data=\(data.path)", "fetch.allow=127.0.0.0/8", "origins.concurrency=64"]
            + (cluster ?? ["kafka.bootstrap="])
        workers = kafka == nil ? 1 : 2
        // The environment may set the authentication (kafka.security), as for every program.
        settings = try Settings.loaded(
            file: nil, environment: ProcessInfo.processInfo.environment, assignments: assignments,
            inspect: ChosenLog.problems
        ).settings
    }

    func make(by programs: Programs) throws {
        if settings.kafkaConfiguration != nil { _ = try programs.run("mezzotint", ["topics", "create"]) }
    }

    func read<Result>(_ body: (any Log) async throws -> Result) async throws -> Result {
        let log = try await ChosenLog.open(settings).log
        do {
            let result = try await body(log)
            await log.close()
            return result
        } catch {
            await log.close()
            throw error
        }
    }

    func remove() async throws {
        if let configuration = settings.kafkaConfiguration { try await KafkaTopics.delete(configuration) }
    }
}
