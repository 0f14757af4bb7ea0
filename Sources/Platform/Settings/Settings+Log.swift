internal import Glibc
package import KafkaSetup
internal import Posix

extension Settings {
    /// Whether the log is a file that has to be there before it can be read; nil on a cluster.
    package var embeddedLogFile: String? { kafka.bootstrap.isEmpty ? logDirectory + "/log.sqlite" : nil }

    /// nil: the log is embedded.
    package var kafkaConfiguration: KafkaConfiguration? {
        guard !kafka.bootstrap.isEmpty else { return nil }
        var configuration = kafka
        if configuration.clientID.isEmpty { configuration.clientID = Self.processName }
        return configuration
    }

    /// What a worker goes by: in `lag`, in the changelog and to the brokers.
    package var workerName: String { kafkaConfiguration?.clientID ?? Self.processName }

    /// `host-1234`.
    private static var processName: String {
        let name = SystemFacts.hostName.isEmpty ? "mezzotint" : SystemFacts.hostName
        return "\(name)-\(getpid())"
    }
}
