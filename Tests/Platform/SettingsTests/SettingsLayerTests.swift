import Access
import Canonical
import Foundation
import KafkaSetup
import Origin
import Posix
import RendererPool
import SettingTypes
import Store
import TestSupport
import Testing

@testable import Settings

@Suite("Settings: layers and values", .timeLimit(.minutes(1)))
struct SettingsLayerTests {
    @Test("Flags win over the environment, the environment over the file, the file over the default")
    func precedence() throws {
        let file = "fetch: {concurrency: 2, redirects: 2, byteLimit: 2MiB}"
        let found = try settings(
            file: file, environment: ["MEZZOTINT_FETCH_CONCURRENCY": "3", "MEZZOTINT_FETCH_REDIRECTS": "3"],
            set: ["fetch.concurrency=4", "fetch.concurrency=5"])
        #expect(found.fetch.concurrency == 5)
        #expect(found.fetch.origin.redirects == 3)
        #expect(found.fetch.origin.byteLimit == 2 << 20)
        #expect(found.fetch.origin.budget == 256 << 20)
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
        #expect(found.settings.store.files.directory == "/s")
        #expect(found.settings.render.program == "bin/r")
    }

    @Test("A list of paths is read as its paths are")
    func pathLists() throws {
        let folder = try TemporaryFolder()
        try Data("fetch: {authorities: [ca.pem, /etc/ca.pem]}".utf8).write(to: folder.url.appending(path: "m.yaml"))
        let found = try Settings.loaded(file: folder.file("m.yaml"), environment: [:], assignments: [])
        #expect(found.settings.fetch.origin.authorities == [folder.file("ca.pem"), "/etc/ca.pem"])
        #expect(try settings(set: ["fetch.authorities=ca.pem,b.pem"]).fetch.origin.authorities == ["ca.pem", "b.pem"])
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
                ("none.pem", "none.pem: No such file or directory. Correct the path, or create the file."),
                ("good.pem/a", "good.pem/a: Not a directory. Correct the path, or create the file."),
                ("", ": Is a directory. Name a file in it."),
            ] as [(String, String?)]
        for (name, words) in cases {
            var fetch = Settings().fetch
            fetch.origin.authorities = [folder.file("good.pem"), folder.file(name)]
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
            ("sig=hush", "'sig=…' is not a parameter name. Give the name alone, without ?, & and =."),
            ("?sig", "'?sig' is not a parameter name. Give the name alone, without ?, & and =."),
            ("a?b", "'a?b' is not a parameter name. Give the name alone, without ?, & and =."),
            ("/x/", "'/x/' is a pattern, and patterns are not supported. List each name in full."),
            ("a&b", "'a&b' is not a parameter name. Give the name alone, without ?, & and =."),
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
        arguments: ["utm_source", "a[]", "k%C3%A4se", "käse", "$size", "/x", "/"])
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
            try settings(set: ["fetch.allow=" + text]).fetch.origin.access.addresses.allow.map(\.description) == [
                "127.0.0.0/8", "::1/128",
            ])
        #expect(
            try settings(environment: ["MEZZOTINT_FETCH_ALLOW": text]).fetch.origin.access.addresses.allow.map(
                \.description) == [
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
        "An invalid address or port is refused with the expected form",
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
