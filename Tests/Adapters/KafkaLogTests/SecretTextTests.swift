import KafkaLog
import KafkaSetup
import Testing

@Suite("Kafka: secrets in texts", .timeLimit(.minutes(1)))
struct SecretTextTests {
    @Test("A secret has no text of its own, in whatever it stands")
    func described() {
        var configuration = KafkaConfiguration()
        configuration.security.password = "hunter2hunter2"
        configuration.options = ["ssl.key.pem": "-----hunter2-----"]
        var dumped = ""
        dump(configuration, to: &dumped)
        let texts = [
            dumped, "\(configuration)", String(reflecting: configuration), "\(configuration.security.password)",
            "\(Optional(configuration.security.password) as Any)", String(reflecting: configuration.options),
        ]
        for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
        #expect("\(configuration.security.password)" == "(not shown)" && Secret("").description == "")
    }

    @Test(
        "What librdkafka repeats of its configuration is taken out, whole and in part",
        arguments: [
            (
                "Invalid sasl.oauthbearer.config: principal=alice scope=hunter2hunter2!",
                "Invalid sasl.oauthbearer.config: (not shown)!"
            ),
            (
                "Unrecognized sasl.oauthbearer.config beginning at: hunter2hunter2",
                "Unrecognized sasl.oauthbearer.config beginning at: (not shown)"
            ),
            ("the password is pass, not passpass", "the (not shown)word is (not shown), not (not shown)"),
            ("linger.ms: 50 is no secret", "linger.ms: 50 is no secret"), ("", ""),
        ])
    func hidden(text: String, shown: String) {
        var configuration = KafkaConfiguration()
        configuration.security.password = "pass"
        configuration.options = [
            "sasl.oauthbearer.config": "principal=alice scope=hunter2hunter2", "linger.ms": "50",
            "ssl.key.password": "50",
        ]
        #expect(configuration.withoutSecrets(text) == shown)
    }

    @Test(
        "No option that librdkafka holds to be secret is shown",
        arguments: [
            "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "ssl.certificate.pem",
            "ssl.ca.pem",
            "sasl.oauthbearer.config", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret",
            "sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.extensions", "sasl.username",
            "sasl.kerberos.kinit.cmd",
            "a.name.of.the.future",
        ])
    func options(name: String) { #expect(!KafkaConfiguration.isShown(option: name)) }

    @Test(
        "Numbers, paths and choices are shown",
        arguments: ["linger.ms", "ssl.key.location", "debug", "fetch.max.bytes"])
    func harmless(name: String) { #expect(KafkaConfiguration.isShown(option: name)) }
}
