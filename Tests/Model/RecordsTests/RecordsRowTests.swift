import Canonical
import Clocks
import Digest
import Failures
import Foundation
import HTTPCache
import ImageModel
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Records: rows of the changelog", .timeLimit(.minutes(1)))
struct RecordsRowTests {
    private func entry(_ new: NewRecord) throws(RecordFailure) -> ChangelogEntry {
        try ChangelogEntry(Fixture.read(new))
    }

    @Test(
        "What is kept of an answer's headers comes back, what no request could carry is left out, and rows without are read"
    )
    func policy() throws {
        var row = Fixture.sourceRow
        func back() throws -> SourceRow? {
            let record = Fixture.read(row.newRecord(partition: Fixture.partition))
            guard case .change(.source(let row)) = try ChangelogEntry(record) else { return nil }
            return row
        }
        #expect(!Fixture.text(row.newRecord(partition: Fixture.partition).value).contains("http\":{"))
        row.policy = CachePolicy(
            control: CacheControl(["no-cache, stale-if-error=5"]), expires: 0, etag: "W/\"ä\"",
            lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            selection: Selection(names: ["accept", "cookie"], word: .max),
            location: "http://b.example/")
        row.regions = try #require([KeptRegion](checking: [100, 0, 50, 1_000, 7, 8, 9, 10]))
        #expect(try back() == row)
        // Earlier programs kept a point.
        let text = Fixture.text(row.newRecord(partition: Fixture.partition).value)
        let old = text.replacing("\"regions\":[[100,0,50,1000],[7,8,9,10]]", with: "\"focus\":[1000,0]")
        let record = Fixture.record(.variants, value: Array(old.utf8), key: RecordKey.source(Fixture.source).bytes)
        guard case .change(.source(let point)) = try ChangelogEntry(record) else { throw JobFailure.empty }
        #expect(old != text && point.regions == [KeptRegion(x: 1_000, y: 0)] && point.isFocusKnown)
        // Nothing is marked, and nobody looked.
        row.regions = []
        #expect(try back() == row)
        #expect(Fixture.text(row.newRecord(partition: Fixture.partition).value).contains("\"focus\":[]"))
        row.isFocusKnown = false
        #expect(try back() == row)
        #expect(!Fixture.text(row.newRecord(partition: Fixture.partition).value).contains("focus"))
        #expect(!Fixture.text(row.newRecord(partition: Fixture.partition).value).contains("alphaUnchecked"))
        (row.hasAlpha, row.isAlphaUnchecked) = (true, true)
        #expect(try back() == row)
        let forgery = Fixture.text(row.newRecord(partition: Fixture.partition).value)
            .replacing("W/\\\"ä\\\"", with: "a\\r\\nHost: b")
        let forged = Fixture.record(.variants, value: Array(forgery.utf8), key: RecordKey.source(Fixture.source).bytes)
        guard case .change(.source(let read)) = try ChangelogEntry(forged) else { throw JobFailure.empty }
        #expect(read.policy.etag == nil && read.policy.lastModified != nil)
    }

    @Test("A variant's row has named fields in one order")
    func spelling() {
        let record = Fixture.variant.newRecord(partition: Fixture.partition)
        #expect(record.topic == .variants)
        #expect(
            Fixture.text(record.value) == #"""
                {"version":"00ffab0123456789","width":640,"height":427,"bytes":48211,"digest":"\#(Fixture.digest.hex)",\#
                "location":"\#(Fixture.variant.location)","madeFrom":"origin","sourceWidth":6000,"sourceHeight":4003,\#
                "region":[0,0.30000000000000004,6000,4002.3333333333335],"alpha":false,"storedAt":1795256916007,\#
                "expires":1795861716007}
                """#)
    }

    @Test("Every kind of row reads back as itself, doubles to the bit")
    func roundTrip() throws {
        var random = SeededRandom(seed: 2)
        for i in 0..<2_000 {
            var row = Fixture.variant
            let double = { Double.random(in: 0.5...Double(PixelSize.sideLimit), using: &random) }
            row.region = Region(x: double() - 0.5, y: double(), width: double(), height: double())
            row.derivedFrom = i % 2 == 0 ? .origin : .donor(VariantSpec(width: 1280, height: 0, format: .jpeg))
            row.storedAt = RecordLimits.time(WallTime(milliseconds: Int64(bitPattern: random.next())))
            row.hasAlpha = i % 3 == 0
            if i % 5 == 0 {
                (row.frames, row.quality, row.placeholder, row.colour) = (
                    i + 1, i % 100, [0, 255, UInt8(i % 256)], RGB(1, 2, 250)
                )
                row.facts = SourceFacts(
                    format: .gif, frames: i + 1, hasAlpha: i % 2 == 0, orientation: 1 + i % 8, isTruncated: i % 10 == 0)
                row.facts?.isDrawing = [nil, false, true][i / 5 % 3]
            }
            #expect(try entry(row.newRecord(partition: Fixture.partition)) == .change(.variant(row)))
        }
        var source = Fixture.sourceRow
        #expect(try entry(source.newRecord(partition: Fixture.partition)) == .change(.source(source)))
        source.original = nil
        #expect(try entry(source.newRecord(partition: Fixture.partition)) == .change(.source(source)))
        let epoch = EpochRow(partition: PartitionID(5), epoch: 9, owner: "host pid 1", isClean: true, at: 7)
        #expect(try entry(epoch.newRecord()) == .epoch(epoch))
        let progress = ProgressRow(
            partition: PartitionID(5),
            topics: [
                .jobsFast: TopicProgress(
                    next: 7, committed: 6, finished: [9, 10, 40_000 - 8],
                    fingerprint: RecordFingerprint(offset: 3, timestamp: 1_700_000_000_000),
                    last: RecordFingerprint(offset: 6, timestamp: 1_700_000_000_009)),
                .retry: TopicProgress(next: 0), .retry1h: TopicProgress(next: 3),
            ], answers: [.outcomes: 12, .parked: 6, .dead: 0, .retry10s: 4], isClean: false, crashes: 2,
            quarantined: [
                .init(.jobsFast, 8, crashes: 1, begun: .beside), .init(.retry1h, 4, crashes: 2, begun: .alone),
                .init(.jobsSlow, 0, crashes: 2), .init(.parked, 5, crashes: 1, begun: .beside),
            ], away: [.init("https://a.example", ByLane([.fast: 7, .slow: 1])), .init("cdn", ByLane([.slow: 3]))],
            parked: .init(epoch: 4, lanes: ByLane { $0 == .fast ? .init(9, oldest: 3) : .none }),
            lost: .init(records: 3, at: 7), at: 8)
        var read = progress
        // Beyond the bitmap's end: finished again by the next owner.
        read.topics[.jobsFast]?.finished = [9, 10]
        #expect(try entry(progress.newRecord()) == .progress(read))
    }

    @Test(
        "A progress row with numbers or a bitmap that no owner writes is refused",
        arguments: [
            #"{"topics":{"jobs.fast":{"next":-1}},"at":1}"#,
            #"{"topics":{"jobs.fast":{"next":9223372036854775807}},"at":1}"#,
            #"{"topics":{},"away":[{"fast":1}],"at":1}"#, #"{"topics":{},"away":[{"host":"a","fast":-1}],"at":1}"#,
            #"{"topics":{},"lost":{"records":1},"at":1}"#, #"{"topics":{},"lost":{"records":-1,"at":1},"at":1}"#,
            #"{"topics":{"jobs.fast":{}},"at":1}"#, #"{"topics":{"jobs.fast":{"next":1,"finished":"?"}},"at":1}"#,
            #"{"topics":{"retry":{"next":1,"finished":"\#(Base64.text([UInt8](repeating: 1, count: 4_097)))"}},"at":1}"#,
            #"{"topics":{},"parked":{},"at":1}"#, #"{"topics":{},"parked":{"epoch":-1},"at":1}"#,
            #"{"topics":{},"parked":{"epoch":1,"fast":{}},"at":1}"#, #"{"topics":{},"parked":{"epoch":1,"fast":3},"at":1}"#,
            #"{"topics":{},"parked":{"epoch":1,"slow":{"jobs":-1}},"at":1}"#,
            #"{"topics":{"retry":{"next":1,"anchor":{"offset":1}}},"at":1}"#, #"{"at":1}"#, #"{"topics":{}}"#,
        ])
    func damagedProgress(json: String) throws {
        let record = Fixture.record(.variants, value: Array(json.utf8), key: RecordKey.progress(PartitionID(1)).bytes)
        #expect(throws: RecordFailure.self) { try ChangelogEntry(record) }
    }

    @Test(
        "A progress row of another version is read: its waits, its lanes and its topics are skipped",
        arguments: [
            (#"{"topics":{"jobs.fast":{"next":7,"waits":[{"offset":8,"attempts":2,"notBefore":12,"code":"a.b"}]}},"at":1}"#, nil),
            (
                #"{"topics":{"jobs.fast":{"next":7},"retry.9d":{"n":1}},"parked":{"epoch":3,"later":[1]},"at":1}"#,
                ProgressRow.Parked(epoch: 3, lanes: ByLane { _ in .none })
            ),
            (
                #"{"topics":{"jobs.fast":{"next":7}},"parked":{"bulk":{"jobs":5},"epoch":3,"fast":{"jobs":2,"n":{}}},"at":1}"#,
                ProgressRow.Parked(epoch: 3, lanes: ByLane { $0 == .fast ? .init(2, oldest: nil) : .none })
            ),
        ] as [(String, ProgressRow.Parked?)])
    func otherProgress(json: String, parked: ProgressRow.Parked?) throws {
        let record = Fixture.record(.variants, value: Array(json.utf8), key: RecordKey.progress(PartitionID(1)).bytes)
        let row = ProgressRow(
            partition: PartitionID(1), topics: [.jobsFast: TopicProgress(next: 7)], parked: parked, at: 1)
        #expect(try ChangelogEntry(record) == .progress(row))
        #expect(row.parkedCount == (parked?.lanes[.fast].jobs ?? 0))
    }

    @Test(
        "Every change reads back as itself, tombstones too",
        arguments: [
            .source(Fixture.sourceRow), .variant(Fixture.variant), .dropSource(Fixture.source),
            .dropVariant(Fixture.source, Fixture.spec),
        ] as [IndexChange])
    func changes(change: IndexChange) throws {
        let record = change.newRecord(partition: Fixture.partition)
        #expect(record.partition == Fixture.partition)
        #expect(try entry(record) == .change(change))
    }

    @Test("A field that a newer version added is left out")
    func newerVersion() throws {
        var record = Fixture.variant.newRecord(partition: Fixture.partition)
        record.value = Array(#"{"layers":[1,{"x":null}],"#.utf8) + record.value!.dropFirst()
        #expect(try entry(record) == .change(.variant(Fixture.variant)))
    }

    @Test(
        "A damaged row is refused with its place and what is wrong",
        arguments: [
            ("\"width\":640", "\"width\":0", "\"width\": expected a whole number from 1"),
            ("\"width\":640,", "", "\"width\" is missing"),
            ("\"alpha\":false", "\"alpha\":0", "\"alpha\": expected true or false"),
            ("00ffab0123456789\",\"width", "00ffab012345678\",\"width", "\"version\": expected 16 hexadecimal digits"),
            ("\"madeFrom\":\"origin\"", "\"madeFrom\":\"nowhere\"", "\"madeFrom\": expected"),
            ("[0,0.3", "[0,1,0.3", "\"region\": expected an array"),
            ("\"bytes\":48211", "\"bytes\":-1", "\"bytes\": expected"), ("{", "", "an object"),
            ("}", "", "expected a comma or }"),
            ("\"expires\":", "\"storedAt\":", "given twice"),
        ])
    func damaged(part: String, with other: String, says words: String) throws {
        var record = Fixture.variant.newRecord(partition: Fixture.partition)
        let text = Fixture.text(record.value)
        let range = try #require(text.range(of: part))
        record.value = Array(text.replacingCharacters(in: range, with: other).utf8)
        let failure = #expect(throws: RecordFailure.self) { try entry(record) }
        #expect(failure?.description.contains(words) == true, "\(failure?.description ?? "")")
        #expect(failure?.description.contains("variants-3-17") == true)
        #expect(failure?.code == "record.value")
    }

    @Test("A key that names no row is refused")
    func foreignKey() {
        for key in ["x", Fixture.source.hex] {
            #expect(throws: RecordFailure.self) {
                try ChangelogEntry(Fixture.record(.variants, value: Array("{}".utf8), key: Array(key.utf8)))
            }
        }
        let tombstone = Fixture.record(.variants, value: nil, key: RecordKey.epoch(PartitionID(1)).bytes)
        #expect(throws: RecordFailure.self) { try ChangelogEntry(tombstone) }
        let gone = Fixture.record(.variants, value: nil, key: RecordKey.progress(PartitionID(1)).bytes)
        #expect(throws: RecordFailure.self) { try ChangelogEntry(gone) }
    }

    @Test("100,000 damaged records trap nowhere: each is an entry or a refusal")
    func mutations() async {
        let seeds = [
            Fixture.variant.newRecord(partition: Fixture.partition),
            Fixture.sourceRow.newRecord(partition: Fixture.partition),
            EpochRow(partition: Fixture.partition, epoch: 9, owner: "host", isClean: true, at: 7).newRecord(),
            ProgressRow(
                partition: Fixture.partition,
                topics: [
                    .retry: TopicProgress(
                        next: 1, committed: 1, finished: [3], fingerprint: RecordFingerprint(offset: 0, timestamp: 5))
                ],
                at: 7
            ).newRecord(),
        ].map { Fixture.read($0) }
        var random = SeededRandom(seed: 7)
        var entries = 0
        for i in 0..<100_000 {
            // Other tests wait for this thread.
            if i % 1_000 == 0 { await Task.yield() }
            var record = seeds[i % seeds.count]
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let byte = UInt8.random(in: 0...255, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    record.key[Int.random(in: record.key.indices, using: &random)] = byte
                } else if let value = record.value {
                    record.value?[Int.random(in: value.indices, using: &random)] = byte
                }
            }
            if (try? ChangelogEntry(record)) != nil { entries += 1 }
        }
        #expect(entries > 1_000 && entries < 90_000)
    }
}
