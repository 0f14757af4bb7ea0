import Foundation
import TestSupport
import Testing

@Suite("mezzotint config and reference", .timeLimit(.minutes(1)))
struct ConfigurationCommandTests {
    @Test("config check lists every problem at once, with key, line and what was meant")
    func check() throws {
        let folder = try TemporaryFolder()
        try Data("fetch:\n  alow: []\nretry.attempts: 101\n".utf8).write(to: folder.url.appending(path: "m.yaml"))
        let words = ["config", "check", "--config", "m.yaml", "--set", "store.maxAge=never"]
        let ended = try Built.run("mezzotint", words, in: folder.url, environment: ["MEZZOTINT_DATA": ""])
        #expect(ended.status == 1)
        #expect(
            ended.errors == """
                m.yaml:2: fetch.alow: there is no such setting. Did you mean 'fetch.allow'?
                m.yaml:3: retry.attempts: expected a whole number from 0 to 100, got '101'.
                MEZZOTINT_DATA: data: expected a path, got nothing.
                --set: store.maxAge: expected a duration from 1s to 3650d, such as 10s, 5m, 2h or 7d, got 'never'.

                """)
        let json = try Built.run("mezzotint", words + ["--json"], in: folder.url)
        let problems = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        #expect(problems.compactMap { $0["key"] as? String } == ["fetch.alow", "retry.attempts", "store.maxAge"])
        #expect(problems.compactMap { $0["at"] as? String } == ["m.yaml:2", "m.yaml:3", "--set"])
    }

    @Test(
        "config check names variables that look like settings of a group and are none, except secrets that a setting names"
    )
    func ignored() throws {
        let environment = [
            "MEZZOTINT_RETRY_COUNT": "3", "MEZZOTINT_JOBS_SECRET_A": String(repeating: "k", count: 16),
            "MEZZOTINT_PORT": "tcp://1",
        ]
        let ended = try Built.run(
            "mezzotint", ["config", "check", "--set", "jobs.keys={a: {environment: MEZZOTINT_JOBS_SECRET_A}}"],
            environment: environment)
        #expect(ended.status == 0 && ended.output == "The configuration has no problems.\n")
        #expect(ended.errors == "MEZZOTINT_RETRY_COUNT names no setting and is ignored.\n")
    }

    @Test("Each configuration of config/ has no problems")
    func shipped() throws {
        let folder = Project.file("config")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }
        #expect(files.contains("embedded.yaml"))
        for file in files {
            let ended = try Built.run("mezzotint", ["config", "check", "--config", folder.appending(path: file).path])
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
        }
    }

    @Test("config show says where each value was said")
    func show() throws {
        let ended = try Built.run(
            "mezzotint", ["config", "show", "--json", "--set", "fetch.allow=127.0.0.0/8"],
            environment: ["MEZZOTINT_RETRY_BASE": "2s"])
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: String]])
        func row(_ key: String) -> [String: String]? { rows.first { $0["key"] == key } }
        #expect(row("fetch.allow") == ["key": "fetch.allow", "value": "[127.0.0.0/8]", "from": "--set"])
        #expect(row("retry.base") == ["key": "retry.base", "value": "2s", "from": "MEZZOTINT_RETRY_BASE"])
        #expect(row("retry.cap") == ["key": "retry.cap", "value": "10m", "from": "default"])
    }

    /// Seen to fail: it said 0.1 in version 0.2.0.
    @Test("Origins are told the version of the programs")
    func userAgent() throws {
        let version = try Built.run("mezzotint", ["--version"]).output
        let shown = try Built.run("mezzotint", ["config", "show"]).output.split(separator: "\n")
        let row = try #require(shown.first { $0.contains("fetch.userAgent") })
        #expect(row.contains(version.trimmingCharacters(in: .newlines).replacing(" ", with: "/")), "\(row)")
    }

    @Test("MEZZOTINT_CONFIG names the file where --config does not")
    func file() throws {
        let folder = try TemporaryFolder()
        try Data("retry: {base: 3s}".utf8).write(to: folder.url.appending(path: "m.yaml"))
        try Data("retry: {cap: 9s}".utf8).write(to: folder.url.appending(path: "n.yaml"))
        let environment = ["MEZZOTINT_CONFIG": "m.yaml"]
        let named = try Built.run("mezzotint", ["config", "show"], in: folder.url, environment: environment)
        #expect(named.output.contains("m.yaml:1") && !named.output.contains("n.yaml"))
        let given = try Built.run(
            "mezzotint", ["config", "show", "--config", "n.yaml"], in: folder.url, environment: environment)
        #expect(given.output.contains("n.yaml:1") && !given.output.contains("m.yaml"))
        let absent = try Built.run("mezzotint", ["config", "check", "--config", "o.yaml"], in: folder.url)
        #expect(absent.status == 1 && absent.errors.hasPrefix("--config: the settings file o.yaml cannot be read: "))
        let lost = try Built.run(
            "mezzotint", ["config", "check"], in: folder.url, environment: ["MEZZOTINT_CONFIG": "o.yaml"])
        #expect(
            lost.errors.hasPrefix("MEZZOTINT_CONFIG: ")
                && lost.errors.hasSuffix("Check the path given to MEZZOTINT_CONFIG.\n"))
    }

    @Test(
        "Every command refuses a broken configuration before it does anything",
        arguments: [["lag"], ["normalise", "http://a.example/"], ["config", "show"]])
    func refused(words: [String]) throws {
        let ended = try Built.run("mezzotint", words + ["--set", "retry.attempts=101", "--set", "x=1"])
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("mezzotint: 2 problems in the settings:\n  --set: retry.attempts: expected"))
    }

    @Test(
        "The worker, and commands that never look at the log, refuse what config check names",
        arguments: [("mezzotint-worker", []), ("mezzotint", ["normalise", "http://a.example/"])] as [(String, [String])]
    )
    func alike(program: String, words: [String]) throws {
        let folder = try TemporaryFolder()
        try Data("kafka:\n  bootstrap: nohost\n  security:\n    protocol: SASL_SSL\n".utf8).write(
            to: folder.url.appending(path: "k.yaml"))
        let checked = try Built.run("mezzotint", ["config", "check", "--config", "k.yaml"], in: folder.url)
        #expect(checked.lines.count == 0 && checked.errors.contains("k.yaml:2: kafka.bootstrap: expected brokers"))
        #expect(checked.errors.contains("k.yaml:4: kafka.security.protocol: SASL_SSL requires"))
        let ended = try Built.run(program, words + ["--config", "k.yaml"], in: folder.url)
        let said = checked.errors.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
        #expect(ended.status == 1)
        #expect(ended.errors == "\(program): 2 problems in the settings:\n\(said)\n")
    }

    @Test(
        "The worker, and config check, refuse a file of authorities that cannot be used; other commands do not read it")
    func authorities() throws {
        let folder = try TemporaryFolder()
        try Data("fetch:\n  authorities: [ca.pem]\n".utf8).write(to: folder.url.appending(path: "m.yaml"))
        try Data("none".utf8).write(to: folder.url.appending(path: "ca.pem"))
        let words = ["--config", folder.file("m.yaml")]
        let problem = "m.yaml:2: fetch.authorities: names \(folder.file("ca.pem")), which holds no certificate in PEM"
        let checked = try Built.run("mezzotint", ["config", "check"] + words)
        #expect(checked.status == 1 && checked.errors.contains(problem), "\(checked.errors)")
        let worker = try Built.run("mezzotint-worker", ["--until-idle"] + words, in: folder.url)
        #expect(worker.status == 1 && worker.errors.contains(problem), "\(worker.errors)")
        #expect(try Built.run("mezzotint", ["normalise", "http://a.example/"] + words).status == 0)
    }

    @Test("The reference page is what the code says; ops/reference writes it anew")
    func reference() throws {
        let page = try Project.text("config/reference.md")
        let parts = page.components(separatedBy: "<!-- generated by ops/reference -->\n")
        let generated = try #require(parts.last?.components(separatedBy: "<!-- end of the generated part -->\n").first)
        #expect(parts.count == 2)
        #expect(generated == (try Built.run("mezzotint", ["reference"]).output))
    }
}
