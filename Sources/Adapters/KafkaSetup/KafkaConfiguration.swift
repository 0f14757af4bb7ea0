/// How to reach a Kafka cluster, and the names that this installation uses on it: what settings say, and the log over
/// Kafka goes by.
package struct KafkaConfiguration: Sendable, Equatable {
    /// The brokers to ask first: `host:port`, separated by commas. Empty: there is no cluster.
    package var bootstrap = ""
    /// Before the name of every topic: `mezzotint.` makes `mezzotint.jobs.fast`.
    package var prefix = "mezzotint."
    /// The consumer group of all workers that share the work.
    package var group = "mezzotint"
    /// How this process is named in the broker's logs and in `mezzotint lag`. Empty: whoever connects chooses a name.
    package var clientID = ""
    /// What `topics create` makes. The cluster's own number counts afterwards.
    package var partitions = 12
    package var security = Security()
    /// More options of librdkafka, by its own names, for every client of this process.
    package var options: [String: Secret] = [:]
    /// Where more of them stand. Empty: nowhere.
    package var optionsFile = ""
    package var timing = Timing()

    package init() {}

    /// How connections are protected and clients are known.
    package struct Security: Sendable, Equatable {
        /// Kafka's own names.
        package enum Kind: String, Sendable, CaseIterable {
            case plaintext = "PLAINTEXT"
            case tls = "SSL"
            case sasl = "SASL_PLAINTEXT"
            case saslTLS = "SASL_SSL"
        }
        /// Debian's librdkafka 2.0.2 sends the client's nonce twice (#4895, cured in 2.6.1): SCRAM works with Kafka 3.x,
        /// and 4.0 and newer refuse it.
        package enum Mechanism: String, Sendable, CaseIterable {
            case plain = "PLAIN"
            case scramSHA256 = "SCRAM-SHA-256"
            case scramSHA512 = "SCRAM-SHA-512"
        }

        package var kind = Kind.plaintext
        package var mechanism = Mechanism.plain
        package var user = ""
        package var password: Secret = ""
        /// Where the password stands, if it is not said itself. Empty: nowhere.
        package var passwordFile = ""
        /// PEM files; empty: the system's authorities, no certificate of our own.
        package var authorities = ""
        package var certificate = ""
        package var key = ""

        package init() {}
        package var usesSASL: Bool { kind == .sasl || kind == .saslTLS }
        package var usesTLS: Bool { kind == .tls || kind == .saslTLS }
    }

    /// Deadlines. The defaults are for production; tests shorten them.
    package struct Timing: Sendable, Equatable {
        /// A worker that is not heard of for so long is replaced.
        package var session = Duration.seconds(10)
        /// The poll thread may not be away for longer, though the session lives.
        package var stall = Duration.seconds(30)
        /// How long partitions that are taken away may take to finish: the whole group waits meanwhile.
        package var revoke = Duration.seconds(3)
        /// Offsets are committed together, this long after the first of them.
        package var commit = Duration.milliseconds(200)
        /// Offsets that did not move are committed again so often: brokers forget those of topics that the group does not
        /// subscribe to `offsets.retention.minutes` (7 days) after the last commit.
        package var recommit = Duration.seconds(24 * 3600)
        /// An append that is not acknowledged by then is refused or unknown.
        package var append = Duration.seconds(30)
        /// Of questions: bounds, committed offsets, topics.
        package var answer = Duration.seconds(10)

        package init() {}
    }
}
