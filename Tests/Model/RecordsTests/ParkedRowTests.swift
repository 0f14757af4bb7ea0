import Canonical
import Clocks
import Failures
import ImageModel
import Records
import TestSupport
import Testing

@Suite("Parked rows: jobs that wait, one record for each")
struct ParkedRowTests {
    static let first = CompletedRecord(
        Record(
            topic: .jobsFast, partition: Fixture.partition, offset: 9, timestamp: 1_763_802_000_000, key: [], value: [],
            headers: []))
    static let host = OriginHost(of: "https://cdn.example/")
    static let body = Array(#"{"url":"http://a/","variants":["full-q80.webp"] }"#.utf8)

    static func note(_ lane: Lane = .fast) -> RetryNote {
        RetryNote(
            job: "job-1", lane: lane, attempt: 2, notBefore: 5, firstSeen: 4, heldSince: 3, failingSince: 2, crashes: 1,
            cause: FailureNote(code: "fetch.timeout", message: "Too slow: ä.", verdict: .retry),
            origin: RecordOrigin(topic: .jobsFast, partition: Fixture.partition, offset: 9),
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    }

    static func row(
        _ identity: JobIdentity = .record(first), worksAs: Lane = .fast, ends: WallTime? = nil, kept: RecordHeaders = []
    ) -> ParkedRow {
        ParkedRow(Fixture.source, identity, note(), host: host, worksAs: worksAs, ends: ends, body: body, kept: kept)
    }

    static let kept: RecordHeaders = [RecordHeader("mz_signature", "s"), RecordHeader("mz_change", "c")]

    @Test(
        "A row is read as it was written, with its offset",
        arguments: [
            row(), row(.record(first), worksAs: .slow), row(JobIdentity(ofOwn: "refresh-1")), row(kept: kept), row(ends: 77),
            ParkedRow(Fixture.source, .record(first), note(.slow), host: OriginHost(group: "cdn"), worksAs: .slow, body: []),
        ])
    func reads(row: ParkedRow) throws {
        let record = row.newRecord(partition: Fixture.partition, at: 6)
        #expect(record.topic == .parked && record.partition == Fixture.partition && record.value == row.body)
        #expect(record.key == RecordKey.parked(row.source, row.identity).bytes)
        #expect(record.headers["ce_type"].map { String(decoding: $0, as: UTF8.self) } == "mezzotint.job.parked.v1")
        #expect(try ParkedEntry(Fixture.read(record, offset: 12)) == .change(.park(row, offset: 12)))
    }

    @Test("A tombstone names the row that it deletes")
    func drops() throws {
        let record = ParkedRow.drop(Fixture.source, .record(Self.first), partition: Fixture.partition)
        #expect(record.value == nil && record.topic == .parked && record.key == Self.row().key.bytes)
        #expect(try ParkedEntry(Fixture.read(record)) == .change(.drop(Fixture.source, .record(Self.first))))
    }

    @Test("An epoch row of `parked` is that of `variants` in another topic")
    func epoch() throws {
        let row = EpochRow(partition: Fixture.partition, epoch: 8, owner: "w", isClean: true, at: 1)
        let record = row.newRecord(topic: .parked)
        #expect(record.topic == .parked && record.key == row.newRecord().key && record.value == row.newRecord().value)
        #expect(try ParkedEntry(Fixture.read(record)) == .epoch(row))
    }

    @Test("A row keeps the signature and the change of its job's record, and nothing else")
    func keeps() {
        var record = Fixture.read(Self.row().newRecord(partition: Fixture.partition, at: 6))
        record.headers = RecordHeaders([RecordHeader("other", "x")] + Array(Self.kept) + [RecordHeader("mz_url", "u")])
        #expect(ParkedRow.kept(of: record) == Self.kept)
    }

    @Test(
        "A row of another program that lacks a part, or has a wrong one, is refused by the part's name",
        arguments: [
            ("mz_host", nil), ("mz_host", String(repeating: "h", count: 301)), ("mz_attempt", nil), ("mz_attempt", "-1"),
            ("mz_not_before", nil), ("mz_first_seen", "soon"), ("mz_code", nil), ("mz_origin", "jobs.fast-3"),
            ("mz_lane", "medium"), ("mz_works_as", "medium"), ("mz_ends", "later"), ("ce_id", nil),
        ])
    func refuses(name: String, value: String?) {
        var record = Fixture.read(Self.row(worksAs: .slow).newRecord(partition: Fixture.partition, at: 6))
        var headers = RecordHeaders(record.headers.filter { $0.name != name })
        if let value { headers.append(RecordHeader(name, value)) }
        record.headers = headers
        let failure = #expect(throws: RecordFailure.self) { try ParkedEntry(record) }
        #expect(failure?.description.contains(name) == true)
    }

    @Test(
        "A record with a key that is not a parked row's is refused",
        arguments: [
            "", "x", "@epoch/-1", "@progress/3", String(repeating: "0", count: 64), "/@source", "/@parked/",
            "/@parked/jobs.fast-3-9", "/@parked/jobs.fast-03-9-1763802000000", "/@parked/jobs.fast-3-9--1",
            "/@parked/jobs.none-3-9-1", "/@parked/own-12", "/@parked/own-" + String(repeating: "A", count: 64),
            "/@parked/" + String(repeating: "9", count: 500),
        ])
    func keys(text: String) {
        var record = Fixture.read(Self.row().newRecord(partition: Fixture.partition, at: 6))
        record.key = Array((text.hasPrefix("/") ? Fixture.source.hex + text : text).utf8)
        let failure = #expect(throws: RecordFailure.self) { try ParkedEntry(record) }
        #expect(failure?.kind == .key)
    }

    @Test("An epoch row without a value, or with a wrong one, is refused", arguments: [nil, "{}", "x"])
    func epochs(value: String?) {
        var record = Fixture.read(
            EpochRow(partition: Fixture.partition, epoch: 8, owner: "w", isClean: true, at: 1).newRecord(topic: .parked))
        record.value = value.map { Array($0.utf8) }
        #expect(throws: RecordFailure.self) { try ParkedEntry(record) }
    }

    @Test(
        "An identity is read as it was written",
        arguments: [
            JobIdentity.record(first), JobIdentity(ofOwn: ""), JobIdentity(ofOwn: "refresh-1"),
        ])
    func identity(identity: JobIdentity) {
        #expect(JobIdentity(identity.description) == identity)
        let key = RecordKey.parked(Fixture.source, identity)
        #expect(RecordKey(key.bytes) == key)
    }

    @Test("A parked row's key in the changelog is no row")
    func misplaced() {
        var record = Fixture.read(Self.row().newRecord(partition: Fixture.partition, at: 6))
        record.topic = .variants
        #expect(throws: RecordFailure.self) { try ChangelogEntry(record) }
    }
}
