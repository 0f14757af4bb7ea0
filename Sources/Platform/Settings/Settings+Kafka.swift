internal import KafkaSetup
internal import SettingTypes

extension Settings {
    static let kafkaKeys: [SettingKey] = [
        SettingKey(
            "kafka.bootstrap", \.kafka.bootstrap, .text,
            "The brokers to ask first, as host:port, divided by commas. Empty: the log is embedded, in the data directory."
        ),
        SettingKey(
            "kafka.prefix", \.kafka.prefix, .text,
            "Before the name of every topic: mezzotint. makes mezzotint.jobs.fast."),
        SettingKey("kafka.group", \.kafka.group, .text, "The consumer group of all workers that share the work."),
        SettingKey(
            "kafka.client", \.kafka.clientID, .text,
            "How this process is named in brokers' logs, by kafka groups and by mezzotint lag. Empty: its host and number."
        ),
        SettingKey(
            "kafka.partitions", \.kafka.partitions, .whole(1...1024),
            "Partitions of every topic that mezzotint topics create makes. The cluster's own number counts afterwards."),

        SettingKey(
            "kafka.security.kind", \.kafka.security.kind, .choice,
            "How connections are protected and clients known, in Kafka's words; SSL is TLS."),
        SettingKey(
            "kafka.security.mechanism", \.kafka.security.mechanism,
            .choice,
            "How the password is shown to the broker. Debian's librdkafka 2.0.2 cannot use SCRAM with Kafka 4.0 and newer."
        ),
        SettingKey("kafka.security.user", \.kafka.security.user, .text, "The user, with SASL."),
        SettingKey(
            "kafka.security.password", \.kafka.security.password, .secret,
            "The password, with SASL. Better in the environment, or in a file of its own (kafka.security.passwordFile)."
        ),
        SettingKey(
            "kafka.security.passwordFile", \.kafka.security.passwordFile, .path(allowsEmpty: true),
            "A file that holds the password alone, on one line, as clusters mount their secrets. Read at the start. Empty: none."
        ),
        SettingKey(
            "kafka.security.authorities", \.kafka.security.authorities, .path(allowsEmpty: true),
            "Certificates (PEM) of those who may vouch for brokers. Empty: the system's."),
        SettingKey(
            "kafka.security.certificate", \.kafka.security.certificate, .path(allowsEmpty: true),
            "The certificate (PEM) that this client shows. Empty: none."),
        SettingKey(
            "kafka.security.key", \.kafka.security.key, .path(allowsEmpty: true),
            "The private key (PEM) of kafka.security.certificate."),

        SettingKey(
            "kafka.options", \.kafka.options, .options,
            "More options of librdkafka by its own names, for every client of the process. Those that would break what Mezzotint promises are refused. Values are shown only where they are known to hold no secret."
        ),

        SettingKey(
            "kafka.optionsFile", \.kafka.optionsFile, .path(allowsEmpty: true),
            "A file of such options, a map in YAML, for those that are secret (ssl.key.password). Those of kafka.options win. Read at the start. Empty: none."
        ),

        SettingKey(
            "kafka.timing.session", \.kafka.timing.session, .duration(.milliseconds(100) ... .seconds(1800)),
            "A worker that is not heard of for so long is replaced. The brokers have limits of their own (6s to 30m)."),
        SettingKey(
            "kafka.timing.stall", \.kafka.timing.stall, .duration(.seconds(1) ... .seconds(3600)),
            "A worker that is heard of, but has not looked at the log for so long, gives its partitions up."),
        SettingKey(
            "kafka.timing.revoke", \.kafka.timing.revoke, .duration(.zero ... .seconds(60)),
            "How long partitions that go to another worker may take to finish what runs: the whole group waits."),
        SettingKey(
            "kafka.timing.commit", \.kafka.timing.commit, .duration(.milliseconds(1) ... .seconds(60)),
            "Offsets are committed together, this long after the first of them."),
        SettingKey(
            "kafka.timing.recommit", \.kafka.timing.recommit, .duration(.seconds(1) ... .seconds(7 * 86_400)),
            "Offsets that did not move are committed again so often. Less than half of the brokers' offsets.retention.minutes."
        ),
        SettingKey(
            "kafka.timing.append", \.kafka.timing.append, .duration(.milliseconds(100) ... .seconds(600)),
            "An append that is not acknowledged by then has failed, or may have."),
        SettingKey(
            "kafka.timing.answer", \.kafka.timing.answer, .duration(.milliseconds(100) ... .seconds(600)),
            "How long the cluster may take to answer a question."),
    ]
}
