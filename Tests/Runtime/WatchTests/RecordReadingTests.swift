import Canonical
import Clocks
import Digest
import Failures
import ImageModel
import Records
import TestSupport
import Testing

@testable import Watch

@Suite("What the watch takes from records", .timeLimit(.minutes(1)))
struct RecordReadingTests {
    private let reading = RecordReading(rules: CanonicalRules())
    private let partition = PartitionID(0)

    private func record(_ topic: Topic, _ body: String?, _ headers: [(String, String)] = [], offset: Int64 = 0)
        -> Record
    {
        Record(
            topic: topic, partition: partition, offset: offset, timestamp: 1_790_000_000_000, key: [],
            value: body.map { Array($0.utf8) }, headers: RecordHeaders(headers.map { RecordHeader($0.0, $0.1) }))
    }

    @Test("Jobs are told by host, retries by why they wait too, and what is no job by nothing")
    func sample() {
        let job = "{\"url\":\"https://A.example:443/x.jpg?sig=1\",\"variants\":[\"8x8.png\"]}"
        let sample = reading.sample(
            [
                record(.jobsFast, job), record(.jobsFast, job), record(.jobsFast, "{"), record(.jobsFast, nil),
                record(.jobsFast, job.replacing("A.", with: "me:secret@a.")),
                record(.jobsFast, "{\"url\":\"https://b.example/\(String(repeating: "x", count: 70_000))\"}"),
            ], of: .jobsFast, partition)
        #expect(sample.seen == 6)
        #expect(sample.groups[.init(lane: "fast", host: "https://a.example", code: nil)]?.count == 2)
        #expect(sample.groups[.init(lane: "fast", host: "", code: nil)]?.count == 4)
        let retry = record(
            .retry1m, job,
            [
                ("ce_id", "a"), ("mz_lane", "slow"), ("mz_attempt", "1"), ("mz_not_before", "1"),
                ("mz_first_seen", "77"),
                ("mz_code", "fetch.server-error"), ("mz_message", "It answered 503."), ("mz_origin", "jobs.slow-0-3"),
            ])
        let retries = reading.sample([retry, record(.retry1m, job)], of: .retry1m, partition)
        let group = PlaceSample.Group(lane: "slow", host: "https://a.example", code: "fetch.server-error")
        #expect(retries.groups[group]?.since == 77 && retries.groups[group]?.message == "It answered 503.")
        #expect(retries.groups[.init(lane: "unknown", host: "https://a.example", code: "unknown")]?.count == 1)
        #expect(
            reading.sample(Array(repeating: record(.jobsFast, job), count: 900), of: .jobsFast, partition).seen == 500)
    }

    @Test("Parked rows are told by the host and the lane that they wait for; rows that ended, and what is no row, do not count")
    func parked() {
        func row(_ id: String, worksAs: Lane) -> ParkedRow {
            let note = RetryNote(
                job: id, lane: .fast, attempt: 1, notBefore: 1, firstSeen: 77,
                cause: FailureNote(code: "fetch.server-error", message: "It answered 503.", verdict: .retry),
                origin: RecordOrigin(topic: .jobsFast, partition: partition, offset: 3))
            return ParkedRow(
                SourceKey(SHA256.digest(of: [])), JobIdentity(ofOwn: id), note, host: OriginHost(group: "cdn"),
                worksAs: worksAs, body: Array(#"{"url":"https://a.example/x.jpg","variants":["8x8.png"]}"#.utf8))
        }
        let (first, second, third) = (row("a", worksAs: .slow), row("b", worksAs: .fast), row("c", worksAs: .fast))
        let records =
            [first, second, third, first].map { $0.newRecord(partition: partition, at: 1) }
            + [
                ParkedRow.drop(third.source, third.identity, partition: partition),
                EpochRow(partition: partition, epoch: 8, owner: "w", isClean: true, at: 1).newRecord(topic: .parked),
                NewRecord(topic: .parked, partition: partition, key: [1], value: [2]),
            ]
        let sample = reading.sample(
            records.enumerated().map { offset, new in
                Record(
                    topic: .parked, partition: partition, offset: Int64(offset), timestamp: 1, key: new.key,
                    value: new.value, headers: new.headers)
            }, of: .parked, partition)
        #expect(sample.seen == 2)
        for lane in Lane.allCases {
            let figures = sample.groups[.init(lane: lane.rawValue, host: "cdn", code: "fetch.server-error")]
            #expect(figures?.count == 1 && figures?.since == 77 && figures?.message == "It answered 503.")
        }
    }

    @Test("Outcomes are counted by host; failed ones have no text that people must not see, expired ones a code")
    func ends() {
        let body = """
            {"job":"j","url":"https://a.example/x.jpg?X-Amz-Signature=77","lane":"fast","kind":"failed","attempts":1,"at":5,\
            "variants":[],"failure":{"code":"fetch.not-found","message":"https://a.example/x.jpg?X-Amz-Signature=77 is gone."}}
            """
        let stored = body.replacing("failed", with: "stored")
        let ends = reading.ends([
            record(.outcomes, body), record(.outcomes, stored), record(.outcomes, "{}"), record(.outcomes, nil),
        ])
        #expect(ends.map(\.kind) == [.failed, .stored] && ends[1].job.isEmpty)
        let expired =
            "{\"job\":\"j\",\"url\":\"https://a.example/\",\"lane\":\"fast\",\"kind\":\"expired\",\"attempts\":0,\"at\":5,\"variants\":[]}"
        #expect(reading.ends([record(.outcomes, expired)]).map(\.code) == ["expired"])
        let cancelled = expired.replacing("expired", with: "cancelled")
        #expect(reading.ends([record(.outcomes, cancelled)]).isEmpty)
        #expect(ends.first?.code == "fetch.not-found" && ends.first?.host == "https://a.example")
        #expect(!"\(ends)".contains("77"), "\(ends)")
        let key = String(repeating: "0f", count: 32)
        #expect(ends.first?.source == nil)
        let named = record(.outcomes, body.replacing("\"url\"", with: "\"source\":\"\(key)\",\"url\""))
        #expect(reading.ends([named]).first?.source == key)
        #expect(reading.allEnds([named]).first.map { !$0.url.contains("77") } == true)
    }

    @Test(
        "An end counts by the later of the worker's time and the brokers', so that neither clock hides it",
        arguments: [(0, -3_600_000), (-3_600_000, 0)] as [(Duration, Duration)])
    func clocks(worker: Duration, brokers: Duration) {
        let now: WallTime = 1_790_000_000_000
        let body =
            "{\"job\":\"j\",\"url\":\"https://a.example/\",\"lane\":\"fast\",\"kind\":\"stored\",\"attempts\":0,\"at\":\((now + worker).milliseconds),\"variants\":[]}"
        let outcome = Record(
            topic: .outcomes, partition: partition, offset: 0, timestamp: now + brokers, key: [],
            value: Array(body.utf8),
            headers: RecordHeaders([]))
        var scene = Scene()
        scene.look()
        let ends = reading.ends([outcome])
        #expect(ends.map(\.at) == [now])
        scene.apply(.ended(ends))
        #expect(scene.report.ended.jobs == 1)
    }

    @Test("Hosts and workers that rows of origins name are cut")
    func longHosts() {
        let name = String(repeating: "a", count: 5_000)
        var row = OriginRow(host: name, by: name, at: 7)
        row.state = .slowed
        let told = row.newRecord()
        let hosts = reading.hosts([
            Record(
                topic: .origins, partition: partition, offset: 0, timestamp: 0, key: told.key, value: told.value,
                headers: told.headers)
        ])
        #expect(hosts.map(\.host.utf8.count) == [303] && hosts.map(\.by.utf8.count) == [243])
    }

    @Test("Hosts of a group go by its name, as workers tell of them")
    func grouped() throws {
        let group = try OriginGroup(name: "cdn", hosts: ["*.cdn.example"])
        let reading = RecordReading(rules: CanonicalRules(), groups: [group])
        let job = record(.jobsFast, "{\"url\":\"https://a.cdn.example/x.jpg\",\"variants\":[\"8x8.png\"]}")
        let sample = reading.sample([job], of: .jobsFast, partition)
        #expect(sample.groups[.init(lane: "fast", host: "cdn", code: nil)]?.count == 1)
        var row = OriginRow(host: "cdn", by: "w", at: 7)
        row.state = .slowed
        let told = row.newRecord()
        let records = [
            Record(
                topic: .origins, partition: partition, offset: 0, timestamp: 0, key: told.key, value: told.value,
                headers: told.headers), record(.origins, "{"), record(.origins, nil),
        ]
        #expect(reading.hosts(records) == [row])
    }

    @Test("Letters are folded as they came: what was taken back does not stand")
    func deadLetters() {
        func deadLetter(_ id: String) -> Record {
            record(
                .dead, "x",
                [
                    ("ce_id", id), ("mz_code", "job.not-json"), ("mz_message", "m"), ("mz_attempt", "0"),
                    ("mz_origin", "jobs.fast-0-1"),
                ])
        }
        let change = reading.deadLetters(
            [deadLetter("a"), deadLetter("b"), record(.dead, nil, [("mz_discards", "a")]), deadLetter("c"), record(.dead, nil)],
            of: partition, isWhole: true)
        #expect(change.added.map(\.id) == ["b", "c"] && change.discarded == [DeadLetter.Name(id: "a")])
        var table = DeadLetterTable(partitions: 1)
        table.take(change)
        #expect(table.count == 2)
        table.take(reading.deadLetters([record(.dead, nil, [("mz_discards", "b")])], of: partition, isWhole: true))
        #expect(table.count == 1 && table.newest?.id == "c")
    }

    private func deadLetters(_ offsets: Range<Int64>, id: String? = nil) -> DeadLetterChange {
        var change = DeadLetterChange(partition, isWhole: true)
        change.added = offsets.map { offset in
            .init(
                id: id ?? "\(offset)", code: "c", host: "", at: WallTime(milliseconds: offset),
                origin: RecordOrigin(topic: .jobsFast, partition: partition, offset: offset), offset: offset)
        }
        return change
    }

    @Test("Jobs of one id are letters of their own, taken back together; a letter that comes twice is one")
    func sameID() {
        var table = DeadLetterTable(partitions: 1)
        table.take(deadLetters(0..<3, id: "a"))
        table.take(deadLetters(0..<1, id: "a"))
        #expect(table.count == 3 && table.counts[partition] == 3 && table.byKey.values.joined().count == 3)
        var change = DeadLetterChange(partition, isWhole: true)
        change.discarded = [DeadLetter.Name(id: "a")]
        table.take(change)
        #expect(table.count == 0 && table.newest == nil)
    }

    @Test("A replay that dies before its first letter is discarded stays on the list, whichever record comes first")
    func replays() {
        var table = DeadLetterTable(partitions: 1)
        let origin = RecordOrigin(topic: .jobsFast, partition: partition, offset: 0)
        var change = deadLetters(0..<1, id: "a")
        table.take(change)
        change.added = [
            .init(id: "a", code: "d", host: "", at: 1, origin: origin, replays: 1, offset: 1)
        ]
        table.take(change)
        #expect(table.count == 1 && table.newest?.code == "d")
        change = DeadLetterChange(partition, isWhole: true)
        change.discarded = [DeadLetter.Name(id: "a", origin: origin)]
        table.take(change)
        #expect(table.count == 1)
        change.discarded = [DeadLetter.Name(id: "a", origin: origin, replays: 1)]
        table.take(change)
        #expect(table.count == 0)
    }

    @Test("Letters that retention took, and those of a topic that was recreated, stand no longer")
    func gone() {
        var table = DeadLetterTable(partitions: 1)
        table.keep(0..<5, of: partition)
        table.take(deadLetters(0..<5))
        table.keep(0..<5, of: partition)
        #expect(table.count == 5)
        table.keep(3..<6, of: partition)
        #expect(table.count == 2 && table.newest?.id == "4")
        table.keep(0..<4, of: partition)
        #expect(table.count == nil && table.newest == nil)
        table.take(DeadLetterChange(partition, isWhole: true))
        #expect(table.count == 0)
    }

    @Test("Letters that were passed over are told once there is room")
    func room() {
        var table = DeadLetterTable(partitions: 1, limit: 10)
        table.take(deadLetters(0..<30))
        var change = DeadLetterChange(partition, isWhole: true)
        for id in 0..<5 { change.discarded.append(DeadLetter.Name(id: "\(id)")) }
        table.take(change)
        #expect(table.count == 5 && table.isMore && !table.forgot())
        change.discarded = [DeadLetter.Name(id: "5")]
        table.take(change)
        #expect(table.forgot() && !table.isMore && table.count == nil)
        table.take(deadLetters(6..<9))
        #expect(table.count == 3 && !table.isMore && !table.forgot())
    }

    @Test("Of the changelog the newest epoch and progress, and nothing of damaged rows")
    func ownership() {
        let (old, new) = [1, 2].map { (epoch: Int64) in
            EpochRow(partition: partition, epoch: epoch, owner: "w", isClean: false, at: 9)
        }.reduce(into: ([Record](), [Record]())) { rows, row in
            let new = row.newRecord()
            rows.0.append(
                Record(
                    topic: .variants, partition: partition, offset: row.epoch, timestamp: 0, key: new.key,
                    value: new.value, headers: new.headers))
        }
        var records = old + new
        records.append(
            Record(
                topic: .variants, partition: partition, offset: 9, timestamp: 0, key: Array("@epoch/0".utf8),
                value: [1], headers: []))
        let events = reading.ownership(records)
        guard case .epoch(let row)? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(row.epoch == 2)
    }
}
