import Canonical
import Foundation
import KafkaSetup
import Posix
import TestSupport
import Testing

@testable import Settings

@Suite("Settings: every problem at once, with key and line", .timeLimit(.minutes(1)))
struct SettingsProblemTests {
    @Test("A file with many problems is answered by all of them")
    func all() throws {
        let found = try problems(
            file: """
                data: ""
                fetch:
                  alow: [127.0.0.0/8]
                  byteLimit: 32
                  byteLimit: 1MiB
                  allow: [localhost, 10.0.0.0/8]
                retry:
                  attempts: five
                  base: 2h
                render: fast
                byteLimt: 1
                store: {maxAge: *week}
                fetch.redirects: 99
                concurrency: 3
                """,
            environment: [
                "MEZZOTINT_WORKER_DRAIN": "soon", "MEZZOTINT_WORKER_DRIAN": "1s", "MEZZOTINT_PORT": "tcp://1",
            ],
            set: ["log.partitions=0", "nonsense", "lanes.fast=1"])
        #expect(
            found == [
                "m.yaml:5: byteLimit: this key stands here twice, first on line 4; keep one.",
                "m.yaml:12: aliases (*name) are not read; write the value out.",
                "m.yaml:1: data: expected a path, got nothing.",
                "m.yaml:3: fetch.alow: there is no such setting. Did you mean 'fetch.allow'?",
                "m.yaml:4: fetch.byteLimit: expected a size from 1KiB to 4GiB, such as 64KiB, 32MiB or 1GiB, got '32', which has no unit.",
                "m.yaml:6: fetch.allow: expected a list of address ranges such as 10.0.0.0/8, got [localhost, 10.0.0.0/8].",
                "m.yaml:8: retry.attempts: expected a whole number from 0 to 100, got 'five'.",
                "m.yaml:9: retry.base: expected a duration from 1ms to 1h, such as 250ms, 10s or 5m, got '2h'.",
                "m.yaml:10: render: expected a group of keys, got 'fast'.",
                "m.yaml:11: byteLimt: there is no such setting. 'mezzotint config keys' lists them.",
                "m.yaml:12: store.maxAge: expected a duration from 1s to 3650d, such as 10s, 5m, 2h or 7d, got nothing.",
                "m.yaml:13: fetch.redirects: expected a whole number from 0 to 20, got '99'.",
                "m.yaml:14: concurrency: there is no such setting. Did you mean 'lanes.slow.concurrency'?",
                "MEZZOTINT_WORKER_DRAIN: worker.drain: expected a duration from 0ms to 1h, such as 250ms, 10s or 5m, got 'soon'.",
                "MEZZOTINT_WORKER_DRIAN: there is no such setting. Did you mean 'MEZZOTINT_WORKER_DRAIN'?",
                "--set: log.partitions: expected a whole number from 1 to 256, got '0'.",
                "--set: 'nonsense' is not an assignment: write key=value.",
                "--set: lanes.fast: there is no such setting. Did you mean 'retry.giveUp.fast'?",
            ])
    }

    @Test(
        "What is no settings file at all is answered with the line",
        arguments: [
            ("a: [1", "m.yaml:2: this is not YAML: did not find expected ',' or ']' while parsing a flow sequence."),
            (
                "origins: {cdn: {hosts: [*.cdn.example]}}",
                "m.yaml:1: this is not YAML: did not find expected alphabetic or numeric character while scanning an alias. Quote what begins with an asterisk: \"*.example.com\"."
            ),
            ("- a\n- b", "m.yaml:1: it must be a map of keys to values."),
            ("data: a\n---\ndata: b", "m.yaml:2: a second document begins here; put everything in one."),
            ("data: &x a", "m.yaml:1: anchors (&name) are not read; write the value out where it is needed."),
            ("data: !!str a", "m.yaml:1: tags (!name) are not read; leave them out."),
            ("{a: b}: c", "m.yaml:1: a key must be plain text."),
            (
                "fetch:\n  allow: []\nfetch.allow: []",
                "m.yaml:3: fetch.allow: this key stands here twice, first on line 2; keep one."
            ),
            ("fetch:\n\tallow: []", "m.yaml:2: this line is indented with a tab. YAML needs spaces."),
            ("fetch:\n  allow: []\n  \tports: []", "m.yaml:3: this line is indented with a tab. YAML needs spaces."),
            (String(repeating: "[", count: 40), "m.yaml:1: this is nested deeper than any setting."),
        ])
    func notSettings(text: String, problem: String) throws {
        let found = try problems(file: text)
        #expect(found.contains(problem))
    }

    @Test(
        "Settings that are right alone and wrong together are found",
        arguments: [
            ("retry.base=20m", "retry.cap=1m", "retry.base: is longer than retry.cap; lower it or raise retry.cap."),
            (
                "fetch.budget=1MiB", "log.partitions=1",
                "fetch.byteLimit: is larger than fetch.budget, so such a source could never be held; raise fetch.budget."
            ),
            (
                "fetch.deadlines.whole=3s", "log.partitions=1",
                "fetch.deadlines.connect: is longer than fetch.deadlines.whole; lower it or raise that."
            ),
            (
                "log.byteLimit=1MiB", "log.reserve=0B",
                "log.byteLimit: 1MiB leaves no room for jobs: log.reserve takes 0B, and the empty tables of 8 partitions take 1MiB. Raise it above 1MiB."
            ),
            (
                "worker.standstill=1s", "log.partitions=1",
                "worker.standstill: 1s is below the minimum of 90s, three times fetch.deadlines.whole. Raise it, or lower fetch.deadlines.whole."
            ),
            (
                "worker.standstill=2m", "render.deadline=1m",
                "worker.standstill: 2m is below the minimum of 3m, three times render.deadline. Raise it, or lower render.deadline."
            ),
            (
                "store.maxAge=31d", "log.partitions=1",
                "store.maxAge: 31d is above the maximum of 30d, which origins.freshness.ceiling sets. Lower it, or raise origins.freshness.ceiling."
            ),
        ])
    func together(one: String, other: String, problem: String) throws {
        #expect(try problems(set: [one, other]).contains("--set: " + problem))
    }

    @Test("A bound that follows another setting is no fault of those who set neither or only that one")
    func followed() throws {
        #expect(try settings(set: ["fetch.deadlines.whole=10m"]).standstill == .seconds(1800))
        #expect(try settings(set: ["worker.standstill=90s"]).standstill == .seconds(90))
        #expect(try problems(set: ["origins.freshness.ceiling=1d"]).isEmpty)
        #expect(try problems(set: ["store.maxAge=3650d", "origins.freshness.ceiling=3650d"]).isEmpty)
    }

    @Test(
        "A number without a unit, or with an unknown one, is refused by that, with an example that is accepted",
        arguments: [
            (
                "fetch.deadlines.dns=2",
                "duration from 1ms to 10m, such as 250ms, 10s or 5m, got '2', which has no unit."
            ),
            ("fetch.deadlines.dns=2h", "duration from 1ms to 10m, such as 250ms, 10s or 5m, got '2h'."),
            (
                "render.memory=1GB",
                "size from 64MiB to 1024GiB, such as 1GiB, got '1GB', whose unit is not GiB, MiB, KiB or B."
            ),
            ("render.memory=32MiB", "size from 64MiB to 1024GiB, such as 1GiB, got '32MiB'."),
            (
                "store.mode=0777",
                "n octal file mode that lets the owner read and write and nobody execute, such as 0644 or 0640, got '0777'."
            ),
        ])
    func unit(assignment: String, problem: String) throws {
        let key = assignment.prefix { $0 != "=" }
        let article = problem.hasPrefix("n ") ? "a" : "a "
        #expect(try problems(set: [assignment]) == ["--set: \(key): expected \(article)\(problem)"])
    }

    @Test(
        "A hint names a key that is near, or the keys of the group, and never one that is neither",
        arguments: [
            (
                "origins.cdn.foo",
                "origins.cdn has hosts, concurrency, rate, bytesPerSecond, attempts, freshness.floor, freshness.ceiling, headers."
            ),
            ("origins.cdn.host", "Did you mean 'origins.cdn.hosts'?"),
            ("origins.cdn.freshness.roof", "origins.cdn.freshness has floor, ceiling."),
            ("fetch.deadlines.foo", "fetch.deadlines has dns, connect, firstByte, whole."),
            ("fetch.deadlines.fristByte", "Did you mean 'fetch.deadlines.firstByte'?"),
            ("kafka.foo", "'mezzotint config keys' lists them."), ("foo", "'mezzotint config keys' lists them."),
        ])
    func unknown(name: String, hint: String) throws {
        #expect(try problems(set: [name + "=1"]) == ["--set: \(name): there is no such setting. \(hint)"])
    }

    @Test("A file that is not there is named")
    func missing() throws {
        let error = #expect(throws: SettingsFailure.self) {
            try Settings.loaded(file: "/nowhere/m.yaml", environment: [:], assignments: [])
        }
        #expect(
            error?.description
                == "--config: the settings file /nowhere/m.yaml cannot be read: No such file or directory. Check the path given to --config."
        )
    }

    @Test("No file may trap the reader: 20,000 broken ones")
    func hostile() throws {
        var random = SeededRandom(seed: 7)
        let whole = Array(try String(contentsOf: Self.embedded, encoding: .utf8).replacing("# ", with: "").utf8)
        for _ in 0..<20_000 {
            var bytes = whole[Int.random(in: 0..<400, using: &random)...].prefix(300)
            for _ in 0..<4 {
                bytes[bytes.indices.randomElement(using: &random)!] = .random(in: 0...255, using: &random)
            }
            var reader = SettingsReader()
            reader.read(file: "m.yaml", Array(bytes))
            reader.finish()
        }
    }

    static let embedded = URL(filePath: #filePath).appending(path: "../../../config/embedded.yaml").standardizedFileURL
}

@Suite("Settings: layers and values", .timeLimit(.minutes(1)))
struct SettingsLayerTests {
    @Test("Flags win over the environment, the environment over the file, the file over the default")
    func precedence() throws {
        let file = "fetch: {concurrency: 2, redirects: 2, byteLimit: 2MiB}"
        let found = try settings(
            file: file, environment: ["MEZZOTINT_FETCH_CONCURRENCY": "3", "MEZZOTINT_FETCH_REDIRECTS": "3"],
            set: ["fetch.concurrency=4", "fetch.concurrency=5"])
        #expect(found.fetch.concurrency == 5)
        #expect(found.fetch.redirects == 3)
        #expect(found.fetch.byteLimit == 2 << 20)
        #expect(found.fetch.budget == 256 << 20)
    }

    @Test("A path in a file is relative to the file's folder, one in a flag to the working directory")
    func paths() throws {
        let folder = try TemporaryFolder()
        try Data("data: d\nstore: {directory: /s}\nrender.program: bin/r".utf8).write(
            to: folder.url.appending(path: "m.yaml"))
        let found = try Settings.loaded(
            file: folder.file("m.yaml"), environment: [:], assignments: ["render.program=bin/r"])
        #expect(found.settings.data == folder.file("d"))
        #expect(found.settings.logDirectory == folder.file("d/log"))
        #expect(found.settings.storeDirectory == "/s")
        #expect(found.settings.render.program == "bin/r")
        #expect(Settings().storeDirectory == "data/store")
    }

    @Test("A list of paths is read as its paths are")
    func pathLists() throws {
        let folder = try TemporaryFolder()
        try Data("fetch: {authorities: [ca.pem, /etc/ca.pem]}".utf8).write(to: folder.url.appending(path: "m.yaml"))
        let found = try Settings.loaded(file: folder.file("m.yaml"), environment: [:], assignments: [])
        #expect(found.settings.fetch.authorities == [folder.file("ca.pem"), "/etc/ca.pem"])
        #expect(try settings(set: ["fetch.authorities=ca.pem,b.pem"]).fetch.authorities == ["ca.pem", "b.pem"])
    }

    @Test("A file of authorities that holds none is refused with its path and what to do")
    func authorities() throws {
        let folder = try TemporaryFolder()
        let certificate = try Data(contentsOf: URL(filePath: "/etc/ssl/certs/ISRG_Root_X1.pem"))
        let damaged = String(decoding: certificate, as: UTF8.self).replacing("MII", with: "MIJ")
        for (name, bytes) in [
            ("good.pem", certificate), ("empty.pem", Data()), ("text.pem", Data("no certificate".utf8)),
            ("damaged.pem", certificate + Data(damaged.utf8)),
            ("key.pem", Data("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8)),
        ] { try bytes.write(to: folder.url.appending(path: name)) }
        let cases =
            [
                ("good.pem", nil), ("empty.pem", "holds no certificate in PEM"),
                ("text.pem", "holds no certificate in PEM"),
                ("damaged.pem", "holds a PEM block that is damaged"), ("key.pem", "holds no certificate in PEM"),
                ("none.pem", "none.pem: No such file or directory."), ("", ": Is a directory."),
            ] as [(String, String?)]
        for (name, words) in cases {
            var fetch = Settings().fetch
            fetch.authorities = [folder.file("good.pem"), folder.file(name)]
            let found = fetch.problems
            #expect(found.count == (words == nil ? 0 : 1), "\(name)")
            #expect(found.allSatisfy { $0.key == "fetch.authorities" && $0.message.contains(folder.file(name)) })
            #expect(words.map { found.first?.message.contains($0) == true } ?? true, "\(found)")
        }
    }

    @Test(
        "A pattern is no parameter's name, nor is a part of a query",
        arguments: [
            ("utm_*", "'utm_*' is a pattern, and patterns are not supported. List each name in full."),
            ("sig,*", "'*' is a pattern, and patterns are not supported. List each name in full."),
            ("sig=hush", "'sig=…' is no parameter name. Give the name alone, without ?, & and =."),
            ("?sig", "'?sig' is no parameter name. Give the name alone, without ?, & and =."),
            ("a&b", "'a&b' is no parameter name. Give the name alone, without ?, & and =."),
            ("100%", "'100%' has a % without two hexadecimal digits. Write a plain % as %25."),
        ])
    func volatile(text: String, message: String) throws {
        #expect(try problems(set: ["canonical.volatile=" + text]) == ["--set: canonical.volatile: " + message])
        let group =
            "{shop: {hosts: [a.example], volatile: [\(text.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ","))]}}"
        #expect(
            try problems(set: ["canonical.aliases=" + group]) == [
                "--set: canonical.aliases: in the group shop, volatile: " + message
            ])
    }

    @Test(
        "Names of parameters that do exist are taken, in any spelling",
        arguments: ["utm_source", "a[]", "k%C3%A4se", "käse", "$size"])
    func parameterNames(name: String) throws {
        #expect(try settings(set: ["canonical.volatile=[\"\(name)\"]"]).canonical.volatile == [name])
    }

    @Test(
        "Other lists refuse patterns that they do not know, too",
        arguments: [
            "fetch.hosts.allow=img*.example.com", "fetch.hosts.deny=*", "watch.hosts=*.*.example", "fetch.ports=80*",
            "fetch.allow=10.*", "watch.workers=worker-*:9464", "canonical.aliases={a: {hosts: [\"*.example\"]}}",
            "origins.cdn.hosts=[\"img*.example\"]", "render.formats=*", "fetch.nat64=64:*",
        ])
    func patterns(assignment: String) throws {
        #expect(try problems(set: [assignment]).count == 1)
    }

    @Test(
        "Lists and maps may be written in one line, with commas or as YAML",
        arguments: ["127.0.0.0/8,::1/128", "127.0.0.0/8, ::1/128", "[127.0.0.0/8, \"::1/128\"]"])
    func lists(text: String) throws {
        #expect(
            try settings(set: ["fetch.allow=" + text]).fetch.allow.map(\.description) == ["127.0.0.0/8", "::1/128"])
        #expect(
            try settings(environment: ["MEZZOTINT_FETCH_ALLOW": text]).fetch.allow.map(\.description) == [
                "127.0.0.0/8", "::1/128",
            ])
    }

    @Test("A range with bits set outside of it is refused, since it is not what it seems to allow")
    func ranges() throws {
        #expect(try problems(set: ["fetch.allow=10.0.0.1/8"]).count == 1)
        #expect(try problems(set: ["fetch.allow=10.0.0.0/33"]).count == 1)
        #expect(try problems(set: ["fetch.allow="]).isEmpty)
    }

    @Test("Options of a client pass by their own names, and what is secret is never shown")
    func options() throws {
        let text = "{linger.ms: 5, ssl.key.password: hush}"
        let found = try settings(set: ["kafka.options=" + text, "kafka.security.password=hush"])
        #expect(found.kafka.options == ["linger.ms": "5", "ssl.key.password": "hush"])
        #expect(try settings(file: "kafka:\n  options: " + text).kafka.options == found.kafka.options)
        let shown = Settings.keys.map { $0.text(found) }
        #expect(shown.contains("{linger.ms: 5, ssl.key.password: (not shown)}"))
        #expect(!shown.joined().contains("hush"))
        #expect(try problems(set: ["kafka.options={a: [b]}"]).count == 1)
    }

    @Test("A collector's URL is shown without what may let its holder in, and may not have a user")
    func collector() throws {
        let key = try #require(Settings.key("traces.endpoint"))
        for query in ["?key=hush", "?x=1&key=hush", "#hush"] {
            let found = try settings(set: ["traces.endpoint=http://c.example:4318/v1/traces" + query])
            #expect(found.traces.endpoint.hasSuffix(query))
            let shown = "http://c.example:4318/v1/traces\(query.first!)…"
            #expect(key.text(found) == shown && found.traces.shownEndpoint == shown)
        }
        for url in ["http://me:hush@c.example/v1", "https://hush@c.example", "http://me:hush/x@c/", "me:hush@c"] {
            let found = try problems(set: ["traces.endpoint=" + url])
            #expect(found.count == 1 && found[0].contains("names a user before the host"), "\(found)")
            #expect(!found.joined().contains("hush"))
        }
        #expect(try settings(set: ["traces.endpoint=http://c.example/v1?at=a@b"]).traces.endpoint.hasSuffix("a@b"))
    }

    @Test(
        "A collector that no span could reach is refused, with the form that is wanted, and is not quoted",
        arguments: [
            "ftp://c.example", "c.example:4318", "http://", "http:///v1/traces", "https://c.example:hush/",
            "http://a b/",
            "http://c.example/v1 traces", "http://c.example:99999/", "http://::1/v1",
        ])
    func noCollector(url: String) throws {
        #expect(
            try problems(set: ["traces.endpoint=" + url]) == [
                "--set: traces.endpoint: expected a URL that begins with http:// or https:// and names a host, such as http://127.0.0.1:4318/v1/traces, or nothing. The value may be secret and is not shown."
            ])
    }

    @Test(
        "A collector is named by host or address, with a port or without",
        arguments: [
            "HTTP://c.example", "https://c.example/v1", "http://[::1]:4318/", "http://[::1]/", "http://c.example?x=1",
        ])
    func collectors(url: String) throws {
        #expect(try settings(set: ["traces.endpoint=" + url]).traces.endpoint == url)
    }

    @Test("Alias groups come whole")
    func aliases() throws {
        let group = try HostAliasGroup(
            id: "shop", hosts: ["a.example", "b.example"], mergesSchemes: true, volatileParameters: ["sig"])
        let text = "{shop: {hosts: [a.example, b.example], mergeSchemes: true, volatile: [sig]}}"
        #expect(try settings(set: ["canonical.aliases=" + text]).canonical.aliases == [group])
        #expect(try settings(file: "canonical:\n  aliases: " + text).canonicalRules.aliasGroups == [group])
    }

    @Test(
        "What is wrong with an alias group is said",
        arguments: [
            ("{shop: {host: [a.example]}}", "the group shop has no use for host: [a.example]."),
            ("{shop: {mergeSchemes: true}}", "the group 'shop' lists no hosts."),
            (
                "{shop: {mergeSchemes: maybe, hosts: [a.example]}}",
                "the group shop has no use for mergeSchemes: 'maybe'."
            ),
            (
                "{a: {hosts: [a.example]}, b: {hosts: [A.example]}}",
                "a.example is in the alias groups a and b. Put it in one."
            ),
        ])
    func wrongAliases(text: String, message: String) throws {
        #expect(try problems(set: ["canonical.aliases=" + text]) == ["--set: canonical.aliases: " + message])
        #expect(try problems(set: ["canonical.aliases={a: {hosts: [a.example/x]}}"]).count == 1)
    }

    @Test(
        "Sizes and durations take a unit",
        arguments: [
            ("fetch.byteLimit=1KiB", "1KiB"), ("fetch.byteLimit=2048B", "2KiB"), ("fetch.byteLimit=3 MiB", "3MiB"),
            ("retry.base=1500ms", "1500ms"), ("retry.base=60s", "1m"), ("store.maxAge=168h", "7d"),
            ("worker.drain=0", "0ms"),
        ])
    func units(assignment: String, text: String) throws {
        let key = try #require(Settings.keys.first { assignment.hasPrefix($0.name + "=") })
        #expect(key.text(try settings(set: [assignment])) == text)
    }

    @Test(
        "A place to listen is an address and a port, from a file and from a flag",
        arguments: ["127.0.0.1:9464", "[::1]:0", ""])
    func listen(text: String) throws {
        let key = try #require(Settings.keys.first { $0.name == "metrics.listen" })
        #expect(key.text(try settings(set: ["metrics.listen=" + text])) == text)
        #expect(key.text(try settings(file: "metrics:\n  listen: \"\(text)\"")) == text)
    }

    @Test(
        "What is no address and port is refused with what it must be",
        arguments: [
            "9464", ":9464", "localhost:9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9464",
            "[127.0.0.1]:9464", "127.1:80",
        ])
    func noListen(text: String) throws {
        #expect(
            try problems(set: ["metrics.listen=" + text]) == [
                "--set: metrics.listen: expected an IP address (not a host name) and a port, such as 127.0.0.1:9464 or [::1]:9464, or nothing, got '\(text)'."
            ])
    }

    @Test(
        "Zero leaves the number of processes and slow flights to the machine",
        arguments: [(1, 1, 1), (2, 2, 1), (8, 8, 4)])
    func derived(cores: Int, processes: Int, slow: Int) {
        #expect(Settings().renderProcesses(cores: cores) == processes)
        #expect(Settings().slowConcurrency(cores: cores) == slow)
    }
}

@Suite("Settings: the table of keys", .timeLimit(.minutes(1)))
struct SettingsKeyTests {
    @Test("Every default is accepted by its own key, and comes back as it was")
    func defaults() throws {
        for key in Settings.keys {
            let found = try settings(set: ["\(key.name)=\(key.text(Settings()))"])
            #expect(found == Settings(), "\(key.name)")
        }
    }

    @Test("Every example that a key shows is accepted by that key")
    func examples() throws {
        var shown = 0
        for key in Settings.keys + Settings.groupKeys("cdn") {
            guard let list = key.expectation.components(separatedBy: "such as ").dropFirst().first else { continue }
            let plain = list.replacing(", or nothing", with: "").replacing(", or 0", with: "")
            let examples =
                plain.hasPrefix("{") ? [plain] : plain.replacing(" or ", with: ", ").components(separatedBy: ", ")
            let group = key.name.hasPrefix("origins.cdn.") ? ["origins.cdn.hosts=a.example"] : []
            for example in examples {
                let found = try problems(set: group + ["\(key.name)=\(example)"])
                // Two settings may be at odds, such as a floor above its ceiling; each value is in its range.
                #expect(!found.contains { $0.contains(": expected ") }, "\(found)")
                shown += 1
            }
        }
        #expect(shown > 80)
    }

    @Test(
        "Environment names follow from the keys",
        arguments: [("fetch.allow", "MEZZOTINT_FETCH_ALLOW"), ("lanes.slow.maxWait", "MEZZOTINT_LANES_SLOW_MAX_WAIT")])
    func environment(name: String, variable: String) {
        #expect(Settings.keys.first { $0.name == name }?.environmentName == variable)
    }

    @Test("Names and environment names are unique, and every meaning is a sentence")
    func unique() {
        #expect(Set(Settings.keys.map(\.name)).count == Settings.keys.count)
        #expect(Set(Settings.keys.map(\.environmentName)).count == Settings.keys.count)
        #expect(Settings.keys.allSatisfy { $0.meaning.hasSuffix(".") && !$0.meaning.contains("|") })
    }

    @Test(
        "Each file of config/ shows every key of its log with its default, and reads without a problem",
        arguments: [("embedded", ["data"], "kafka."), ("kafka", ["data", "kafka.bootstrap"], "log.")])
    func shipped(name: String, said: [String], other: String) throws {
        let file = SettingsProblemTests.embedded.deletingLastPathComponent().appending(path: name + ".yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(
            try Settings.loaded(file: file.path, environment: [:], assignments: []).origins.keys.sorted() == said)
        // The prose ends at the first blank line; after it everything behind a # is a key.
        let keys = text.split(separator: "\n\n", maxSplits: 1)[1]
            .split(separator: "\n").map { $0.hasPrefix("# ") ? $0.dropFirst(2) : $0 }.joined(separator: "\n")
        var reader = SettingsReader()
        reader.read(file: file.lastPathComponent, Array(keys.utf8))
        reader.finish()
        #expect(reader.problems == [])
        #expect(reader.origins.keys.sorted() == Settings.keys.map(\.name).filter { !$0.hasPrefix(other) }.sorted())
        var expected = Settings()
        expected.data = "./../data"
        if said.contains("kafka.bootstrap") { expected.kafka.bootstrap = "127.0.0.1:9092" }
        #expect(reader.settings == expected)
    }
}
