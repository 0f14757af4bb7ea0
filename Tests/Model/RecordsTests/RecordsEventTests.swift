import Canonical
import Digest
import Failures
import Foundation
import ImageModel
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Records: outcomes, retries and dead letters", .timeLimit(.minutes(1)))
struct RecordsEventTests {
    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let failure = FailureNote(
        code: "fetch.status", message: "The origin answered \"404\".", verdict: .fail)

    private var outcome: Outcome {
        var reused = Fixture.variant
        reused.derivedFrom = .donor(VariantSpec(width: 1280, height: 1280, format: .webp))
        let small = VariantSpec(width: 160, height: 160, mode: .crop, format: .jpeg)
        return Outcome(
            job: "job-1", source: Fixture.source, url: "http://origin.example/a.jpg", lane: .fast, kind: .reused,
            variants: [
                VariantOutcome(spec: Fixture.spec, kind: .reused, row: reused),
                VariantOutcome(spec: small, kind: .failed, row: nil, failure: Self.failure),
            ], attempts: 1, at: 1_795_256_916_007, traceparent: Self.trace)
    }

    private func headers(_ record: NewRecord) -> [String: String] {
        Dictionary(uniqueKeysWithValues: record.headers.map { ($0.name, $0.text) })
    }

    @Test("An outcome is a CloudEvent whose id is made from the job's")
    func outcomeHeaders() {
        let record = outcome.newRecord(partition: Fixture.partition)
        #expect(record.topic == .outcomes && record.partition == Fixture.partition)
        #expect(Fixture.text(record.key) == Fixture.source.hex)
        #expect(
            headers(record) == [
                "ce_specversion": "1.0", "ce_id": "job-1/outcome", "ce_source": "/mezzotint",
                "ce_type": "mezzotint.job.finished.v1", "ce_time": "2026-11-21T10:28:36.007Z",
                "content-type": "application/json", "traceparent": Self.trace,
            ])
        #expect(outcome.newRecord(partition: Fixture.partition) == record)
    }

    @Test("An outcome's body lists its variants, and is JSON for others too")
    func outcomeBody() throws {
        let record = outcome.newRecord(partition: Fixture.partition)
        let report = try OutcomeReport(Fixture.read(record))
        #expect(report.job == "job-1" && report.source == Fixture.source && report.lane == .fast)
        #expect(report.kind == .reused && report.attempts == 1 && report.at == outcome.at && report.failure == nil)
        let (reused, failed) = (report.variants[0], report.variants[1])
        #expect(reused.spec == Fixture.spec && reused.kind == .reused && reused.location == Fixture.variant.location)
        #expect(reused.size == Fixture.variant.size && reused.bytes == Fixture.variant.bytes)
        #expect(
            reused.derivedFrom == .donor(VariantSpec(width: 1280, height: 1280, format: .webp)) && reused.failure == nil)
        #expect(failed.kind == .failed && failed.location == nil && failed.size == nil)
        #expect(failed.failure?.code == Self.failure.code && failed.failure?.message == Self.failure.message)
        let theirs = try #require(JSONSerialization.jsonObject(with: Data(record.value!)) as? [String: Any])
        #expect(Set(theirs.keys) == ["job", "source", "url", "lane", "kind", "attempts", "at", "variants"])
    }

    @Test("An outcome of a worker before 0.2.0 is read by its old names")
    func oldNames() throws {
        var throttled = outcome
        throttled.throttledBy = .limit
        var record = throttled.newRecord(partition: Fixture.partition)
        let body = Fixture.text(record.value)
        #expect(body.contains("\"derivedFrom\":") && body.contains("\"throttledBy\":"))
        let old = body.replacing("\"derivedFrom\":", with: "\"madeFrom\":").replacing(
            "\"throttledBy\":", with: "\"heldBy\":")
        record.value = Array(old.utf8)
        let report = try OutcomeReport(Fixture.read(record))
        #expect(report.throttledBy == .limit && report.variants[0].derivedFrom != nil)
    }

    @Test("What a variant looks like and what its source was stand in the outcome")
    func looks() throws {
        var row = Fixture.variant
        (row.placeholder, row.colour) = ([1, 2, 250], RGB(9, 128, 255))
        row.facts = SourceFacts(format: .gif, frames: 12, hasAlpha: true, orientation: 6, isTruncated: true,
            ignoresProfile: true)
        let outcome = Outcome(
            job: "job-1", source: Fixture.source, url: "http://a/", lane: .fast, kind: .stored,
            variants: [VariantOutcome(spec: row.spec, kind: .stored, row: row)], failure: nil, at: 1)
        let record = outcome.newRecord(partition: Fixture.partition)
        let variant = try #require(OutcomeReport(Fixture.read(record)).variants.first)
        #expect(variant.placeholder == row.placeholder && variant.colour == row.colour && variant.facts == row.facts)
        let theirs = try #require(JSONSerialization.jsonObject(with: Data(record.value!)) as? NSDictionary)
        #expect(
            (theirs["variants"] as? [NSDictionary])?.first?["source"] as? NSDictionary == [
                "format": "gif", "width": 6000, "height": 4003, "frames": 12, "alpha": true, "orientation": 6,
                "truncated": true, "profileIgnored": true,
            ])
    }

    @Test("The outcome of what was no job has that record's key and no source")
    func outcomeOfNoJob() throws {
        let outcome = Outcome(
            job: "jobs.fast-3-17", source: nil, url: "", lane: .fast, kind: .dead, variants: [], failure: Self.failure,
            at: 1)
        let record = outcome.newRecord(partition: Fixture.partition, key: Array("odd".utf8))
        #expect(record.key == Array("odd".utf8))
        let report = try OutcomeReport(Fixture.read(record))
        #expect(report.source == nil && report.kind == .dead && report.failure?.code == Self.failure.code)
    }

    @Test("A retry keeps the job's bytes, and says when and why it comes again")
    func retry() throws {
        let body = Array(#"{"url":"http://a/","variants":["full-q80.webp"] }"#.utf8)
        let note = RetryNote(
            job: "job-1", lane: .slow, attempt: 2, notBefore: 5, firstSeen: 4, heldSince: 3, crashes: 2,
            host: OriginHost(of: "https://cdn.example/"),
            cause: FailureNote(code: "fetch.timeout", message: "Too slow: ä.", verdict: .retry),
            origin: RecordOrigin(topic: .jobsSlow, partition: Fixture.partition, offset: 9), traceparent: Self.trace)
        let key = RecordKey.job(Fixture.source).bytes
        let record = note.newRecord(topic: .retry1m, key: key, body: body, partition: Fixture.partition, at: 6)
        #expect(record.topic == .retry1m && record.value == body && record.key == key)
        #expect(headers(record)["ce_id"] == "job-1")
        #expect(try RetryNote(Fixture.read(record)) == note)
    }

    @Test(
        "A retry without what it needs is refused, by the header's name",
        arguments: [
            "ce_id", "mz_attempt", "mz_not_before", "mz_first_seen", "mz_code", "mz_message", "mz_origin", "mz_lane",
        ])
    func retryHeader(name: String) {
        let note = RetryNote(
            job: "j", lane: .fast, attempt: 1, notBefore: 0, firstSeen: 0,
            cause: FailureNote(code: "c", message: "m", verdict: .retry),
            origin: RecordOrigin(topic: .jobsFast, partition: Fixture.partition, offset: 0))
        var record = Fixture.read(
            note.newRecord(topic: .retry10s, key: [], body: [], partition: Fixture.partition, at: 0))
        record.headers = RecordHeaders(record.headers.filter { $0.name != name })
        let failure = #expect(throws: RecordFailure.self) { try RetryNote(record) }
        #expect(failure?.description.contains(name) == true)
        guard name.hasPrefix("mz_"), !["mz_code", "mz_message"].contains(name) else { return }
        record.headers.append(RecordHeader(name, "?"))
        #expect(throws: RecordFailure.self) { try RetryNote(record) }
    }

    @Test("A message too long for a header is cut between characters")
    func longMessage() throws {
        let note = RetryNote(
            job: "j", lane: .fast, attempt: 1, notBefore: 0, firstSeen: 0,
            cause: FailureNote(code: "c", message: String(repeating: "ä€𝄞", count: 1000), verdict: .retry),
            origin: RecordOrigin(topic: .jobsFast, partition: Fixture.partition, offset: 0))
        let back = try RetryNote(
            Fixture.read(note.newRecord(topic: .retry1m, key: [], body: [], partition: Fixture.partition, at: 0)))
        #expect(back.cause.message.utf8.count <= 1028 && back.cause.message.hasSuffix("…"))
        #expect(note.cause.message.hasPrefix(back.cause.message.dropLast()))
    }

    @Test("A dead letter keeps a job's bytes whole, whatever they are")
    func deadLetter() throws {
        let record = Fixture.record(
            .jobsFast, value: [0xFF, 0x00, 0x7B], headers: [RecordHeader("traceparent", Self.trace)])
        let deadLetter = DeadLetter(
            of: record, id: "jobs.fast-3-17",
            cause: FailureNote(code: "job.not-json", message: "m", verdict: .deadLetter),
            attempts: 0, url: nil, at: record.timestamp)
        let dead = deadLetter.newRecord(partition: Fixture.partition)
        #expect(dead.topic == .dead && dead.key == record.key && dead.value == record.value)
        #expect(try DeadLetter(Fixture.read(dead)) == deadLetter)
    }

    @Test(
        "A dead letter of a record with a huge key has a small one, which differs as the keys do",
        arguments: [1_024, 1_025, 3_000_000])
    func hugeKey(bytes: Int) throws {
        let keys = [UInt8(0x61), 0x62].map { [UInt8](repeating: 0x61, count: bytes - 1) + [$0] }
        let deadLetters = keys.map { key in
            var record = Fixture.record(.jobsFast, value: [0x7B])
            record.key = key
            return DeadLetter(
                of: record, id: "x", cause: FailureNote(code: "job.not-json", message: "m", verdict: .deadLetter),
                attempts: 0, url: nil, at: record.timestamp)
        }
        #expect(deadLetters[0].key != deadLetters[1].key)
        for (deadLetter, key) in zip(deadLetters, keys) {
            if bytes == 1_024 {
                let isWhole = deadLetter.key == key
                #expect(isWhole && deadLetter.wholeKey == nil)
            } else {
                #expect(deadLetter.key.count == 320 && deadLetter.key.starts(with: key[..<256]))
                #expect(deadLetter.key.suffix(64).elementsEqual(SHA256.digest(of: key).hex.utf8))
                #expect(deadLetter.wholeKey == DeadLetter.Whole(bytes: bytes, digest: SHA256.digest(of: key)))
            }
            #expect(try DeadLetter(Fixture.read(deadLetter.newRecord(partition: Fixture.partition))) == deadLetter)
        }
    }

    @Test("A dead letter of a record over the limit keeps a prefix and a digest")
    func hugeDeadLetter() throws {
        let value = [UInt8](repeating: 0x61, count: 10_000_000)
        let record = Fixture.record(.jobsFast, value: value)
        let deadLetter = DeadLetter(
            of: record, id: "x", cause: FailureNote(code: "job.too-large", message: "m", verdict: .deadLetter),
            attempts: 3,
            url: "http://a/", at: record.timestamp)
        #expect(deadLetter.body == Array(value[..<4096]))
        #expect(deadLetter.whole == DeadLetter.Whole(bytes: 10_000_000, digest: SHA256.digest(of: value)))
        #expect(try DeadLetter(Fixture.read(deadLetter.newRecord(partition: Fixture.partition))) == deadLetter)
    }

    @Test("Letters stand until they are discarded, and a repeat is one letter")
    func standing() {
        func deadLetter(_ id: String, at offset: Int64 = 1) -> DeadLetter {
            DeadLetter(
                of: Fixture.record(.jobsFast, value: [1], offset: offset), id: id,
                cause: FailureNote(code: "c", message: "m", verdict: .deadLetter), attempts: 1, url: nil, at: 0)
        }
        func records(_ new: [NewRecord]) -> [Record] { new.enumerated().map { Fixture.read($1, offset: Int64($0)) } }
        let (a, b) = (
            deadLetter("a").newRecord(partition: Fixture.partition), deadLetter("b").newRecord(partition: Fixture.partition)
        )
        let discard = deadLetter("a").discard(partition: Fixture.partition, at: 1)
        #expect(discard.value == nil && discard.key == a.key)
        #expect(DeadLetter.standing(records([a, b, a])).deadLetters.map(\.id) == ["a", "b"])
        #expect(DeadLetter.standing(records([a, b, a, discard])).deadLetters.map(\.id) == ["b"])
        #expect(DeadLetter.standing(records([a, discard, b, a])).deadLetters.map(\.id) == ["b", "a"])
        let other = deadLetter("a", at: 2).newRecord(partition: Fixture.partition)
        #expect(DeadLetter.standing(records([a, other, a, b])).deadLetters.map(\.origin.offset) == [1, 2, 1])
        // Each of an id's letters is discarded apart; a tombstone of 0.1.0 names no record.
        #expect(DeadLetter.standing(records([a, other, b, discard])).deadLetters.map(\.origin.offset) == [2, 1])
        var old = discard
        old.headers = RecordHeaders(discard.headers.filter { $0.name != "mz_origin" })
        #expect(DeadLetter.standing(records([a, other, b, old])).deadLetters.map(\.id) == ["b"])
        var odd = a
        odd.headers = []
        let folded = DeadLetter.standing(records([odd, b]))
        #expect(folded.deadLetters.map(\.id) == ["b"] && folded.unreadable.count == 1)
    }

    @Test(
        "Only a well-formed trace context is passed through",
        arguments: [(trace, true), ("", false), ("00-0", false), (trace.uppercased(), false), (trace + "0", false)])
    func traceparent(text: String, passes: Bool) {
        let record = Fixture.record(.jobsFast, value: nil, headers: [RecordHeader("traceparent", text)])
        #expect(record.traceparent == (passes ? text : nil))
    }
}
