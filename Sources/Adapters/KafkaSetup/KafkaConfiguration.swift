/// Connection to a Kafka cluster, and the names of this installation on it. Settings fill it, and the Kafka log uses
/// it.
package struct KafkaConfiguration: Sendable, Equatable {
    /// Brokers to contact first: `host:port`, separated by commas. Empty: the embedded log is used.
    package var bootstrap = ""
    /// Prefix of every topic's name: `mezzotint.` gives `mezzotint.jobs.fast`.
    package var prefix = "mezzotint."
    /// Consumer group of all workers that share the jobs.
    package var group = "mezzotint"
    /// Name of this process in the broker's logs and in `mezzotint lag`. Empty: the program that connects chooses one.
    package var clientID = ""
    /// Partitions of topics that `topics create` creates. Existing topics' own count applies.
    package var partitions = 12
    package var security = Security()
    /// Additional options of librdkafka, by its own names, for every client of this process.
    package var options: [String: Secret] = [:]
    /// File of additional options. Empty: none.
    package var optionsFile = ""
    package var timing = Timing()

    package init() {}

    /// Protection of connections, and authentication of clients.
    package struct Security: Sendable, Equatable {
        /// Protocols by Kafka's own names.
        package enum Kind: String, Sendable, CaseIterable {
            case plaintext = "PLAINTEXT"
            case tls = "SSL"
            case sasl = "SASL_PLAINTEXT"
            case saslTLS = "SASL_SSL"
        }
        /// Debian's librdkafka 2.0.2 sends the client's nonce twice (#4895, fixed in 2.6.1). SCRAM works with Kafka
        /// 3.x; Kafka 4.0 and newer refuse it.
        package enum Mechanism: String, Sendable, CaseIterable {
            case plain = "PLAIN"
            case scramSHA256 = "SCRAM-SHA-256"
            case scramSHA512 = "SCRAM-SHA-512"
        }

        package var kind = Kind.plaintext
        package var mechanism = Mechanism.plain
        package var user = ""
        package var password: Secret = ""
        /// File of the password, if no setting gives it. Empty: none.
        package var passwordFile = ""
        /// PEM files. Empty: the system's authorities, and no client certificate.
        package var authorities = ""
        package var certificate = ""
        package var key = ""

        package init() {}
        package var usesSASL: Bool { kind == .sasl || kind == .saslTLS }
        package var usesTLS: Bool { kind == .tls || kind == .saslTLS }
    }

    /// Deadlines. The defaults are for production; tests shorten them.
    package struct Timing: Sendable, Equatable {
        /// Session timeout: the group replaces a worker after this time without a heartbeat.
        package var session = Duration.seconds(10)
        /// Longest pause of the poll thread while the session lives.
        package var stall = Duration.seconds(30)
        /// Time limit for revoked partitions to finish their running jobs: the whole group waits meanwhile.
        package var revoke = Duration.seconds(3)
        /// Delay from the first completed offset to the commit of all offsets completed by then.
        package var commit = Duration.milliseconds(200)
        /// Interval at which unchanged offsets are committed again. Brokers delete the offsets of topics that the group
        /// does not subscribe to `offsets.retention.minutes` (7 days) after the last commit.
        package var recommit = Duration.seconds(24 * 3600)
        /// Time limit of an append; after that it is refused or its result is unknown.
        package var append = Duration.seconds(30)
        /// Time limit of requests for bounds, committed offsets and topics.
        package var response = Duration.seconds(10)

        package init() {}
    }
}
