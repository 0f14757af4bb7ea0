internal import Clocks
package import SettingTypes

extension KafkaConfiguration {
    package static let rows: [SettingRow<KafkaConfiguration>] = [
        SettingRow(
            "kafka.bootstrap", \.bootstrap, .text,
            "The brokers to ask first, as host:port, divided by commas. Empty: the log is embedded, in the data directory."
        ),
        SettingRow(
            "kafka.prefix", \.prefix, .text,
            "Before the name of every topic: mezzotint. makes mezzotint.jobs.fast."),
        SettingRow("kafka.group", \.group, .text, "The consumer group of all workers that share the work."),
        SettingRow(
            "kafka.client", \.clientID, .text,
            "How this process is named in brokers' logs, by kafka groups and by mezzotint lag. Empty: its host and number."
        ),
        SettingRow(
            "kafka.partitions", \.partitions, .whole(1...1024),
            "Partitions of every topic that mezzotint topics create makes. The cluster's own number counts afterwards."),

        SettingRow(
            "kafka.security.kind", \.security.kind, .choice,
            "How connections are protected and clients known, in Kafka's words; SSL is TLS."),
        SettingRow(
            "kafka.security.mechanism", \.security.mechanism,
            .choice,
            "How the password is shown to the broker. Debian's librdkafka 2.0.2 cannot use SCRAM with Kafka 4.0 and newer."
        ),
        SettingRow("kafka.security.user", \.security.user, .text, "The user, with SASL."),
        SettingRow(
            "kafka.security.password", \.security.password, .secret,
            "The password, with SASL. Better in the environment, or in a file of its own (kafka.security.passwordFile)."
        ),
        SettingRow(
            "kafka.security.passwordFile", \.security.passwordFile, .path(allowsEmpty: true),
            "A file that holds the password alone, on one line, as clusters mount their secrets. Read at the start. Empty: none."
        ),
        SettingRow(
            "kafka.security.authorities", \.security.authorities, .path(allowsEmpty: true),
            "Certificates (PEM) of those who may vouch for brokers. Empty: the system's."),
        SettingRow(
            "kafka.security.certificate", \.security.certificate, .path(allowsEmpty: true),
            "The certificate (PEM) that this client shows. Empty: none."),
        SettingRow(
            "kafka.security.key", \.security.key, .path(allowsEmpty: true),
            "The private key (PEM) of kafka.security.certificate."),

        SettingRow(
            "kafka.options", \.options, .options,
            "More options of librdkafka by its own names, for every client of the process. Those that would break what Mezzotint promises are refused. Values are shown only where they are known to hold no secret."
        ),

        SettingRow(
            "kafka.optionsFile", \.optionsFile, .path(allowsEmpty: true),
            "A file of such options, a map in YAML, for those that are secret (ssl.key.password). Those of kafka.options win. Read at the start. Empty: none."
        ),

        SettingRow(
            "kafka.timing.session", \.timing.session, .duration(.milliseconds(100) ... .seconds(1800)),
            "A worker that is not heard of for so long is replaced. The brokers have limits of their own (6s to 30m)."),
        SettingRow(
            "kafka.timing.stall", \.timing.stall, .duration(.seconds(1) ... .seconds(3600)),
            "A worker that is heard of, but has not looked at the log for so long, gives its partitions up."),
        SettingRow(
            "kafka.timing.revoke", \.timing.revoke, .duration(.zero ... .seconds(60)),
            "How long partitions that go to another worker may take to finish what runs: the whole group waits."),
        SettingRow(
            "kafka.timing.commit", \.timing.commit, .duration(.milliseconds(1) ... .seconds(60)),
            "Offsets are committed together, this long after the first of them."),
        SettingRow(
            "kafka.timing.recommit", \.timing.recommit, .duration(.seconds(1) ... .seconds(7 * 86_400)),
            "Offsets that did not move are committed again so often. Less than half of the brokers' offsets.retention.minutes."
        ),
        SettingRow(
            "kafka.timing.append", \.timing.append, .duration(.milliseconds(100) ... .seconds(600)),
            "An append that is not acknowledged by then has failed, or may have."),
        SettingRow(
            "kafka.timing.answer", \.timing.answer, .duration(.milliseconds(100) ... .seconds(600)),
            "How long the cluster may take to answer a question."),
    ]
}

extension SettingType where Value == Secret {
    /// Like text, and never shown.
    fileprivate static var secret: Self {
        var type = scalar(
            "text on one line", { $0.isOneLine ? Secret($0) : nil }, write: { $0.description })
        type.isSecret = true
        return type
    }
}

extension SettingType where Value == [String: Secret] {
    /// `{linger.ms: 5, broker.address.family: v4}`. Values are shown where that is known to be harmless.
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
