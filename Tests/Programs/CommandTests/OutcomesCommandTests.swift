import Canonical
import Clocks
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

@Suite("mezzotint outcomes", .timeLimit(.minutes(1)))
struct OutcomesCommandTests {
    private static let url = "http://a.example/b.jpg?sig=secret"
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data"] + words, in: folder.url)
    }

    private func object(_ words: String...) throws -> NSDictionary {
        let ended = try Built.run("mezzotint", ["--set", "data=data", "outcomes", "--json"] + words, in: folder.url)
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? NSDictionary)
    }

    private func publish(_ id: String) throws {
        let job = #"{"url":"\#(Self.url)","variants":["20x20.png"],"id":"\#(id)"}"#
        let ended = try Built.run(
            "mezzotint", ["--set", "data=data", "publish"], input: Data(job.utf8), in: folder.url)
        #expect(ended.output == "\(id)\nAccepted 1, rejected 0.\n")
    }

    /// Ends a job as a worker would, which leaves its record unfinished.
    private func end(_ id: String, _ kind: OutcomeKind, at: WallTime, more: (PartitionID) -> [NewRecord] = { _ in [] })
        async throws
    {
        let source = try CanonicalRules().source(of: Self.url).key
        let failure = FailureNote(
            code: "fetch.not-found", message: "The origin answered 404 for \(SourceURL(Self.url)).", verdict: .fail)
        let outcome = Outcome(
            job: id, source: source, url: SourceURL(Self.url), lane: .fast, kind: kind,
            variants: [
                VariantOutcome(
                    spec: try CanonicalRules().spec(of: "20x20.png"), kind: .failed, row: nil, failure: failure)
            ], failure: failure, at: at)
        let log = try EmbeddedLog(folder.file("data/log"))
        let partition = source.partition(of: log.partitionCount)
        let jobs = try await log.read(.jobsFast, partition, from: 0, limit: 100)
        var new = outcome.newRecord(partition: partition)
        if let record = jobs.first(where: { $0.header("ce_id") == id }) { new.headers.append(completed: record) }
        for result in await log.append([new] + more(partition)) { #expect(result.offset != nil) }
        await log.close()
    }

    @Test("A failed job's outcome is shown by its id and by its URL, without what its URL hides, and the status is 0")
    func failed() async throws {
        try publish("mine")
        try await end("mine", .failed, at: 1_700_000_000_000)
        let expected: NSDictionary = [
            "state": "ended", "pending": [], "outcomesSince": NSNull(),
            "outcomes": [
                [
                    "job": "mine", "kind": "failed", "code": "fetch.not-found",
                    "message": "The origin answered 404 for http://a.example/b.jpg?….",
                    "url": "http://a.example/b.jpg?…",
                    "source": try CanonicalRules().source(of: Self.url).key.hex, "lane": "fast", "attempts": 1,
                    "at": "2023-11-14T22:13:20.000Z", "throttledBy": NSNull(), "omitted": 0, "deadLetter": false,
                    "replayedAs": NSNull(), "replays": 0,
                    "variants": [
                        [
                            "spec": "20x20.png", "kind": "failed", "width": NSNull(), "height": NSNull(),
                            "bytes": NSNull(), "derivedFrom": NSNull(), "location": NSNull(), "code": "fetch.not-found",
                            "message": "The origin answered 404 for http://a.example/b.jpg?….",
                        ]
                    ],
                ]
            ],
        ]
        #expect(try object("--job", "mine") == expected)
        #expect(try object("--url", Self.url) == expected)
        let shown = try run("outcomes", "--job", "mine")
        #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
        #expect(shown.output.contains("outcome   failed\n") && shown.output.contains("code      fetch.not-found\n"))
        #expect(!shown.output.contains("secret"))
        let variants = try run("variants", Self.url)
        #expect(variants.status == 0 && variants.output == "Nothing is stored for http://a.example/b.jpg?….\n")
        #expect(
            variants.errors
                == "Job mine ended as failed (fetch.not-found). See 'mezzotint outcomes --url' with this URL.\n")
    }

    @Test("A pending job is called that, with status 1 and where it waits")
    func pending() async throws {
        try publish("mine")
        try publish("other")
        for words in [["--job", "mine"], ["--url", Self.url]] {
            let ended = try Built.run("mezzotint", ["--set", "data=data", "outcomes"] + words, in: folder.url)
            #expect(ended.status == 1)
            #expect(ended.errors.contains(" is pending in jobs.fast: no outcome yet."), "\(ended.errors)")
            #expect(ended.output.contains("mine") && ended.output.contains("jobs.fast"))
        }
        let found = try object("--job", "mine")
        #expect(found["state"] as? String == "pending" && (found["outcomes"] as? [Any])?.isEmpty == true)
        let jobs = try #require(found["pending"] as? [NSDictionary])
        #expect(
            jobs.count == 1
                && Set(jobs[0].allKeys as? [String] ?? []) == [
                    "job", "topic", "place", "lane", "since", "attempts", "until", "code", "message",
                ])
        #expect(jobs[0]["place"] as? String == "lane" && jobs[0]["attempts"] as? Int == 0 && jobs[0]["until"] is NSNull)
        #expect(
            try run("variants", Self.url).errors
                == "Job other and 1 more are pending. See 'mezzotint outcomes --url' with this URL.\n")
        try await end("mine", .stored, at: 5)
        #expect(
            (try object("--url", Self.url)["pending"] as? [NSDictionary])?.map { $0["job"] as? String } == ["other"])
    }

    @Test("A parked job shows its lane, its attempts, why it waits and until when, in place of its record")
    func parked() async throws {
        try publish("mine")
        let source = try CanonicalRules().source(of: Self.url).key
        let due: WallTime = 4_000_000_000_000
        let log = try EmbeddedLog(folder.file("data/log"))
        let partition = source.partition(of: log.partitionCount)
        let record = try #require(try await log.read(.jobsFast, partition, from: 0, limit: 1).first)
        func park(_ code: String, _ message: String) async {
            let note = RetryNote(
                job: "mine", lane: .fast, attempt: 2, notBefore: due, firstSeen: record.timestamp,
                cause: FailureNote(code: code, message: message, verdict: .retry), origin: RecordOrigin(record))
            let row = ParkedRow(
                source, JobIdentity(of: record), note, host: OriginHost(of: Self.url), worksAs: .slow,
                body: record.value ?? [])
            for result in await log.append([row.newRecord(partition: partition, at: 5).announced(in: 1)]) {
                #expect(result.offset != nil)
            }
        }
        await park("fetch.server-error", "The origin answered 503.")
        for words in [["--job", "mine"], ["--url", Self.url]] {
            let jobs = try #require(try object(words[0], words[1])["pending"] as? [NSDictionary])
            #expect(
                jobs == [
                    [
                        "job": "mine", "topic": "parked", "place": "parked", "lane": "fast",
                        "since": Timestamp.text(record.timestamp), "attempts": 2, "until": Timestamp.text(due),
                        "code": "fetch.server-error", "message": "The origin answered 503.",
                    ]
                ])
        }
        let shown = try run("outcomes", "--job", "mine")
        #expect(shown.errors.contains("pending in parked: no outcome yet, its last attempt failed (fetch.server-error)."))
        #expect(shown.output.contains(Timestamp.text(due)))
        await park("retry.slow", "It runs.")
        let jobs = try #require(try object("--job", "mine")["pending"] as? [NSDictionary])
        #expect(jobs.map { $0["place"] as? String } == ["running"])
        await log.close()
    }

    @Test("Records that cannot be read are named by topic: those that a transaction hides, and those that nobody reads")
    func unseen() {
        let unseen = UnseenRecords(
            hidden: [.jobsFast: 7, .jobsSlow: 1, .retry1m: 0],
            added: [
                GrownTopic(.jobsSlow, partitions: 9, used: 6, unread: 28),
                GrownTopic(.jobsFast, partitions: 9, used: 6, unread: 0),
                GrownTopic(.variants, partitions: 9, used: 6, unread: nil),
            ])
        let (hidden, added) = (
            "An open transaction hides 7 records of jobs.fast, 1 record of jobs.slow.",
            "Nobody reads the partitions that were added to jobs.slow (28 records)."
        )
        #expect(unseen.text == "\(hidden) \(added)" && !unseen.isEmpty)
        #expect(UnseenRecords(hidden: [.jobsFast: 0], added: []).isEmpty)
    }

    @Test("An unknown job is called that, with status 1; one whose outcome may be gone, with the time before which")
    func unknown() async throws {
        try publish("mine")
        let unknown = try run("outcomes", "--job", "nobody")
        #expect(unknown.status == 1 && unknown.output.isEmpty)
        #expect(unknown.errors.hasPrefix("There is no job 'nobody' in this log: it was never published here."))
        let found = try object("--job", "nobody")
        #expect(found["state"] as? String == "unknown" && found["outcomesSince"] is NSNull)
        let other = try run("outcomes", "--url", "http://a.example/other.jpg")
        #expect(other.status == 1 && other.errors.hasPrefix("There is no job for this URL in this log"))
        #expect(try run("outcomes", "--url", "ftp://a.example/").status == 1)
        // As retention leaves a partition: its first outcomes are gone.
        let log = try EmbeddedLog(folder.file("data/log"), EmbeddedLogConfiguration(partitions: 8, outcomesKept: 8))
        let consumer = EmbeddedLogConsumer(log)
        try await consumer.start(RecordingListener())
        for number in 0..<3 {
            let outcome = Outcome(
                job: "old-\(number)", source: nil, url: "", lane: .fast, kind: .expired, variants: [], at: 1)
            let new = outcome.newRecord(partition: PartitionID(0), key: [1])
            for result in await log.append([new]) { #expect(result.offset != nil) }
        }
        await consumer.stop()
        let kept = try await log.bounds(.outcomes, PartitionID(0))
        #expect(kept.lowerBound > 0)
        let oldest = try await log.read(.outcomes, PartitionID(0), from: kept.lowerBound, limit: 1)[0].timestamp
        await log.close()
        let gone = try run("outcomes", "--job", "old-0")
        #expect(
            gone.status == 1 && gone.errors.contains("or it ended before \(Timestamp.text(oldest)),"), "\(gone.errors)")
        #expect(try object("--job", "old-0")["outcomesSince"] as? String == Timestamp.text(oldest))
        #expect(try run("outcomes", "--job", "old-2").status == 0)
    }

    @Test("A dead job names its letter; a job with many outcomes lists them, newest last")
    func dead() async throws {
        try publish("mine")
        try await end("mine", .dead, at: 1) { partition in
            let record = Record(
                topic: .jobsFast, partition: partition, offset: 0, timestamp: 0, key: Array("k".utf8), value: [1],
                headers: [])
            let cause = FailureNote(code: "fetch.server-error", message: "The origin answered 503.", verdict: .retry)
            return [
                DeadLetter(of: record, id: "mine", cause: cause, attempts: 5, url: nil, at: 1).newRecord(
                    partition: partition)
            ]
        }
        let ends = try #require(try object("--job", "mine")["outcomes"] as? [NSDictionary])
        #expect(ends.map { $0["deadLetter"] as? Bool } == [true] && ends.map { $0["attempts"] as? Int } == [5])
        #expect(try run("outcomes", "--job", "mine").output.contains("dead letter  mezzotint dead show mine\n"))
        try await end("mine", .stored, at: 2)
        try await end("other", .failed, at: 3)
        let both = try #require(try object("--url", Self.url)["outcomes"] as? [NSDictionary])
        #expect(both.map { $0["kind"] as? String } == ["dead", "stored", "failed"])
        let lines = try run("outcomes", "--url", Self.url).lines
        #expect(lines.first?.hasPrefix("AGE") == true && lines.count { $0.contains("fetch.not-found") } == 3)
    }
}
