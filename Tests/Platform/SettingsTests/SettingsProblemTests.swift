import Canonical
import Foundation
import KafkaSetup
import Posix
import SettingTypes
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
                "m.yaml:5: byteLimit: this key appears twice, first on line 4; keep one.",
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
                "--set: lanes.fast: there is no such setting. Did you mean 'retry.retryFor.fast'?",
            ])
    }

    @Test(
        "A file without settings is refused with the line",
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
                "m.yaml:3: fetch.allow: this key appears twice, first on line 2; keep one."
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
                "fetch.timeouts.total=3s", "log.partitions=1",
                "fetch.timeouts.connect: is longer than fetch.timeouts.total; lower it or raise that."
            ),
            (
                "log.byteLimit=1MiB", "log.reserve=0B",
                "log.byteLimit: 1MiB leaves no room for jobs: log.reserve takes 0B, and the empty tables of 8 partitions take 1MiB. Raise it above 1MiB."
            ),
            (
                "worker.standstill=1s", "log.partitions=1",
                "worker.standstill: 1s is below the minimum of 90s, three times fetch.timeouts.total. Raise it, or lower fetch.timeouts.total."
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
        #expect(try settings(set: ["fetch.timeouts.total=10m"]).standstill == .seconds(1800))
        #expect(try settings(set: ["worker.standstill=90s"]).standstill == .seconds(90))
        #expect(try problems(set: ["origins.freshness.ceiling=1d"]).isEmpty)
        #expect(try problems(set: ["store.maxAge=3650d", "origins.freshness.ceiling=3650d"]).isEmpty)
    }

    @Test(
        "A number without a unit, or with an unknown one, is refused by that, with an example that is accepted",
        arguments: [
            (
                "fetch.timeouts.dns=2",
                "duration from 1ms to 10m, such as 250ms, 10s or 5m, got '2', which has no unit."
            ),
            ("fetch.timeouts.dns=2h", "duration from 1ms to 10m, such as 250ms, 10s or 5m, got '2h'."),
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
            ("fetch.timeouts.foo", "fetch.timeouts has dns, connect, firstByte, total."),
            ("fetch.timeouts.fristByte", "Did you mean 'fetch.timeouts.firstByte'?"),
            ("kafka.foo", "'mezzotint config keys' lists them."), ("foo", "'mezzotint config keys' lists them."),
        ])
    func unknown(name: String, hint: String) throws {
        #expect(try problems(set: [name + "=1"]) == ["--set: \(name): there is no such setting. \(hint)"])
    }

    @Test("The error for an old name of a setting states the new one")
    func renamed() throws {
        let file = "fetch: {slowest: 1KiB, deadlines: {whole: 5s}}\nretry.giveUp.slow: 1h"
        let found = try problems(
            file: file, environment: ["MEZZOTINT_RENDER_BELOW_SOURCE": "true"], set: ["fetch.deadlines.whole=5s"])
        #expect(
            found == [
                "m.yaml:1: fetch.slowest: this setting is called 'fetch.minRate' since 0.2.0.",
                "m.yaml:1: fetch.deadlines: this setting is called 'fetch.timeouts' since 0.2.0.",
                "m.yaml:2: retry.giveUp.slow: this setting is called 'retry.retryFor.slow' since 0.2.0.",
                "MEZZOTINT_RENDER_BELOW_SOURCE: this setting is called 'MEZZOTINT_RENDER_CAP_AT_SOURCE_SIZE' since 0.2.0.",
                "--set: fetch.deadlines.whole: this setting is called 'fetch.timeouts.total' since 0.2.0.",
            ])
        let names = Settings.keys.map(\.name)
        #expect(Settings.renamed.allSatisfy { names.contains($1) && !names.contains($0) })
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

    static let embedded = Project.file("config/embedded.yaml")
}
