import Canonical
import Clocks
import EmbeddedLog
import Foundation
import ImageModel
import JSONText
import Ports
import Posix
import Records
import TestSupport
import Testing

@Suite("mezzotint pause and resume", .timeLimit(.minutes(2)))
struct PauseCommandTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) throws -> Ended { try run(words) }
    private func run(_ words: [String]) throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data"] + words, input: Data(), in: folder.url)
    }

    private func using<Result>(_ body: (any Log) async throws -> Result) async throws -> Result {
        let log = try EmbeddedLog(folder.file("data/log"))
        let result = try await body(log)
        await log.close()
        return result
    }

    /// Makes the log.
    private func begin() async throws { _ = try await using { log in await log.append([]) } }

    private func controls(keys: JobKeys? = nil) async throws -> [Control] {
        try await using { log in
            var all: [Control] = []
            for partition in log.partitions {
                for record in try await log.read(.control, partition, from: 0, limit: 100) {
                    all.append(try Control(record, rules: CanonicalRules(), keys: keys))
                }
            }
            return all
        }
    }

    @Test(
        "A pause goes to every partition with one id and its end, 30 min by default",
        arguments: [
            (["--lane", "slow"], Pause.Scope.lane(.slow), Duration.minutes(30)),
            (["--all", "--for", "24h"], .all, .hours(24)),
            (["--host", "A.example", "--for", "5m"], .host("a.example"), .minutes(5)),
            (["--host", "https://a.example:8443"], .host("https://a.example:8443"), .minutes(30)),
        ])
    func pause(words: [String], scope: Pause.Scope, time: Duration) async throws {
        try await begin()
        let before = SystemTime.wall
        let ended = try run(["pause"] + words + ["--by", "ana", "--why", "a new disk", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? NSDictionary)
        #expect(Set(object.allKeys as? [String] ?? []) == ["control", "kind", "named", "until", "active"])
        let written = try await controls()
        #expect(written.count == 8 && Set(written.map(\.id)) == [object["control"] as? String ?? ""])
        for control in written {
            #expect(
                control.verb == .pause && control.pauseScope == scope && control.by == "ana"
                    && control.why == "a new disk")
            let lasts = try #require(control.until) - before
            #expect(lasts >= time && lasts < time + .minutes(1) && control.ends.isEmpty)
        }
    }

    @Test("active pauses are named by resume, lag and control list")
    func standing() async throws {
        try await begin()
        #expect(try run("resume", "--all").output.contains("No such pause is known. The control is written, too"))
        let until = SystemTime.wall + .hours(1)
        try await using { log in
            for partition in log.partitions {
                let pauses = [
                    Pause("c-1", .lane(.slow), since: 1, until: until, by: "ana"),
                    Pause("c-2", .all, since: 1, until: 5),
                ]
                let row = ProgressRow(partition: partition, topics: [:], pauses: pauses, at: 6)
                for result in await log.append([row.newRecord().announced(in: 1)]) { #expect(result.offset != nil) }
            }
        }
        let resumed = try run("resume", "--lane", "slow")
        #expect(
            resumed.output.contains("Ends the pause of the slow lane until \(Timestamp.text(until)) by ana."),
            "\(resumed.output)")
        #expect(try run("resume", "--lane", "fast").output.contains("No such pause is active."))
        #expect(try run("pause", "--lane", "slow").output.contains("Replaces the pause of the slow lane until "))
        #expect(
            try run("lag").output.contains(
                "The control c-1 pauses the slow lane until \(Timestamp.text(until)). 'mezzotint resume' ends the pause."
            ))
    }

    @Test("Where jobs.keys is set, pauses are signed")
    func signed() async throws {
        try await begin()
        try Data("0123456789abcdef\n".utf8).write(to: folder.url.appending(path: "k.key"))
        #expect(try run("--set", "jobs.keys={k: {file: k.key}}", "pause", "--all").status == 0)
        let keys = JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k")
        #expect(try await controls(keys: keys).count == 8)
    }

    @Test(
        "Wrong usage is one sentence, and status 2",
        arguments: [
            (["pause"], "Give exactly one of --lane, --host and --all."),
            (["resume"], "Give exactly one of --lane, --host and --all."),
            (["pause", "--all", "--lane", "slow"], "Give exactly one"),
            (["pause", "--host", "a.example", "--lane", "slow"], "Give exactly one"),
            (["pause", "--lane", "medium"], "expected fast or slow, got 'medium'"),
            (["pause", "--host", "a b"], "--host: expected a host"),
            (["pause", "--all", "--for", "25h"], "--for: "), (["pause", "--all", "--for", "0s"], "--for: "),
            (["resume", "--all", "--for", "1h"], "There is no option '--for'."),
        ])
    func usage(words: [String], sentence: String) throws {
        let ended = try run(words)
        #expect(ended.status == 2 && ended.output.isEmpty && ended.errors.contains(sentence), "\(ended.errors)")
        #expect(ended.errors.split(separator: "\n").count == 1)
    }
}
