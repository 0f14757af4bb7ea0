import Canonical
import Clocks
import Failures
import ImageModel
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("What became of a job, as its records say", .timeLimit(.minutes(1)))
struct OutcomeSearchTests {
    private static let url = "http://origin.example/a.jpg"
    private static let failure = FailureNote(
        code: "fetch.not-found", message: "The origin answered 404.", verdict: .fail)
    private static let other = SourceKey(hex: String(repeating: "ab", count: 32))!

    private func search(_ subject: OutcomeSearch.Subject, _ records: Record...) -> OutcomeSearch {
        var search = OutcomeSearch(subject, intake: Intake(rules: CanonicalRules()))
        for record in records { search.take(record) }
        return search
    }

    private func job(_ id: String?, offset: Int64 = 17, body: String = "") -> Record {
        let headers: RecordHeaders = id.map { [RecordHeader("ce_id", $0)] } ?? []
        let value = #"{"url":"\#(Self.url)","variants":["full.png"]\#(body)}"#
        return Fixture.record(.jobsFast, value: Array(value.utf8), headers: headers, offset: offset)
    }

    private func outcome(
        of job: String, _ kind: OutcomeKind = .failed, source: SourceKey = Fixture.source, at: WallTime = 5,
        attempts: Int = 0, answering record: Record? = nil
    ) -> Record {
        let outcome = Outcome(
            job: job, source: source, url: SourceURL(Self.url), lane: .fast, kind: kind, variants: [],
            failure: kind.isSuccess ? nil : Self.failure, attempts: attempts, at: at)
        var new = outcome.newRecord(partition: Fixture.partition)
        if let record { new.headers.append(completed: JobIdentity(of: record)) }
        return Fixture.read(new)
    }

    /// A retry record of an earlier version, or the job's row of `parked`.
    private func waiting(_ record: Record, _ id: String, in topic: Topic, offset: Int64 = 4) -> Record {
        let note = RetryNote(
            job: id, lane: .fast, attempt: 1, notBefore: 9, firstSeen: 3, cause: Self.failure,
            origin: RecordOrigin(record))
        let row = ParkedRow(
            Fixture.source, .record(CompletedRecord(record)), note, host: OriginHost(of: Self.url), worksAs: .fast,
            body: record.value ?? [])
        var new =
            topic == .parked
            ? row.newRecord(partition: record.partition, at: 4)
            : note.newRecord(
                topic: topic, key: record.key, body: record.value ?? [], partition: record.partition, at: 4)
        new.headers.append(completed: record)
        return Fixture.read(new, offset: offset)
    }

    private func deadLetter(of record: Record, _ id: String) -> DeadLetter {
        DeadLetter(of: record, id: id, cause: Self.failure, attempts: 2, url: SourceURL(Self.url), at: 8)
    }

    @Test("A job has the outcome of its id, a source those of its key; neither has another's")
    func subjects() {
        let records = [outcome(of: "a"), outcome(of: "b"), outcome(of: "c", source: Self.other)]
        let found = { (subject: OutcomeSearch.Subject) in
            search(subject, records[0], records[1], records[2]).ended.map(\.report.job)
        }
        #expect(found(.job("a")) == ["a"] && found(.job("c")) == ["c"] && found(.job("d")) == [])
        #expect(found(.source(Fixture.source)) == ["a", "b"] && found(.source(Self.other)) == ["c"])
    }

    @Test("A repeat is left out; of a job that was published twice both ends are there, the newest last")
    func repeats() {
        let ended = search(
            .job("a"), outcome(of: "a", .stored, at: 9), outcome(of: "a", at: 5), outcome(of: "a", at: 6, attempts: 3),
            outcome(of: "a", .stored, at: 10)
        ).ended
        #expect(ended.map(\.report.kind) == [.failed, .stored] && ended.map(\.report.at) == [5, 9])
        #expect(ended.allSatisfy { $0.lane == .fast && !$0.hasDeadLetter })
    }

    @Test("A job is pending until its record is answered, by its header's id, its body's, or its place")
    func pending() {
        let record = job("a")
        #expect(search(.job("a"), record).pending.map(\.job) == ["a"])
        let first = search(.job("a"), record).pending.first
        #expect(first?.code == nil && first?.due == nil && first?.attempts == 0)
        #expect(first?.place == .lane && first?.lane == .fast)
        #expect(search(.job("b"), record, job(nil, body: #","id":"b""#)).pending.map(\.job) == ["b"])
        #expect(search(.job("jobs.fast-3-17"), record, job(nil)).pending.map(\.job) == ["jobs.fast-3-17"])
        #expect(search(.source(Fixture.source), record, outcome(of: "a", answering: record)).pending == [])
        // Published twice, and answered once.
        let again = job("a", offset: 18)
        let twice = search(.source(Fixture.source), record, again, outcome(of: "a", answering: record))
        #expect(twice.pending.count == 1 && twice.ended.count == 1)
    }

    @Test(
        "A job that waits takes the place of the record that it answers, with its reason and the job's age",
        arguments: [Topic.parked, .retry10s])
    func waits(topic: Topic) {
        let record = job("a")
        let row = waiting(record, "a", in: topic)
        for subject in [OutcomeSearch.Subject.job("a"), .source(Fixture.source)] {
            let pending = search(subject, record, row).pending
            #expect(pending.map(\.topic) == [topic] && pending.first?.since == 3, "\(subject)")
            #expect(pending.first?.code == "fetch.not-found" && pending.first?.message != nil)
            #expect(pending.first?.attempts == 1 && pending.first?.due == 9 && pending.first?.lane == .fast)
            #expect(pending.first?.place == .parked)
            // The outcome of a parked job names the identity in the row's key, whose tombstone may be missing.
            let ended = search(subject, row, outcome(of: "a", answering: row))
            #expect(ended.pending == [] && ended.ended.count == 1, "\(subject)")
            guard topic == .parked else { continue }
            // The row's tombstone is missing: the outcome names the job's first record, as the row's key does.
            let undeleted = search(subject, row, outcome(of: "a", answering: record))
            #expect(undeleted.pending == [] && undeleted.ended.count == 1, "\(subject)")
        }
        if topic == .parked {
            var tombstone = row
            (tombstone.value, tombstone.headers) = (nil, [])
            #expect(search(.job("a"), record, row, tombstone).pending == [])
        }
        #expect(search(.job("b"), row).pending.isEmpty && search(.source(Self.other), row).pending.isEmpty)
    }

    @Test(
        "Attempts count the last one; for unreachable and expired jobs they are unknown, and a letter has its own number"
    )
    func attempts() {
        #expect(search(.job("a"), outcome(of: "a", .stored)).ended.map(\.attempts) == [1])
        #expect(search(.job("a"), outcome(of: "a", .dead, attempts: 3)).ended.map(\.attempts) == [4])
        #expect(search(.job("a"), outcome(of: "a", .expired)).ended.map(\.attempts) == [nil])
        let hidden = FailureNote(code: "fetch.connection", message: "m", verdict: .retry, isConfidential: true)
        let unreachable = Outcome(
            job: "a", source: Fixture.source, url: SourceURL(Self.url), lane: .fast, kind: .dead, variants: [],
            failure: hidden, attempts: 3, at: 5)
        let deadLetter = Fixture.read(deadLetter(of: job("a"), "a").newRecord(partition: Fixture.partition))
        let record = Fixture.read(unreachable.newRecord(partition: Fixture.partition))
        #expect(search(.job("a"), record, deadLetter).ended.map(\.attempts) == [nil])
        #expect(search(.job("a"), outcome(of: "a", .dead), deadLetter).ended.map(\.attempts) == [2])
        let noJob = Outcome(
            job: "a", source: nil, url: "", lane: .fast, kind: .dead, variants: [], failure: Self.failure, at: 5)
        #expect(
            search(.job("a"), Fixture.read(noJob.newRecord(partition: Fixture.partition))).ended.map(\.attempts) == [0])
    }

    @Test("A dead letter that was replayed names the job that was published")
    func replayed() {
        let deadLetter = deadLetter(of: job("a"), "a")
        let records = [
            deadLetter.newRecord(partition: Fixture.partition),
            deadLetter.discard(partition: Fixture.partition, at: 9, replayedAs: "b"),
        ].enumerated().map { Fixture.read($1, offset: Int64($0)) }
        let ended = search(.job("a"), outcome(of: "a", .dead), records[0], records[1]).ended
        #expect(ended.map(\.replayedAs) == ["b"] && ended.map(\.hasDeadLetter) == [false])
    }

    @Test("Outcomes of a job's replays are found by its id, in addition to the first, each with its own dead letter")
    func replays() throws {
        func outcome(_ replays: Int, _ kind: OutcomeKind) -> Record {
            var outcome = Outcome(
                job: "a", source: Fixture.source, url: SourceURL(Self.url), lane: .fast, kind: kind, variants: [],
                failure: kind.isSuccess ? nil : Self.failure, at: 5)
            outcome.replays = replays
            return Fixture.read(outcome.newRecord(partition: Fixture.partition))
        }
        #expect(outcome(2, .dead).header("ce_id") == "a/outcome/2")
        var again = job("a")
        again.headers.append(RecordHeader("mz_replays", "1"))
        let deadLetters = [deadLetter(of: job("a"), "a"), deadLetter(of: again, "a")]
        let first = deadLetters[0].discard(partition: Fixture.partition, at: 9, replayedAs: "a")
        let records = (deadLetters.map { $0.newRecord(partition: Fixture.partition) } + [first]).enumerated().map {
            Fixture.read($1, offset: Int64($0))
        }
        let ended = search(
            .job("a"), outcome(0, .dead), outcome(1, .dead), outcome(1, .dead), outcome(2, .stored), self.outcome(of: "a/x"),
            records[0], records[1], records[2]
        ).ended
        #expect(ended.map(\.report.replays) == [0, 1, 2])
        #expect(ended.map(\.replayedAs) == ["a", "a", nil] && ended.map(\.hasDeadLetter) == [false, true, false])
    }

    @Test("A dead letter stands for an outcome that is no longer kept, until it is discarded")
    func deadLetters() {
        let deadLetter = deadLetter(of: job("a"), "a")
        let record = Fixture.read(deadLetter.newRecord(partition: Fixture.partition))
        let discard = Fixture.read(deadLetter.discard(partition: Fixture.partition, at: 9), offset: 18)
        let alone = search(.job("a"), record).ended
        #expect(alone.map(\.report.kind) == [.dead] && alone.first?.hasDeadLetter == true && alone.first?.lane == .fast)
        #expect(alone.first?.report.failure?.code == "fetch.not-found" && alone.first?.report.attempts == 2)
        let both = search(.job("a"), outcome(of: "a", .dead), record).ended
        #expect(both.count == 1 && both.first?.hasDeadLetter == true)
        #expect(search(.job("a"), record, discard).ended == [])
        #expect(search(.job("a"), outcome(of: "a", .dead), record, discard).ended.map(\.hasDeadLetter) == [false])
        #expect(search(.source(Fixture.source), record).ended.count == 1)
    }
}
