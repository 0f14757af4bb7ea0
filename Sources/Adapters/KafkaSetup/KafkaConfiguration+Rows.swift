internal import Clocks
package import SettingTypes

extension KafkaConfiguration {
    package static let rows: [SettingRow<KafkaConfiguration>] = [
        SettingRow(
            "kafka.bootstrap", \.bootstrap, .text,
            "Brokers to contact first, as host:port, separated by commas. Empty: the worker uses the embedded log in the data directory."
        ),
        SettingRow(
            "kafka.prefix", \.prefix, .text,
            "Prefix of every topic's name: mezzotint. gives mezzotint.jobs.fast."),
        SettingRow("kafka.group", \.group, .text, "Consumer group of all workers that share the jobs."),
        SettingRow(
            "kafka.client", \.clientID, .text,
            "Name of this process in the brokers' logs, in kafka-consumer-groups and in mezzotint lag. Empty: its host name and process id."
        ),
        SettingRow(
            "kafka.partitions", \.partitions, .whole(1...1024),
            "Partitions of every topic that mezzotint topics create creates. If topics exist, their own partition count applies."
        ),

        SettingRow(
            "kafka.security.protocol", \.security.kind, .choice,
            "Protocol that protects connections and authenticates clients, by Kafka's names. SSL means TLS."),
        SettingRow(
            "kafka.security.mechanism", \.security.mechanism,
            .choice,
            "SASL mechanism that sends the password to the broker. Debian's librdkafka 2.0.2 cannot use SCRAM with Kafka 4.0 and newer."
        ),
        SettingRow("kafka.security.user", \.security.user, .text, "User name for SASL."),
        SettingRow(
            "kafka.security.password", \.security.password, .secret,
            "Password for SASL. Prefer the environment, or a file of its own (kafka.security.passwordFile)."
        ),
        SettingRow(
            "kafka.security.passwordFile", \.security.passwordFile, .path(allowsEmpty: true),
            "File that holds only the password, on one line, as clusters mount secrets. The process reads it at its start. Empty: none."
        ),
        SettingRow(
            "kafka.security.authorities", \.security.authorities, .path(allowsEmpty: true),
            "Certificates (PEM) of the authorities that may sign the brokers' certificates. Empty: the system's authorities."
        ),
        SettingRow(
            "kafka.security.certificate", \.security.certificate, .path(allowsEmpty: true),
            "Certificate (PEM) that this client presents. Empty: none."),
        SettingRow(
            "kafka.security.key", \.security.key, .path(allowsEmpty: true),
            "Private key (PEM) of kafka.security.certificate."),

        SettingRow(
            "kafka.options", \.options, .options,
            "Additional librdkafka options by its own names, for every client of the process. Options that would break Mezzotint's guarantees are refused. Values are shown only if the option is known to hold no secret."
        ),

        SettingRow(
            "kafka.optionsFile", \.optionsFile, .path(allowsEmpty: true),
            "File of additional librdkafka options, a YAML map, for secret ones (ssl.key.password). Options in kafka.options override it. The process reads it at its start. Empty: none."
        ),

        SettingRow(
            "kafka.timing.session", \.timing.session, .duration(.milliseconds(100) ... .seconds(1800)),
            "Session timeout: the group replaces a worker after this time without a heartbeat. The brokers limit it, too (6s to 30m)."
        ),
        SettingRow(
            "kafka.timing.stall", \.timing.stall, .duration(.seconds(1) ... .seconds(3600)),
            "A worker that sends heartbeats, but does not poll the broker for this long, releases its partitions."),
        SettingRow(
            "kafka.timing.revoke", \.timing.revoke, .duration(.zero ... .seconds(60)),
            "Time limit for finishing running jobs before partitions move to another worker. The whole group waits."),
        SettingRow(
            "kafka.timing.commit", \.timing.commit, .duration(.milliseconds(1) ... .seconds(60)),
            "Delay from the first completed offset to the commit of all offsets completed by then."),
        SettingRow(
            "kafka.timing.recommit", \.timing.recommit, .duration(.seconds(1) ... .seconds(7 * 86_400)),
            "Interval at which unchanged offsets are committed again. It must be less than half of the brokers' offsets.retention.minutes."
        ),
        SettingRow(
            "kafka.timing.append", \.timing.append, .duration(.milliseconds(100) ... .seconds(600)),
            "Time limit for the brokers to acknowledge a record. After that, the append has failed, or its result is unknown."
        ),
        SettingRow(
            "kafka.timing.response", \.timing.response, .duration(.milliseconds(100) ... .seconds(600)),
            "Time limit for the cluster to respond to a request."),
    ]
}

extension SettingType where Value == Secret {
    /// Type of text settings that are never shown.
    fileprivate static var secret: Self {
        var type = scalar(
            "text on one line", { $0.isOneLine ? Secret($0) : nil }, write: { $0.description })
        type.isSecret = true
        return type
    }
}

extension SettingType where Value == [String: Secret] {
    /// Map such as `{linger.ms: 5, broker.address.family: v4}`. A value is shown if its option is known to be harmless.
    package static var options: Self {
        SettingType(
            expectation: "a map of names to text, such as {linger.ms: 5}",
            read: { node, _ in
                node.entries?.reduce(into: Optional([:])) { texts, entry in
                    // `{password:x}` without a space is one name, which would be shown.
                    let isName = entry.key.utf8.allSatisfy { SettingName.has($0) }
                    if isName, case .scalar(let text) = entry.value.content {
                        texts?[entry.key] = Secret(text)
                    } else {
                        texts = nil
                    }
                }
            },
            write: { texts in
                let pairs = texts.sorted { $0.key < $1.key }.map { name, text in
                    "\(name): " + (KafkaConfiguration.isShown(option: name) ? text.revealed : text.description)
                }
                return "{" + pairs.joined(separator: ", ") + "}"
            }, isSecret: true)
    }
}
