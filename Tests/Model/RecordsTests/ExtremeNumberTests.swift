import Canonical
import Clocks
import Failures
import ImageModel
import Records
import TestSupport
import Testing

/// Numbers that nobody of ours writes, at every field of a record that is a number: each is refused with a reason, or
/// bounded, and what is bounded can be reckoned with.
@Suite("Records: extreme numbers", .timeLimit(.minutes(1)))
struct ExtremeNumberTests {
    static let texts = [
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-1", "1e999",
        "340282366920938463463374607431768211456",
    ]
    static let place = "jobs.fast-3-17"

    private static func retry(_ name: String, _ text: String) -> Record {
        var headers: [RecordHeader] = RetryNote(
            job: "j", lane: .fast, attempt: 1, notBefore: 2, firstSeen: 3,
            cause: FailureNote(code: "fetch.status", message: "No.", verdict: .retry), origin: RecordOrigin(place)!
        ).newRecord(topic: .retry1m, key: [1], body: [], partition: Fixture.partition, at: 4).headers.filter {
            $0.name != name
        }
        headers.append(RecordHeader(name, text))
        return Fixture.record(.retry, value: [], headers: RecordHeaders(headers))
    }

    @Test("The note of a retry counts its attempts within reason, and its times are dates", arguments: texts)
    func retries(text: String) {
        let failure = #expect(throws: RecordFailure.self) { try RetryNote(Self.retry("mz_attempt", text)) }
        #expect(failure?.description.contains("from 0 to 1000000") == true)
        for name in ["mz_not_before", "mz_first_seen"] {
            guard let number = Int64(text) else {
                #expect(throws: RecordFailure.self) { try RetryNote(Self.retry(name, text)) }
                continue
            }
            let note = try? RetryNote(Self.retry(name, text))
            let bound: WallTime = number < 0 ? 0 : 253_402_300_799_999
            #expect((name == "mz_not_before" ? note?.notBefore : note?.firstSeen) == bound)
        }
    }

    @Test("A dead letter's counts are bounded", arguments: texts)
    func deadLetters(text: String) {
        let deadLetter = DeadLetter(
            of: Fixture.record(.jobsFast, value: [UInt8](repeating: 1, count: 70_000)), id: "j",
            cause: FailureNote(code: "job.too-large", message: "No.", verdict: .deadLetter), attempts: 0, url: nil,
            at: 1)
        for name in ["mz_attempt", "mz_length"] {
            let record = deadLetter.newRecord(partition: Fixture.partition)
            let headers = record.headers.filter { $0.name != name } + [RecordHeader(name, text)]
            #expect(throws: RecordFailure.self) {
                try DeadLetter(Fixture.record(.dead, value: record.value, headers: RecordHeaders(headers)))
            }
        }
    }

    @Test("A record's own time is a date, whatever a producer's clock says", arguments: [Int64.min, -1, .max])
    func timestamps(time: Int64) {
        let record = Record(
            topic: .jobsFast, partition: Fixture.partition, offset: 0, timestamp: WallTime(milliseconds: time), key: [], value: nil,
            headers: []
        )
        #expect(record.timestamp == (time < 0 ? 0 : 253_402_300_799_999))
    }

    @Test("An epoch that cannot be counted up is none", arguments: texts)
    func epochs(text: String) {
        let header = Fixture.record(.variants, value: nil, headers: [RecordHeader("mz_epoch", text)])
        #expect(header.epoch == nil)
        let body = "{\"epoch\":\(text),\"owner\":\"o\",\"clean\":true,\"at\":1}"
        #expect(throws: RecordFailure.self) {
            try ChangelogEntry(
                Fixture.record(.variants, value: Array(body.utf8), key: RecordKey.epoch(Fixture.partition).bytes))
        }
    }

    /// Fields of rows and outcomes, and whether a number of 64 bits is bounded rather than refused.
    static let fields: [(record: NewRecord, field: String, isBounded: Bool)] = {
        let variant = Fixture.variant.newRecord(partition: Fixture.partition)
        let source = Fixture.sourceRow.newRecord(partition: Fixture.partition)
        let outcome = Outcome(
            job: "j", source: Fixture.source, url: "http://a/", lane: .fast, kind: .stored,
            variants: [VariantOutcome(spec: Fixture.spec, kind: .stored, row: Fixture.variant)], at: 1
        ).newRecord(partition: Fixture.partition)
        let epoch = EpochRow(partition: Fixture.partition, epoch: 1, owner: "o", isClean: true, at: 1).newRecord()
        return ["width", "height", "bytes", "sourceWidth", "sourceHeight"].map { (variant, $0, false) }
            + ["storedAt", "expires"].map { (variant, $0, true) }
            + ["width", "height", "bytes"].map { (source, $0, false) }
            + ["fetchedAt", "expires"].map { (source, $0, true) }
            + [(outcome, "attempts", false), (outcome, "at", true), (outcome, "bytes", false), (epoch, "at", true)]
    }()

    @Test(
        "Rows, outcomes and marks refuse sides and sizes out of range, and bound their times", arguments: fields.indices
    )
    func rows(index: Int) throws {
        let (new, field, isBounded) = Self.fields[index]
        let body = Fixture.text(new.value)
        let start = try #require(body.firstRange(of: "\"\(field)\":")).upperBound
        let end = try #require(body[start...].firstIndex { !($0.isNumber || $0 == "-") })
        for text in Self.texts {
            var record = Fixture.read(new)
            record.value = Array((body[..<start] + text + body[end...]).utf8)
            let isRead: Bool
            do throws(RecordFailure) {
                if new.topic == .outcomes { _ = try OutcomeReport(record) } else { _ = try ChangelogEntry(record) }
                isRead = true
            } catch {
                isRead = false
            }
            #expect(isRead == (isBounded && Int64(text) != nil), "\(field): \(text)")
        }
    }

    @Test(
        "A row shows a rectangle that can be divided by",
        arguments: ["1e308", "-1e308", "1e-308", "0", "-2", "9223372036854775807", "4294967296"])
    func regions(number: String) throws {
        let new = Fixture.variant.newRecord(partition: Fixture.partition)
        let body = Fixture.text(new.value)
        let start = try #require(body.firstRange(of: "\"region\":")).upperBound
        let end = try #require(body[start...].firstIndex(of: "]"))
        for (place, name) in ["x", "y", "width", "height"].enumerated() {
            var sides = ["0", "0", "10", "10"]
            sides[place] = number
            var record = Fixture.read(new)
            record.value = Array((body[..<start] + "[" + sides.joined(separator: ",") + body[end...]).utf8)
            // A corner may be at nought.
            let isSound = place < 2 && Double(number).map { (-1...1).contains($0) } == true
            #expect(((try? ChangelogEntry(record)) != nil) == isSound, "\(name): \(number)")
        }
    }

    @Test("A job that expires at no date expires at the nearest", arguments: [Int64.max, .min])
    func expiry(number: Int64) throws {
        let body = #"{"url":"http://a.example/a.jpg","variants":["10x10.png"],"expires":"# + "\(number)}"
        let job = try Intake(rules: CanonicalRules()).job(from: Fixture.record(.jobsFast, value: Array(body.utf8)))
        #expect(job.expires == (number < 0 ? 0 : 253_402_300_799_999))
    }
}
