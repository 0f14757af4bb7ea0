import Canonical
import Clocks
import Digest
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import JSONText
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("mezzotint variants, lag and dead: the log from outside, while no worker runs", .timeLimit(.minutes(1)))
struct LogCommandTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data"] + words, in: folder.url)
    }

    private func array(_ words: String...) throws -> [NSDictionary] {
        let ended = try Built.run("mezzotint", ["--set", "data=data"] + words + ["--json"], in: folder.url)
        #expect(ended.status == 0, "\(ended.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [NSDictionary])
    }

    private func append(_ records: (EmbeddedLog) throws -> [NewRecord]) async throws {
        let log = try EmbeddedLog(folder.file("data/log"))
        for result in await log.append(try records(log)) { #expect(result.offset != nil) }
        await log.close()
    }

    @Test(
        "Each says where it looked if there is no log",
        arguments: [
            ["lag"], ["variants", "http://a.example/"], ["dead", "list"], ["origins"], ["outcomes", "--job", "a"],
            ["origins", "block", "a.example"],
        ])
    func nothing(words: [String]) throws {
        let ended = try Built.run("mezzotint", words, in: folder.url)
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("mezzotint: There is no log at data/log. "))
        #expect(!FileManager.default.fileExists(atPath: folder.file("data")))
    }

    @Test("A restore names a folder of indexes that does not exist and makes no log, and names one without indexes")
    func noIndex() throws {
        let missing = try run("topics", "restore", "--index", "none")
        #expect(missing.status == 1 && missing.errors.hasPrefix("mezzotint: The folder none does not exist. "))
        #expect(!FileManager.default.fileExists(atPath: folder.file("data")))
        let empty = try run("topics", "restore")
        #expect(empty.status == 0)
        #expect(empty.errors == "No index file was found below data/index. Name another folder after --index.\n")
    }

    @Test("An invalid host is refused before a log is looked for", arguments: ["::", "http://", "a b", ""])
    func noHost(text: String) throws {
        for action in ["block", "unblock"] {
            let ended = try Built.run("mezzotint", ["origins", action, text], in: folder.url)
            #expect(ended.status == 2 && ended.errors.contains("'\(text)' is not a host"), "\(ended.errors)")
        }
    }

    @Test(
        "A host that was not blocked is named with status 1 and gets no row; of a name's servers those blocked are listed"
    )
    func unblock() async throws {
        _ = try Built.run(
            "mezzotint", ["publish", "--variants", "10x10.jpg", "http://a.example/1.jpg"], in: folder.url)
        let unknown = try run("origins", "unblock", "nohost.exampel")
        #expect(unknown.status == 1 && unknown.output.isEmpty)
        #expect(unknown.errors == "nohost.exampel was not blocked. 'mezzotint origins' lists hosts.\n")
        #expect(try array("origins").isEmpty)
        #expect(try run("origins", "block", "https://a.example").status == 0)
        let ended = try run("origins", "unblock", "a.example")
        #expect(ended.status == 0 && ended.output == "https://a.example is asked again.\n")
        // A worker whose clock differs may have blocked it all the same.
        #expect(try run("origins", "unblock", "a.example").status == 0)
    }

    @Test("A log that is there and cannot be opened is not called missing", arguments: [["lag"], ["dead", "list"]])
    func unopened(words: [String]) throws {
        try Data().write(to: folder.url.appending(path: "data"))
        let ended = try Built.run("mezzotint", words, in: folder.url)
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("mezzotint: The log at data/log cannot be opened: Not a directory. Set data to"))
    }

    @Test("variants lists what is stored for a source, however its URL is spelled, and nothing of others")
    func variants() async throws {
        let rules = CanonicalRules()
        let url = "http://a.example/b.jpg"
        let source = try rules.source(of: url).key
        let donor = try rules.spec(of: "1280x1280-q90.jpg")
        func row(_ source: SourceKey, _ spec: VariantSpec, _ size: PixelSize, _ derivedFrom: Provenance) -> VariantRow {
            VariantRow(
                source: source, spec: spec, version: SourceVersion(word: 7), size: size, bytes: 4321,
                digest: SHA256.digest(of: [1]), location: "ab/\(spec)", derivedFrom: derivedFrom,
                sourceSize: PixelSize(width: 3000, height: 2000),
                region: Region(whole: PixelSize(width: 3000, height: 2000)), hasAlpha: false,
                storedAt: 1_700_000_000_000, expires: 4_000_000_000_000)
        }
        try await append { log in
            var small = row(
                source, try rules.spec(of: "640x640-q80.webp"), PixelSize(width: 640, height: 427), .donor(donor))
            (small.frames, small.quality, small.placeholder, small.colour) = (12, 71, [1, 2, 250], RGB(9, 128, 255))
            small.facts = SourceFacts(format: .gif, frames: 12, hasAlpha: true, orientation: 6, isTruncated: true)
            let gone = row(source, try rules.spec(of: "10x10.png"), PixelSize(width: 10, height: 7), .origin)
            let other = try rules.source(of: "http://a.example/c.jpg").key
            let partition = source.partition(of: log.partitionCount)
            return [
                small.newRecord(partition: partition), gone.newRecord(partition: partition),
                row(source, donor, PixelSize(width: 1280, height: 853), .origin).newRecord(partition: partition),
                row(other, donor, PixelSize(width: 1, height: 1), .origin)
                    .newRecord(partition: other.partition(of: log.partitionCount)),
                VariantRow.drop(gone.spec, of: source, partition: partition),
            ]
        }
        for spelling in [url, "HTTP://A.example:80/x/../b.jpg#f", "http://a.example/b.jpg?imageView&thumbnail=80x80"] {
            let found = try array("variants", spelling)
            #expect(found.map { $0["spec"] as? String } == ["1280x1280-q90.jpg", "640x640-q80.webp"])
            #expect(
                found.last == [
                    "spec": "640x640-q80.webp", "width": 640, "height": 427, "bytes": 4321, "format": "webp",
                    "derivedFrom": "1280x1280-q90.jpg", "storedAt": "2023-11-14T22:13:20.000Z",
                    "expires": "2096-10-02T07:06:40.000Z", "version": "0000000000000007",
                    "location": "ab/640x640-q80.webp", "frames": 12, "quality": 71, "placeholder": "AQL6",
                    "colour": "#0980ff",
                    "source": [
                        "format": "gif", "width": 3000, "height": 2000, "frames": 12, "alpha": true, "orientation": 6,
                        "truncated": true,
                    ] as NSDictionary,
                ])
            #expect(found.first?["derivedFrom"] as? String == "origin")
        }
        #expect(try array("variants", "http://a.example/none.jpg").isEmpty)
        let lines = try run("variants", url).lines
        #expect(
            lines.first
                == "The source: 3000×2000, gif, 12 frames, transparent, stored in orientation 6, its file ends early.")
        #expect(lines.last?.contains("#0980ff") == true)
        #expect(lines[1] == "The store: data/store")
        let text = lines.dropFirst(2).map { $0.split(separator: " ").prefix(4) }
        #expect(
            text == [
                ["SPEC", "SIZE", "BYTES", "MADE"], ["1280x1280-q90.jpg", "1280×853", "4321", "origin"],
                ["640x640-q80.webp", "640×427", "4321", "1280x1280-q90.jpg"],
            ])
    }

    @Test("variants tells of the source what its newest row does, whatever the sizes are")
    func newest() async throws {
        let rules = CanonicalRules()
        let source = try rules.source(of: "http://a.example/b.jpg").key
        func row(_ spec: String, _ side: Int, _ facts: SourceFacts?, storedAt: WallTime) throws -> VariantRow {
            VariantRow(
                source: source, spec: try rules.spec(of: spec), version: SourceVersion(word: UInt64(storedAt.milliseconds)),
                size: PixelSize(width: side, height: side), bytes: 1, digest: SHA256.digest(of: [1]), location: spec,
                derivedFrom: .origin, sourceSize: PixelSize(width: 10 * side, height: 10 * side),
                region: Region(whole: PixelSize(width: 10 * side, height: 10 * side)), hasAlpha: false,
                storedAt: storedAt, expires: 4_000_000_000_000, facts: facts)
        }
        try await append { log in
            let partition = source.partition(of: log.partitionCount)
            return try [
                row("300x300.webp", 300, SourceFacts(format: .gif), storedAt: 1),
                row("200x200.webp", 200, SourceFacts(format: .avif, frames: 1001, orientation: 6), storedAt: 3),
                row("100x100.webp", 100, SourceFacts(format: .jpeg), storedAt: 2),
                row("50x50.webp", 50, nil, storedAt: 4),
            ].map { $0.newRecord(partition: partition) }
        }
        #expect(
            try run("variants", "http://a.example/b.jpg").lines.first
                == "The source: 2000×2000, avif, more than 1000 frames, stored in orientation 6.")
    }

    @Test("lag counts what is above the committed offset, by topic and partition, with the age of the oldest")
    func lag() async throws {
        _ = try Built.run(
            "mezzotint", ["publish", "--set", "data=data", "--variants", "10x10.jpg", "--lane", "slow", "-"],
            input: Data((0..<50).map { "http://a.example/\($0).jpg\n" }.joined().utf8), in: folder.url)
        let lags = try array("lag")
        #expect(lags.count == Topic.consumed.count * 8)
        let slow = lags.filter { $0["topic"] as? String == "jobs.slow" }
        #expect(slow.reduce(0) { $0 + ($1["records"] as? Int ?? 0) } == 50)
        for lag in lags {
            let records = try #require(lag["records"] as? Int)
            let seconds = try #require(lag["seconds"] as? Double)
            #expect(records > 0 ? seconds > 0 && seconds < 60 : seconds == 0)
            #expect(lag["owner"] is NSNull && lag["throttledBy"] is NSNull && (lag["hosts"] as? [Any])?.isEmpty == true)
        }
        #expect(try run("lag").output.contains("jobs.slow  all"))
    }

    @Test("The age of a job in an old retry topic counts from its first record, as lagwatch's does")
    func lagOfRetried() async throws {
        let now = SystemTimeSource().wall
        let note = RetryNote(
            job: "a", lane: .fast, attempt: 3, notBefore: now, firstSeen: now - .hours(1),
            cause: FailureNote(code: "fetch.status", message: "No.", verdict: .retry),
            origin: RecordOrigin(topic: .jobsFast, partition: PartitionID(2), offset: 0))
        try await append { _ in
            [note.newRecord(topic: .retry1m, key: [], body: [], partition: PartitionID(2), at: now)]
        }
        let waiting = try array("lag").filter { $0["records"] as? Int == 1 }
        #expect(waiting.map { $0["topic"] as? String } == ["retry.1m"])
        let seconds = try #require(waiting.first?["seconds"] as? Double)
        #expect(seconds >= 3_600 && seconds < 3_660)
    }

    @Test("Parked jobs are lag, as their owner counts them, with the age of the oldest")
    func lagOfParked() async throws {
        let now = SystemTimeSource().wall
        let lanes = ByLane { lane in
            lane == .fast ? ProgressRow.Parked.Jobs(3, oldest: now - .hours(1)) : ProgressRow.Parked.Jobs(4, oldest: now - .hours(2))
        }
        let progress = ProgressRow(
            partition: PartitionID(2), topics: [:], away: [.init("https://a.example", ByLane([.fast: 3, .slow: 4]))],
            parked: .init(epoch: 1, lanes: lanes), at: now)
        try await append { _ in [progress.newRecord()] }
        let lags = try array("lag").filter { $0["topic"] as? String == "parked" }
        #expect(lags.map { $0["records"] as? Int } == [7])
        let seconds = try #require(lags.first?["seconds"] as? Double)
        #expect(seconds >= 7_200 && seconds < 7_260)
        #expect(try run("lag").output.contains(#/parked +all +7 /#))
    }

    @Test("Jobs that were parked since their owner last counted are lag, too")
    func lagOfUncounted() async throws {
        let (now, partition) = (SystemTimeSource().wall, PartitionID(2))
        func row(_ number: Int64) -> ParkedRow {
            let first = CompletedRecord(
                Record(
                    topic: .jobsSlow, partition: partition, offset: number, timestamp: 1, key: [], value: [], headers: []))
            let note = RetryNote(
                job: "job-\(number)", lane: .slow, attempt: 1, notBefore: now, firstSeen: now - .hours(3),
                cause: FailureNote(code: "fetch.status", message: "No.", verdict: .retry),
                origin: RecordOrigin(topic: .jobsSlow, partition: partition, offset: number))
            return ParkedRow(
                SourceKey(SHA256.digest(of: [])), .record(first), note, host: OriginHost(group: "https://a.example"),
                worksAs: .slow, body: [])
        }
        let lanes = ByLane { _ in ProgressRow.Parked.Jobs.none }
        let progress = ProgressRow(
            partition: partition, topics: [:], answers: [.outcomes: 0, .parked: 0, .dead: 0],
            parked: .init(epoch: 1, lanes: lanes), at: now)
        let rows = (1...3).map { row($0) }
        try await append { _ in
            [progress.newRecord()] + rows.map { $0.newRecord(partition: partition, at: now).announced(in: 1) }
                + [ParkedRow.drop(rows[0].source, rows[0].identity, partition: partition).announced(in: 1)]
        }
        let lags = try array("lag").filter { $0["topic"] as? String == "parked" }
        #expect(lags.map { $0["records"] as? Int } == [2])
        #expect(try #require(lags.first?["seconds"] as? Double) >= 10_800)
    }

    @Test("Records that are finished behind an unfinished one do not wait")
    func lagOfFinished() async throws {
        let partition = PartitionID(3)
        let jobs = (0..<5).map { number in
            NewRecord(topic: .jobsFast, partition: partition, key: [], value: Array("\(number)".utf8))
        }
        let progress = ProgressRow(
            partition: partition,
            topics: [.jobsFast: TopicProgress(next: 1, finished: [2, 4], fingerprint: RecordFingerprint(offset: 4, timestamp: 1))],
            at: 1)
        try await append { _ in jobs + [progress.newRecord()] }
        let lags = try array("lag").filter { $0["topic"] as? String == "jobs.fast" }
        #expect(lags.map { $0["records"] as? Int } == [0, 0, 0, 2, 0, 0, 0, 0])
    }

    @Test("dead letters are listed, shown with their bytes, and discarded")
    func dead() async throws {
        let body = Array("{\"url\":\"http://a.example/b.jpg\"}".utf8)
        try await append { log in
            (0..<3).map { i in
                let record = Record(
                    topic: .jobsFast, partition: PartitionID(2), offset: Int64(i), timestamp: 0,
                    key: i == 2 ? [UInt8](repeating: 0x61, count: 5_000) : Array("k\(i)".utf8),
                    value: body, headers: [])
                let failure = JobFailure.noVariants(url: "http://a.example/b.jpg")
                let deadLetter = DeadLetter(
                    of: record, id: "job-\(i)", cause: FailureNote(failure), attempts: i,
                    url: i == 0 ? nil : "http://a.example/b.jpg", at: 1_700_000_000_000)
                return deadLetter.newRecord(partition: PartitionID(Int32(i)))
            }
        }
        let deadLetters = try array("dead", "list")
        #expect(deadLetters.map { $0["id"] as? String } == ["job-0", "job-1", "job-2"])
        #expect(deadLetters[0]["url"] is NSNull && deadLetters[1]["url"] as? String == "http://a.example/b.jpg")
        #expect(deadLetters[2]["attempts"] as? Int == 2 && deadLetters[2]["code"] as? String == "job.no-variants")
        #expect((deadLetters[2]["message"] as? String)?.contains("asks for no variant") == true)

        let shown = try run("dead", "show", "job-1").output
        #expect(shown.contains("jobs.fast-2-1") && shown.hasSuffix("{\"url\":\"http://a.example/b.jpg\"}\n"))

        let cut = try run("dead", "show", "job-2", "--json").output
        #expect(cut.contains("\"keyBytes\":5000,\"keySha256\":\""))
        #expect(try run("dead", "show", "job-2").output.contains("256 of 5000 bytes"))
        #expect(
            try run("dead", "show", "job-1", "--json").output.contains(
                "\"key\":\"k1\",\"keyBytes\":2,\"keySha256\":null"))

        #expect(try run("dead", "list").output.hasSuffix("\n\n3 dead letters: job.no-variants 3.\n"))
        let discarded = try run("dead", "discard", "job-1", "job-9")
        #expect(discarded.status == 1 && discarded.output == "Discarded 1.\n")
        #expect(discarded.errors == "No dead letter has the id 'job-9'. 'mezzotint dead list' lists them.\n")
        #expect(try array("dead", "list").map { $0["id"] as? String } == ["job-0", "job-2"])
        #expect(try run("dead", "show", "job-1").status == 1)
        #expect(try run("dead", "discard", "--all", "--json").output == "{\"discarded\":2}\n")
        #expect(try array("dead", "list").isEmpty)
        #expect(try run("dead", "list").output == "There are no dead letters.\n")
    }

    @Test("Nothing that a producer or an origin wrote drives the terminal, and JSON tells it all the same")
    func foreign() async throws {
        let foreign = "\u{1B}[2J\u{9B}\u{7F}\n\u{202E}\u{2028}\u{2066}x"
        try await append { _ in
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: 0, key: [],
                value: Array("{\(foreign)}".utf8), headers: [])
            let deadLetter = DeadLetter(
                of: record, id: foreign, cause: FailureNote(JobFailure.unknownField(foreign)), attempts: 0,
                url: SourceURL(foreign),
                at: 0)
            return [deadLetter.newRecord(partition: PartitionID(0))]
        }
        func isTame(_ text: String) -> Bool { text == PlainText.of(text, keepingLines: true) }
        let list = try run("dead", "list").output
        #expect(isTame(list) && list.split(separator: "\n").count == 2)
        #expect(list.contains(#"\u001b[2J\u009b\u007f\u000a\u202e\u2028\u2066x"#))
        #expect(isTame(try run("dead", "show", foreign).output))
        #expect(isTame(try run("dead", "list", "--json").output))
        #expect(try array("dead", "list").first?["id"] as? String == foreign)
        let missing = try run("dead", "discard", foreign + "y").errors
        #expect(isTame(missing) && missing.split(separator: "\n").count == 1)
    }

    @Test("A body is shown as its beginning, and no line of it as one of ours; JSON has all of it")
    func body() async throws {
        let forged = "{}\n\nid  another\r\u{1B}[2J\n" + String(repeating: "x", count: 60_000)
        try await append { _ in
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: 0, key: [],
                value: Array(forged.utf8),
                headers: [])
            let deadLetter = DeadLetter(
                of: record, id: "a", cause: FailureNote(JobFailure.empty), attempts: 0, url: nil, at: 0)
            return [deadLetter.newRecord(partition: PartitionID(0))]
        }
        let shown = try run("dead", "show", "a").output
        let quoted = shown.split(separator: "\n").drop { !$0.hasPrefix("|") }
        #expect(shown.utf8.count < 6_000 && quoted.dropLast().allSatisfy { $0.hasPrefix("| ") }, "\(shown.prefix(400))")
        #expect(quoted.contains(#"| id  another\u000d\u001b[2J"#))
        #expect(quoted.last == "\(forged.utf8.count - 4096) bytes more: 'mezzotint dead show --json' has them.")
        #expect(try run("dead", "show", "a", "--json").output.contains(String(repeating: "x", count: 60_000)))
    }
}
