import Foundation
import KafkaSetup
import SettingTypes
import TestSupport
import Testing

@testable import Settings

@Suite("Settings: secrets in files of their own", .timeLimit(.minutes(1)))
struct SecretFileTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.url.appending(path: name))
    }

    private func loaded(_ file: String, _ environment: [String: String] = [:]) throws(SettingsFailure) -> LoadedSettings
    {
        do { try write(file, to: "m.yaml") } catch { Issue.record(error) }
        return try Settings.loaded(file: folder.file("m.yaml"), environment: environment, assignments: [])
    }

    private func problem(_ file: String) throws -> String {
        let failure = #expect(throws: SettingsFailure.self) { try loaded(file) }
        return try #require(failure).description.replacing(folder.path + "/", with: "")
    }

    @Test(
        "A password file lies beside the settings, and one line's end of it is left out", arguments: ["", "\n", "\r\n"])
    func password(end: String) throws {
        try write("s3cr et!" + end, to: "password")
        let found = try loaded("kafka.security.passwordFile: password")
        #expect(found.settings.kafka.security.password.revealed == "s3cr et!")
        let key = try #require(Settings.keys.first { $0.name == "kafka.security.password" })
        #expect(key.text(found.settings) == "(not shown)")
        #expect(found.origin(of: key).description == folder.file("password") + ":1")
        let named = ["MEZZOTINT_KAFKA_SECURITY_PASSWORD_FILE": folder.file("password")]
        #expect(try loaded("", named).settings.kafka.security.password.revealed == "s3cr et!")
    }

    @Test(
        "What is wrong with it is said, and never what it holds",
        arguments: [
            (nil, "cannot read password: No such file or directory. Correct the path, or create the file."),
            ("", "expected one line of text in password."),
            ("hush\nhush\n", "expected one line of text in password."),
            ("hush\u{7}", "expected one line of text in password."),
            (String(repeating: "hush", count: 20_000), "password is larger than 64 KiB."),
        ] as [(String?, String)])
    func wrong(text: String?, said: String) throws {
        if let text { try write(text, to: "password") }
        let told = try problem("kafka.security.passwordFile: password")
        #expect(told.contains("m.yaml:1: kafka.security.passwordFile: " + said))
        #expect(!told.contains("hush"))
    }

    @Test("A password that is said twice is refused")
    func twice() throws {
        try write("hush", to: "password")
        let told = try problem("kafka.security: {password: hush, passwordFile: password}")
        #expect(
            told.hasSuffix(
                "kafka.security.passwordFile: cannot be set together with kafka.security.password: keep one of them."))
    }

    @Test("Secret options stand in a file of their own; kafka.options wins")
    func options() throws {
        try write("ssl.key.password: hush\nlinger.ms: 9\n", to: "options")
        let kafka = try loaded("kafka: {optionsFile: options, options: {linger.ms: 5}}").settings.kafka
        #expect(kafka.options == ["ssl.key.password": "hush", "linger.ms": "5"])
        try write("[hush]", to: "options")
        let told = try problem("kafka.optionsFile: options")
        #expect(
            told.contains("expected a map of names to text, such as {linger.ms: 5}, in options.")
                && !told.contains("hush"))
    }

    @Test(
        "Keys of jobs are listed in order, their secrets in files or variables; the first signs unless another is named"
    )
    func keys() throws {
        try write("0123456789abcdef\n", to: "old.key")
        let file = "jobs: {keys: {2026-11: {file: old.key}, b.2: {environment: KEY}}}"
        let jobs = try loaded(file, ["KEY": "a secret in a variable"]).settings.jobs
        #expect(jobs.keys.map(\.id) == ["2026-11", "b.2"] && jobs.signWith == "2026-11" && jobs.problems.isEmpty)
        #expect(jobs.keys.map { $0.secret?.revealed } == ["0123456789abcdef", "a secret in a variable"])
        let named = try loaded(file, ["KEY": "a secret in a variable", "MEZZOTINT_JOBS_SIGN": "b.2"])
        #expect(named.settings.jobs.signWith == "b.2")
        let key = try #require(Settings.keys.first { $0.name == "jobs.keys" })
        #expect(key.text(named.settings) == "{2026-11: {file: \(folder.file("old.key"))}, b.2: {environment: KEY}}")
    }

    @Test(
        "A secret that cannot be read stops those who sign or check, and no other program",
        arguments: [
            (key: "{file: none}", said: "none: No such file"),
            (key: "{environment: NONE}", said: "key 'k': expected one line of text in the variable NONE."),
            (key: "{environment: SHORT}", said: "key 'k': the secret is shorter than 16 bytes."),
        ])
    func unreadable(key: String, said: String) throws {
        let jobs = try loaded("jobs: {keys: {k: \(key)}}", ["SHORT": "hush hush"]).settings.jobs
        #expect(jobs.problems.count == 1 && jobs.problems[0].key == "jobs.keys")
        #expect(
            jobs.problems[0].message.hasPrefix("key 'k': ") && jobs.problems[0].message.contains(said)
                && !jobs.problems[0].message.contains("hush"))
    }

    @Test(
        "An invalid list of keys is refused, and not quoted",
        arguments: [
            "jobs.keys: {k: hush}", "jobs.keys: hush", "jobs.keys: {k: {secret: hush}}",
            "jobs.keys: {k: {file: a, environment: hush}}",
            "jobs.keys: {'hush hush': {file: a}}", "jobs.keys: [hush]", "jobs.keys: {k: {file: ''}}",
            "jobs: {sign: gone}",
        ])
    func malformed(file: String) throws {
        let told = try problem(file)
        #expect(told.contains("m.yaml:1: jobs.") && !told.contains("hush"))
    }
}
