import Canonical
import Clocks
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@Suite("mezzotint promote, demote, cancel and control list", .timeLimit(.minutes(2)))
struct ControlCommandTests {
    private static let url = "http://a.example/b.jpg?sig=secret"
    private static let source = try! CanonicalRules().source(of: url).key
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: [String], input: String = "") throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data"] + words, input: Data(input.utf8), in: folder.url)
    }
    private func run(_ words: String...) throws -> Ended { try run(words) }

    /// The objects that a command prints, a line each.
    private func objects(_ words: String...) throws -> [NSDictionary] {
        let ended = try run(words + ["--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        return try Self.objects(ended)
    }

    private static func objects(_ ended: Ended) throws -> [NSDictionary] {
        try ended.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary, "\(line)")
        }
    }

    private func listed(_ words: String...) throws -> [NSDictionary] {
        let ended = try run(["control", "list", "--json"] + words)
        #expect(ended.status == 0, "\(ended.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [NSDictionary])
    }

    private func publish(_ jobs: [(id: String, url: String, lane: Lane)]) throws {
        let lines = jobs.map { id, url, lane in
            #"{"url":"\#(url)","variants":["20x20.png"],"id":"\#(id)","lane":"\#(lane)"}"#
        }
        #expect(try run(["publish", "-"], input: lines.joined(separator: "\n")).status == 0)
    }

    private func using<Result>(_ body: (any Log) async throws -> Result) async throws -> Result {
        let log = try EmbeddedLog(folder.file("data/log"))
        let result = try await body(log)
        await log.close()
        return result
    }

    private func append(_ records: [NewRecord], to log: any Log) async {
        for result in await log.append(records) { #expect(result.offset != nil) }
    }

    private func controls(keys: JobKeys? = nil) async throws -> [(record: Record, control: Control)] {
        try await using { log in
            var all: [(Record, Control)] = []
            for partition in log.partitions {
                for record in try await log.read(.control, partition, from: 0, limit: 100) {
                    all.append((record, try Control(record, rules: CanonicalRules(), keys: keys)))
                }
            }
            return all
        }
    }

    /// Parks a job of a lane as its owner would, while its record is not finished yet.
    private func park(_ id: String, _ cause: FailureNote) async throws {
        try await using { log in
            let partition = Self.source.partition(of: log.partitionCount)
            let record = try #require(
                try await log.read(.jobsFast, partition, from: 0, limit: 100).first { $0.header("ce_id") == id })
            let note = RetryNote(
                job: id, lane: .fast, attempt: 2, notBefore: 4_000_000_000_000, firstSeen: record.timestamp, cause: cause,
                origin: RecordOrigin(record))
            let row = ParkedRow(
                Self.source, JobIdentity(of: record), note, host: OriginHost(of: Self.url), worksAs: .fast,
                body: record.value ?? [])
            let opening = EpochRow(partition: partition, epoch: 1, owner: "w", isClean: false, at: 5)
            await append(
                [
                    opening.newRecord(topic: .parked).announced(in: 1),
                    row.newRecord(partition: partition, at: 5).announced(in: 1),
                ], to: log)
        }
    }

    /// Progress of the partition's owner, which has read `read` fast jobs and finished those at these offsets.
    private func progress(read: Int, finished: [Int64]) async throws {
        try await using { log in
            let partition = Self.source.partition(of: log.partitionCount)
            let records = try await log.read(.jobsFast, partition, from: 0, limit: read)
            let fingerprints = records.map { RecordFingerprint(offset: $0.offset, timestamp: $0.timestamp) }
            let row = ProgressRow(
                partition: partition,
                topics: [
                    .jobsFast: TopicProgress(
                        next: records[0].offset, finished: finished.map { records[0].offset + $0 }, fingerprint: fingerprints[0],
                        last: fingerprints.last)
                ], answers: [.outcomes: 0], at: 6)
            await append([row.newRecord().announced(in: 1)], to: log)
        }
    }

    private static let failed = FailureNote(code: "fetch.server-error", message: "The origin answered 503.", verdict: .retry)

    @Test("Jobs are counted by place, each once, and --dry-run writes nothing")
    func counts() async throws {
        let ids = ["done", "ended", "read", "parked", "running", "new", "newer"]
        try publish(ids.map { ($0, Self.url, .fast) } + [("other", "http://b.example/", .slow)])
        try await park("parked", Self.failed)
        try await park("running", FailureNote(code: "retry.slow", message: "It runs.", verdict: .retry))
        try await progress(read: 5, finished: [0])
        // Finished after the row was written.
        try await using { log in
            let partition = Self.source.partition(of: log.partitionCount)
            let record = try await log.read(.jobsFast, partition, from: 0, limit: 2)[1]
            var outcome = Outcome(
                job: "ended", source: Self.source, url: SourceURL(Self.url), lane: .fast, kind: .stored, variants: [], at: 6
            ).newRecord(partition: partition)
            outcome.headers.append(completed: record)
            await append([outcome], to: log)
        }
        let url = try #require(try objects("demote", Self.url, "--dry-run").first)
        #expect(Set(url.allKeys as? [String] ?? []) == ["control", "kind", "named", "running", "parked", "unread", "exact", "written"])
        #expect(url["kind"] as? String == "demote" && url["named"] as? NSDictionary == ["url": "http://a.example/b.jpg?…"])
        func figures(_ object: NSDictionary) -> [Int?] { ["running", "parked", "unread"].map { object[$0] as? Int } }
        #expect(figures(url) == [2, 1, 2] && url["exact"] as? Bool == true && url["written"] as? Bool == false)
        let quick = try #require(try objects("demote", Self.url, "--dry-run", "--no-scan").first)
        #expect(figures(quick) == [2, 1, 0] && quick["exact"] as? Bool == false)
        let jobs = try objects("cancel", "--job", "read", "--job", "gone", "--job", "other", "--job", "read", "--dry-run")
        #expect(jobs.map { $0["named"] as? NSDictionary } == [["job": "read"], ["job": "gone"], ["job": "other"]])
        #expect(jobs.map(figures) == [[1, 0, 0], [0, 0, 0], [0, 0, 1]])
        #expect(figures(try objects("cancel", "--host", "A.example", "--lane", "slow", "--dry-run")[0]) == [0, 0, 0])
        #expect(figures(try objects("cancel", "--lane", "slow", "--dry-run")[0]) == [0, 0, 1])
        #expect(figures(try objects("cancel", "--before", "1h", "--dry-run")[0]) == [0, 0, 0])
        #expect(figures(try objects("cancel", "--host", "http://a.example", "--dry-run")[0]) == [2, 1, 2])
        let shown = try run("cancel", Self.url, "--dry-run")
        #expect(shown.output == "cancel source http://a.example/b.jpg?…: 5 jobs (2 running, 1 parked, 2 unread).\n")
        #expect(
            try run("cancel", "--job", "gone", "--dry-run").output == "cancel job gone: no job 'gone' waits or runs.\n")
        #expect(
            try run("cancel", Self.url, "--dry-run", "--no-scan").output.contains(": at least 3 jobs (2 running, 1 parked, 0 unread)"))
        #expect(try await controls().isEmpty && listed().isEmpty)
    }

    @Test("A control goes to every partition with one id and that partition's ends; one with a URL to its source's alone")
    func written() async throws {
        try publish([("mine", Self.url, .fast), ("mine", Self.url, .slow)])
        let ended = try run("cancel", "--job", "mine", "--why", "scrolled away")
        let lines = ended.lines
        #expect(ended.status == 0 && lines.count == 2 && lines.last == "'mezzotint control list' shows the results.")
        #expect(lines[0].hasSuffix(" cancel job mine: 2 jobs (0 running, 0 parked, 2 unread)."))
        let id = String(lines[0].prefix { $0 != " " })
        let written = try await controls()
        let home = try await using { Self.source.partition(of: $0.partitionCount) }
        #expect(written.count == 8 && Set(written.map(\.record.partition)).count == 8)
        for (record, control) in written {
            #expect(control.id == id && control.verb == .cancel && control.scope == .job("mine"))
            #expect(control.why == "scrolled away" && control.by?.contains("@") == true && control.at != nil)
            let end: Int64? = record.partition == home ? 1 : nil
            let ends = [control.ends[.jobsFast], control.ends[.jobsSlow]]
            #expect(record.key.isEmpty && (end == nil || ends.allSatisfy { $0 ?? 0 > 0 }) && ends.allSatisfy { $0 != nil })
        }
        let promoted = try #require(try objects("promote", Self.url, "--by", "me").first)
        // Two sources that look alike without their secrets.
        #expect(try objects("promote", Self.url, Self.url, Self.url + "2", "--dry-run").count == 2)
        let own = try await controls().filter { $0.control.id == promoted["control"] as? String }
        #expect(own.count == 1 && own[0].record.partition == home && own[0].record.key == RecordKey.job(Self.source).bytes)
        #expect(own[0].control.verb == .promote && own[0].control.by == "me" && promoted["written"] as? Bool == true)
        let unknown = try run("cancel", "--job", "gone")
        #expect(
            unknown.status == 0
                && unknown.output.contains("A control without jobs is written, too"), "\(unknown.output)")
        #expect(try await controls().count == 17)
    }

    @Test("Where jobs.keys is set, controls are signed")
    func signed() async throws {
        try publish([("mine", Self.url, .fast)])
        try Data("0123456789abcdef\n".utf8).write(to: folder.url.appending(path: "k.key"))
        #expect(try run("--set", "jobs.keys={k: {file: k.key}}", "cancel", "--job", "mine").status == 0)
        let keys = JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k")
        #expect(try await controls(keys: keys).count == 8)
    }

    @Test("To cancel more than 100 jobs by a filter, their number must be typed")
    func confirmation() async throws {
        try publish((0..<101).map { ("job-\($0)", "http://a.example/\($0)", .slow) })
        for (words, sentence) in [
            ([], "To cancel 101 jobs, add --yes 101."), (["--yes", "100"], "--yes has 100, and there are 101 jobs."),
            (["--yes", "1000"], "--yes has 1000, and there are 101 jobs."), (["--yes", "many"], "expected a whole number"),
            (["--no-scan"], "To cancel at least 0 jobs, add --yes 0."),
        ] {
            let ended = try run(["cancel", "--host", "a.example"] + words)
            #expect(ended.status == 2 && ended.errors.contains(sentence), "\(ended.errors)")
            #expect(words.first != nil || ended.output.contains(": 101 jobs (0 running, 0 parked, 101 unread)."))
        }
        #expect(try await controls().isEmpty)
        // It needs none for a lane change, for jobs that were listed, for a look, and for few jobs.
        #expect(try run("promote", "--host", "a.example").status == 0)
        #expect(try run("cancel", "--lane", "slow", "--dry-run").status == 0)
        #expect(try run("cancel", "--lane", "fast").status == 0)
        #expect(try run("cancel", "--host", "a.example", "--yes", "101").status == 0)
        #expect(try run("cancel", "--host", "a.example", "--yes", "110").status == 0)
        #expect(try run("cancel", "--host", "a.example", "--no-scan", "--yes", "0").status == 0)
    }

    @Test(
        "Wrong usage is one sentence, and status 2",
        arguments: [
            (["cancel"], "Name the jobs either by URLs, by --job, or by any of --host, --lane and --before together."),
            (["cancel", "--job", "a", "http://a.example/"], "Name the jobs either"),
            (["promote", "--job", "a", "--lane", "slow"], "Name the jobs either"),
            (["cancel", "--job", ""], "--job: expected an id of 1 to 256 bytes"),
            (["cancel", "--host", "a.example:80"], "--host: expected a host, such as img.example or https://img.example:8443"),
            (["cancel", "--host", "a b"], "--host: expected a host"), (["cancel", "--host", "http://"], "--host: expected a host"),
            (["cancel", "--lane", "medium"], "expected fast or slow, got 'medium'"),
            (["cancel", "--before", "soon"], "--before: expected a time such as 2026-11-28T12:00:00Z, or a duration before now such as 2h, got 'soon'."),
            (["cancel", "--job", "a", "--why", String(repeating: "x", count: 257)], "--why: expected a text of 1 to 256 bytes"),
            (["cancel", "--job", "a", "--why", "a\nb"], "--why: expected a text of 1 to 256 bytes without control bytes"),
            (["promote", "--job", "a", "--yes", "1"], "There is no option '--yes'."),
            (["control"], "needs a command: list"),
        ])
    func usage(words: [String], sentence: String) throws {
        let ended = try run(words)
        #expect(ended.status == 2 && ended.output.isEmpty && ended.errors.contains(sentence), "\(ended.errors)")
        #expect(ended.errors.split(separator: "\n").count == 1)
    }

    @Test("A URL that no job can have is refused, and a wrong log is named")
    func refused() throws {
        let url = try run("cancel", "ftp://a.example/")
        #expect(url.status == 1 && url.errors.contains("ftp"), "\(url.errors)")
        let log = try run("cancel", "--job", "a")
        #expect(log.status == 1 && log.errors.contains("There is no log at"), "\(log.errors)")
    }

    @Test("control list shows each control once, with what it names, who asked, and its state over all partitions")
    func list() async throws {
        try publish([("mine", Self.url, .fast)])
        #expect(try run("control", "list").output == "The log holds no controls.\n")
        for (words, id) in [
            (["cancel", "--job", "mine", "--why", "gone"], "applied"), (["demote", "--lane", "fast"], "unknown"),
            (["promote", Self.url], "waiting"),
        ] {
            #expect(try run(words + ["--by", id]).status == 0)
        }
        let written = try await controls()
        try await using { log in
            for (record, control) in written where control.by != "waiting" {
                let jobs = control.by == "applied" ? Int(record.partition.number) : 0
                for jobs in [jobs, 0] {
                    var outcome = ControlOutcome(of: control, jobs: jobs, at: 9).newRecord(partition: record.partition, key: [])
                    outcome.headers.append(completed: record)
                    await append([outcome], to: log)
                }
            }
            // A stranger's control has the id of another one.
            let forged = NewRecord(
                topic: .control, partition: PartitionID(0), key: [], value: Array(#"{"kind":"cancel","lane":"slow"}"#.utf8),
                headers: RecordHeaders([RecordHeader("ce_id", written[0].control.id)]))
            await append([forged], to: log)
            let record = try #require(try await log.read(.control, PartitionID(0), from: 0, limit: 100).last)
            var refusal = ControlOutcome(
                control: record.placeText, verb: nil, kind: .refused, failure: FailureNote(ControlFailure.unsigned),
                at: record.timestamp
            ).newRecord(partition: PartitionID(0), key: [])
            refusal.headers.append(completed: record)
            await append([refusal], to: log)
        }
        let all = Dictionary(uniqueKeysWithValues: try listed().map { ($0["by"] as? String ?? "refused", $0) })
        #expect(all.count == 4)
        let applied = try #require(all["applied"])
        #expect(
            Set(applied.allKeys as? [String] ?? []) == [
                "control", "kind", "named", "by", "why", "at", "state", "partitions", "waiting", "jobs", "until", "code",
                "message",
            ])
        #expect(applied["kind"] as? String == "cancel" && applied["named"] as? NSDictionary == ["job": "mine"])
        #expect(applied["why"] as? String == "gone" && applied["state"] as? String == "applied")
        #expect(applied["jobs"] as? Int == 28 && applied["partitions"] as? Int == 8 && applied["waiting"] as? Int == 0)
        #expect(all["unknown"]?["state"] as? String == "unknown" && all["unknown"]?["jobs"] as? Int == 0)
        let waiting = try #require(all["waiting"])
        #expect(waiting["state"] as? String == "waiting" && waiting["waiting"] as? Int == 1 && waiting["partitions"] as? Int == 1)
        #expect(waiting["named"] as? NSDictionary == ["url": "http://a.example/b.jpg?…"])
        let refused = try #require(all["refused"])
        #expect(refused["state"] as? String == "refused" && refused["code"] as? String == "control.unsigned")
        let shown = try run("control", "list")
        #expect(shown.output.contains("applied to 28 jobs") && shown.output.contains("no such job waited or ran"))
        #expect(shown.output.contains("waits in 1 of 1 partitions") && shown.output.contains("refused: control.unsigned: "))
        #expect(!shown.output.contains("secret"))
        #expect(try listed("--since", "2100-01-01T00:00:00Z").isEmpty && listed("--since", "1h").count == 4)
    }
}
