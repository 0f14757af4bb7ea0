import EmbeddedLog
import ImageModel
import Ports
import Synchronization
import TestSupport
import Testing

/// An adapter of the log's ports, as the contract suite uses it. Kafka's joins where a broker stands.
struct LogBench: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A log, new for each name, opened anew at every call: what one process has of it.
    let open: @Sendable (_ name: String) throws -> (log: any Log, consumer: any LogConsumer)

    static let all: [LogBench] = [embedded]

    static var embedded: LogBench {
        let folder = Mutex<TemporaryFolder?>(nil)
        return LogBench(testDescription: "the embedded log") { name in
            let path = try folder.withLock { folder in
                if folder == nil { folder = try TemporaryFolder() }
                return folder!.file(name)
            }
            let log = try EmbeddedLog(path)
            return (log, EmbeddedLogConsumer(log))
        }
    }
}
