internal import Glibc
package import KafkaSetup
internal import Posix

extension Settings {
    /// File of the embedded log, which must exist before it can be read; nil on a cluster.
    package var embeddedLogFile: String? { kafka.bootstrap.isEmpty ? logDirectory + "/log.sqlite" : nil }

    /// Configuration of the cluster; nil: the log is embedded.
    package var kafkaConfiguration: KafkaConfiguration? {
        guard !kafka.bootstrap.isEmpty else { return nil }
        var configuration = kafka
        if configuration.clientID.isEmpty { configuration.clientID = Self.processName }
        return configuration
    }

    /// Name of a worker in `lag`, in the changelog and for the brokers.
    package var workerName: String { kafkaConfiguration?.clientID ?? Self.processName }

    /// Host name and process id: `host-1234`.
    private static var processName: String {
        let name = SystemFacts.hostName.isEmpty ? "mezzotint" : SystemFacts.hostName
        return "\(name)-\(getpid())"
    }
}
