import Canonical
import Clocks
import Failures
import ImageModel
import Records
import TestSupport
import Testing

@Suite("Replays of dead letters: which, in what batches, and as what records", .timeLimit(.minutes(1)))
struct DeadLetterReplayTests {
    private static let groups = [try! OriginGroup(name: "cdn", hosts: ["*.cdn.example"])]

    private static func deadLetter(
        _ code: String = "fetch.server-error", url: String? = "https://img.example/a.jpg", at: WallTime = 100,
        id: String = "a", body: String = #"{"url":"http://img.example/a.jpg","variants":["8x8.png"]}"#,
        topic: Topic = .jobsFast, headers: RecordHeaders = []
    ) -> DeadLetter {
        DeadLetter(
            of: Fixture.record(topic, value: Array(body.utf8), headers: headers), id: id,
            cause: FailureNote(code: code, message: "m", verdict: .deadLetter), attempts: 1,
            url: url.map { SourceURL($0) }, at: at)
    }

    @Test(
        "A host passes with or without its scheme and port, and by its group",
        arguments: [
            (host: "img.example", url: "https://img.example/a.jpg", passes: true),
            ("IMG.example", "https://img.example/a.jpg", true), ("img.example", "http://img.example:8080/", true),
            ("https://img.example", "https://img.example/a.jpg", true),
            ("https://img.example", "http://img.example/a.jpg", false),
            ("img.example:8080", "http://img.example:8080/", true), ("img.example:8080", "http://img.example/", false),
            ("example", "https://img.example/", false), ("cdn", "https://a.cdn.example/", true),
            ("a.cdn.example", "https://a.cdn.example/", true), ("b.cdn.example", "https://a.cdn.example/", false),
            ("[::1]", "http://[::1]:8080/", true), ("img.example", nil, false),
        ])
    func hosts(host: String, url: String?, passes: Bool) {
        var filter = DeadLetterFilter()
        filter.host = host
        #expect(filter.passes(Self.deadLetter(url: url), groups: Self.groups) == passes)
    }

    @Test(
        "Code and time are all asked; the end of the time is outside",
        arguments: [
            (code: nil, since: nil, until: nil, passes: true), ("fetch.server-error", nil, nil, true),
            ("fetch.server", nil, nil, false), (nil, 100, nil, true), (nil, 101, nil, false), (nil, nil, 101, true),
            (nil, nil, 100, false), ("fetch.server-error", 99, 101, true), ("job.empty", 99, 101, false),
        ] as [(code: String?, since: WallTime?, until: WallTime?, passes: Bool)])
    func times(code: String?, since: WallTime?, until: WallTime?, passes: Bool) {
        var filter = DeadLetterFilter()
        (filter.code, filter.since, filter.until) = (code, since, until)
        #expect(filter.passes(Self.deadLetter(), groups: []) == passes)
    }

    @Test("Reasons are counted by code, the most frequent first, with their span of time and their hosts")
    func reasons() {
        let deadLetters = [
            Self.deadLetter("b", at: 5), Self.deadLetter("a", at: 9), Self.deadLetter("a", url: "https://x.cdn.example/", at: 7),
            Self.deadLetter("a", url: "https://y.cdn.example/", at: 8), Self.deadLetter("c", url: nil, at: 1),
        ]
        let reasons = DeadLetterReasons(of: deadLetters, groups: Self.groups).all
        #expect(reasons.map(\.code) == ["a", "b", "c"] && reasons.map(\.deadLetters) == [3, 1, 1])
        #expect(reasons[0].oldest == 7 && reasons[0].newest == 9)
        #expect(reasons.map(\.hosts) == [2, 1, 0] && reasons.map(\.host) == ["cdn", "https://img.example", nil])
        #expect(DeadLetterReasons(of: [], groups: []).all.isEmpty)
    }

    @Test(
        "Batches grow tenfold, and the last is what is left",
        arguments: [
            (deadLetters: 1, batches: [1]), (2, [1, 1]), (11, [1, 10]), (112, [1, 10, 100, 1]),
            (5_000, [1, 10, 100, 1_000, 3_889]),
        ])
    func batches(deadLetters: Int, batches: [Int]) {
        var (ramp, left, sizes): (ReplayRamp, Int, [Int]) = (ReplayRamp(), deadLetters, [])
        while left > 0 {
            sizes.append(ramp.next(of: left))
            left -= sizes[sizes.count - 1]
        }
        #expect(sizes == batches)
    }

    @Test(
        "A fifth of a batch that fails stops the replay",
        arguments: [
            (failed: 0, of: 1, stops: false), (1, 1, true), (1, 10, false), (2, 10, true), (19, 100, false),
            (20, 100, true), (0, 0, false),
        ])
    func stops(failed: Int, of count: Int, stops: Bool) {
        #expect(ReplayRamp.stops(failed: failed, of: count) == stops)
    }

    @Test("A replay keeps bytes, id, lane, trace, signature and first record, and counts on", arguments: [0, 1, 7])
    func record(replays: Int) throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let keys = try #require(JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k"))
        let body = #"{ "url":"http://img.example/a.jpg","variants":["8x8.png"], "lane":"fast"}"#
        let signature = keys.signature(lane: .slow, id: "a", body: Array(body.utf8))
        var headers: RecordHeaders = [RecordHeader("traceparent", trace), RecordHeader("mz_signature", signature)]
        if replays > 0 { headers.append(RecordHeader("mz_replays", "\(replays)")) }
        let deadLetter = try DeadLetter(
            Fixture.read(
                Self.deadLetter(body: body, topic: .jobsSlow, headers: headers).newRecord(partition: Fixture.partition)))
        let intake = Intake(rules: CanonicalRules())
        let new = try deadLetter.replay(by: intake, signedBy: keys, partitions: 8, at: 500)
        let record = Fixture.read(new, offset: 99)
        #expect(new.topic == .jobsSlow && new.value == Array(body.utf8) && record.header("ce_id") == "a")
        #expect(record.traceparent == trace && record.replays == replays + 1)
        #expect(record.jobOrigin == deadLetter.origin && deadLetter.origin.offset == 17)
        let source = try CanonicalRules().source(of: "http://img.example/a.jpg").key
        #expect(new.key == RecordKey.job(source).bytes && new.partition == source.partition(of: 8))
        let again = DeadLetter(of: record, id: "a", cause: deadLetter.cause, attempts: 1, url: nil, at: 600)
        #expect(again.replays == replays + 1 && again.origin == deadLetter.origin && again.signature == deadLetter.signature)
        let parked = Fixture.record(.parked, value: nil, headers: ParkedRow.kept(of: record))
        #expect(parked.replays == replays + 1)
    }

    @Test("What a worker would refuse is not replayed: no job, an own id of the workers, a missing or wrong signature")
    func refused() throws {
        let intake = Intake(rules: CanonicalRules())
        let keys = try #require(JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k"))
        func code(_ deadLetter: DeadLetter, _ keys: JobKeys? = nil) -> String? {
            do throws(JobFailure) {
                _ = try deadLetter.replay(by: intake, signedBy: keys, partitions: 8, at: 1)
                return nil
            } catch { return error.code }
        }
        #expect(code(Self.deadLetter()) == nil)
        #expect(code(Self.deadLetter(body: "{}")) == "job.missing-field")
        #expect(code(Self.deadLetter(id: "mezzotint.owed/1")) == "job.reserved-id")
        #expect(code(Self.deadLetter(), keys) == "job.unsigned")
        let other = keys.signature(lane: .fast, id: "b", body: Self.deadLetter().body)
        #expect(code(Self.deadLetter(headers: [RecordHeader("mz_signature", other)]), keys) == "job.forged")
        let long = RecordHeader("mz_signature", String(repeating: "x", count: 257))
        #expect(Self.deadLetter(headers: [long]).signature == nil)
    }

    @Test(
        "Any publisher may write the replay count: what is no such number counts as none",
        arguments: ["", "-1", "x", "1000001", "1.5"])
    func badCount(text: String) {
        #expect(Fixture.record(.jobsFast, value: nil, headers: [RecordHeader("mz_replays", text)]).replays == 0)
    }

    @Test(
        "A tombstone discards the letter of its record, and those of the record's earlier replays",
        arguments: [(replays: 0, left: [1, 2, 0]), (1, [2, 0]), (2, [0])])
    func discards(replays: Int, left: [Int]) {
        func deadLetter(_ replays: Int, topic: Topic = .jobsFast) -> DeadLetter {
            Self.deadLetter(topic: topic, headers: replays > 0 ? [RecordHeader("mz_replays", "\(replays)")] : [])
        }
        let deadLetters = [deadLetter(0), deadLetter(1), deadLetter(2), deadLetter(0, topic: .jobsSlow)]
        let discard = deadLetters[replays].discard(partition: Fixture.partition, at: 1)
        let records = (deadLetters.map { $0.newRecord(partition: Fixture.partition) } + [discard]).enumerated().map {
            Fixture.read($1, offset: Int64($0))
        }
        #expect(DeadLetter.standing(records).deadLetters.map(\.replays) == left)
        // The embedded log asks headers.
        let name = DeadLetter.Name(discardedBy: discard.headers)
        #expect(records.dropLast().filter { name?.covers($0.headers) == false }.map(\.replays) == left)
    }
}
