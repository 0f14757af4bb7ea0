import Foundation
import TestSupport
import Testing

/// The real programs, told secrets in every way that they can be told, right and wrong: the secret is nowhere in what they
/// say.
@Suite("No secret is said", .timeLimit(.minutes(2)))
struct SecretTests {
    static let secret = "xK7-hunter2-qLpZ9"

    /// Where a secret goes: its key, and what is set there, with the secret for `S`.
    static let settings: [(key: String, value: String)] = [
        ("kafka.security.password", "S"),
        ("kafka.options", "{ssl.key.password: S}"), ("kafka.options", "{ssl.keystore.password: S}"),
        ("kafka.options", "{ssl.key.pem: S}"), ("kafka.options", "{ssl.certificate.pem: S}"),
        ("kafka.options", "{sasl.oauthbearer.config: principal=S}"),
        ("kafka.options", "{sasl.oauthbearer.client.secret: S}"), ("kafka.options", "{sasl.kerberos.kinit.cmd: S}"),
        // Of the settings' own, and of none: refused, by name.
        ("kafka.options", "{sasl.password: S}"), ("kafka.options", "{sasl.some.new.thing: S}"),
        // Without the space it is a name.
        ("kafka.options", "{sasl.password:S}"), ("kafka.options", "{linger.ms=S: 5}"),
    ]
    /// How it is written, with the value for `V`: as it should be, as files have it, and wrong.
    static let forms = [
        "V", "V\n", "V\r\n", "V\n\n", "\u{1}V", "V\nmore", "[V", "[V]", "{V", "{a: V}", "V: [V]", "- V",
    ]

    private static func environmentName(_ key: String) -> String {
        "MEZZOTINT_" + key.uppercased().replacing(".", with: "_")
    }

    private static let log = [
        "kafka.bootstrap=127.0.0.1:1", "kafka.security.protocol=SASL_SSL", "kafka.security.user=alice",
        "kafka.timing.response=100ms",
    ]

    private static let commands: [(program: String, words: [String])] = [
        ("mezzotint", ["config", "check"]), ("mezzotint", ["config", "check", "--json"]),
        ("mezzotint", ["config", "show"]),
        ("mezzotint", ["config", "show", "--json"]), ("mezzotint", ["doctor"]), ("mezzotint-worker", ["--until-idle"]),
    ]

    /// All of the commands' output together.
    private func said(
        _ words: [String], environment: [String: String] = [:], in folder: URL? = nil,
        by commands: [(program: String, words: [String])] = Self.commands
    ) throws -> String {
        try commands.map { command in
            let ended = try Built.run(
                command.program, command.words + Self.log.flatMap { ["--set", $0] } + words, in: folder,
                environment: environment)
            #expect(ended.output.count + ended.errors.count > 2, "it says something")
            return ended.output + ended.errors
        }.joined()
    }

    @Test("In the environment, by --set and in a file, right and wrong", arguments: settings.indices)
    func nowhere(index: Int) throws {
        let (key, value) = Self.settings[index]
        let folder = try TemporaryFolder()
        for (number, form) in Self.forms.enumerated() {
            let text = form.replacing("V", with: value.replacing("S", with: Self.secret))
            // What can be told apart only by a look at all programs is the same in each; the slow ones have the plain forms.
            let isPlain = number < Effort.count(landing: 1, all: 2)
            let commands = isPlain ? Self.commands : [Self.commands[0], Self.commands[3]]
            let quoted = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
                "\r\n", with: "\\r\\n"
            )
            .replacing("\n", with: "\\n").replacing("\u{1}", with: "\\x01")
            let files = [
                "\(key): \(text)\n", "\(key): \"\(quoted)\"\n", "\(key): {a: \"\(quoted)\"}\n",
                "\(key): [\"\(quoted)\"]\n",
            ]
            // A landing tries each form of a setting in one of the six ways, and each way with many forms and settings.
            let step = number == 0 ? 1 : Effort.count(landing: 6, all: 1)
            var said = ""
            for way in 0..<6 where (way + number + index) % step == 0 {
                switch way {
                // No argument or variable has a nought byte; others all may.
                case 4: said += try self.said([], environment: [Self.environmentName(key): text], by: commands)
                case 5: said += try self.said(["--set", "\(key)=\(text)"], by: commands)
                default:
                    try Data(files[way].utf8).write(to: folder.url.appending(path: "m.yaml"))
                    said += try self.said(["--config", "m.yaml"], in: folder.url, by: commands)
                }
            }
            #expect(
                !said.contains("hunter2") && !said.contains("qLpZ9"),
                "\(key), \(form.debugDescription): \(Self.lines(said))")
        }
    }

    @Test("In the place of a group, of an assignment, and twice")
    func misplaced() throws {
        let folder = try TemporaryFolder()
        let files = [
            "kafka: \(Self.secret)\n", "kafka.security: \(Self.secret)\n",
            "kafka:\n  security:\n    - \(Self.secret)\n",
            "kafka.security.password: \(Self.secret)\nkafka: {security: {password: \(Self.secret)}}\n",
            "kafka.security.password: |\n  \(Self.secret)\n  \(Self.secret)\n",
        ]
        var said = ""
        for file in files {
            try Data(file.utf8).write(to: folder.url.appending(path: "m.yaml"))
            said += try self.said(["--config", "m.yaml"], in: folder.url)
        }
        for assignment in [
            "kafka.security.password:", "kafka.security.password ", "Kafka.Security.Password", "kafka.options ",
        ] {
            said += try self.said(["--set", assignment + Self.secret])
        }
        #expect(!said.contains("hunter2"), "\(Self.lines(said))")
        #expect(said.contains("The value may be secret and is not shown."))
    }

    @Test("One line's end behind a value is taken off, in the environment and in a file", arguments: ["\n", "\r\n"])
    func lineEnds(end: String) throws {
        let folder = try TemporaryFolder()
        func show(_ words: [String], _ environment: [String: String]) throws -> [String: String] {
            let ended = try Built.run(
                "mezzotint", ["config", "show", "--json"] + words, in: folder.url, environment: environment)
            #expect(ended.status == 0, "\(ended.errors)")
            let rows = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: String]] ?? []
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["key"] ?? "", $0["value"] ?? "") })
        }
        let escaped = end == "\n" ? "\\n" : "\\r\\n"
        try Data(
            "fetch.userAgent: \"me\(escaped)\"\nretry: {attempts: \"3\(escaped)\"}\nkafka.options: {ssl.ca.location: \"/a\(escaped)\"}\n"
                .utf8
        )
        .write(to: folder.url.appending(path: "m.yaml"))
        let shown = try show(
            [],
            [
                "MEZZOTINT_CONFIG": "m.yaml" + end, "MEZZOTINT_FETCH_BYTE_LIMIT": "1MiB" + end,
                "MEZZOTINT_DATA": "/d" + end,
                "MEZZOTINT_KAFKA_SECURITY_PASSWORD": Self.secret + end, "MEZZOTINT_FETCH_ALLOW": "[127.0.0.0/8]" + end,
                "MEZZOTINT_RENDER_PROGRESSIVE": "true" + end,
            ])
        for (key, value) in [
            ("fetch.userAgent", "me"), ("retry.attempts", "3"), ("kafka.options", "{ssl.ca.location: /a}"),
            ("fetch.byteLimit", "1MiB"), ("data", "/d"), ("kafka.security.password", "(not shown)"),
            ("fetch.allow", "[127.0.0.0/8]"), ("render.progressive", "true"),
        ] { #expect(shown[key] == value, "\(key)") }
    }

    private static func lines(_ said: String) -> [Substring] {
        said.split(separator: "\n").filter { $0.contains("hunter2") || $0.contains("qLpZ9") }.map { $0.prefix(300) }
    }
}
