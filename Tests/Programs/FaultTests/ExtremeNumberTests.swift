import Canonical
import Failures
import Foundation
import Glibc
import ImageModel
import Records
import TestSupport
import TestWorkplace
import Testing
import VariantSpec

@Suite(
    "A record with a number that nobody writes ends no worker, and costs nothing but itself", .timeLimit(.minutes(3)))
struct ExtremeNumberTests {
    static let numbers = ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "-1"]

    /// A retry of a job, as a worker writes it, with one header of another text.
    private static func retry(
        _ place: Workplace, _ url: String, id: String, _ header: String = "", _ text: String = ""
    ) throws -> NewRecord {
        let spec = try VariantSpec("24x24-q80.webp")
        let job = try Intake(rules: CanonicalRules()).job(url: url, variants: [spec], id: id, lane: .fast)
        let note = RetryNote(
            job: id, lane: .fast, attempt: 1, notBefore: 0, firstSeen: 1,
            cause: FailureNote(code: "fetch.status", message: "No.", verdict: .retry),
            origin: RecordOrigin(topic: .jobsFast, partition: PartitionID(0), offset: 1))
        var record = note.newRecord(
            topic: .retry, key: RecordKey.job(job.source).bytes, body: job.body, partition: job.source.partition(of: 8),
            at: 1)
        guard !header.isEmpty else { return record }
        record.headers = RecordHeaders(record.headers.filter { $0.name != header } + [RecordHeader(header, text)])
        return record
    }

    @Test("Retries: counts out of range are dead letters, times are bounded", arguments: numbers)
    func retries(number: String) async throws {
        let place = try Workplace("retry.attempts=2")
        let urls = place.draw(6)
        place.origin.serve("/down.png", .status(503))
        let isNumber = Int64(number) != nil
        var records = [
            try Self.retry(place, place.origin.url("/down.png?1"), id: "attempt", "mz_attempt", number),
            try Self.retry(place, urls[1], id: "seen", "mz_first_seen", number),
            try Self.retry(place, place.origin.url("/down.png"), id: "down", "mz_attempt", "1000000"),
        ]
        // The furthest would be waited for, a day: another test.
        if number.hasPrefix("-") {
            records.append(try Self.retry(place, urls[2], id: "before", "mz_not_before", number))
        }
        try await place.append(records)
        try place.publish(urls[3...].map { ($0, ["24x24-q80.webp"], .fast) })
        let summary = try await place.work()
        #expect(summary["jobs"] == records.count + 3)
        let outcomes = try await place.outcomes()
        func outcome(_ id: String) -> OutcomeReport? { outcomes.first { $0.job == id } }
        #expect(outcome("attempt")?.kind == .dead && outcome("attempt")?.failure?.code == "record.header")
        #expect(outcome("attempt")?.failure?.message.contains("from 0 to 1000000") == true)
        #expect(outcome("seen")?.kind == (isNumber ? .stored : .dead))
        #expect(outcome("down")?.kind == .dead && outcome("down")?.failure?.code == "fetch.server-error")
        if number.hasPrefix("-") { #expect(outcome("before")?.kind == .stored) }
        #expect(outcomes.count { $0.job.hasPrefix("job-") && $0.kind == .stored } == 3)
        let deadLetters = try await place.records(.dead).map { try DeadLetter($0) }
        #expect(deadLetters.first { $0.id == "down" }?.attempts == 1_000_001)
        // Nothing of it trips a person's tools either.
        for words in [["dead", "list"], ["lag"], ["variants", urls[3]]] { #expect(try place.run(words).status == 0) }
    }

    @Test("A retry that is due at the end of time holds nobody up")
    func far() async throws {
        let place = try Workplace()
        let urls = place.draw(2)
        try await place.append([try Self.retry(place, urls[0], id: "far", "mz_not_before", Self.numbers[0])])
        let worker = try place.worker(untilIdle: false)
        try place.publish([(urls[1], ["24x24-q80.webp"], .fast)])
        while try await place.outcomes().isEmpty {
            try #require(worker.isRunning, "\(worker.errors)")
            await Task.yield()
        }
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
        #expect(try await place.outcomes().map(\.kind) == [.stored])
    }

    @Test("Jobs: when they expire is bounded", arguments: numbers)
    func expiry(number: String) async throws {
        let place = try Workplace()
        let url = place.draw(1)[0]
        let body = "{\"url\":\"\(url)\",\"variants\":[\"24x24-q80.webp\"],\"expires\":\(number)}"
        try await place.append([
            NewRecord(topic: .jobsFast, partition: PartitionID(0), key: [1], value: Array(body.utf8))
        ])
        try await place.work()
        let kind: OutcomeKind = Int64(number) == nil ? .dead : number.hasPrefix("-") ? .expired : .stored
        #expect(try await place.outcomes().map(\.kind) == [kind])
    }

    @Test("Rows and marks of the changelog: what cannot be is left out, and later rows still count", arguments: numbers)
    func rows(number: String) async throws {
        let place = try Workplace("log.partitions=1")
        let urls = place.draw(2)
        try place.publish([(urls[0], ["24x24-q80.webp"], .fast)])
        try await place.work()
        let rows = try await place.records(.variants)
        var bad: [NewRecord] = []
        for row in rows {
            let body = String(decoding: row.value ?? [], as: UTF8.self)
            let places = body.ranges(of: /[:,\[]-?[0-9.]+(?=[,\]}])/)
            for range in places {
                let value = body[..<body.index(after: range.lowerBound)] + number + body[range.upperBound...]
                bad.append(
                    NewRecord(
                        topic: .variants, partition: row.partition, key: row.key, value: Array(value.utf8),
                        headers: row.headers))
            }
            let headers = RecordHeaders(
                row.headers.filter { $0.name != "mz_epoch" } + [RecordHeader("mz_epoch", number)])
            bad.append(
                NewRecord(topic: .variants, partition: row.partition, key: row.key, value: row.value, headers: headers))
        }
        #expect(bad.count > 20)
        try await place.append(bad)
        try place.publish([(urls[0], ["16x16-q80.webp"], .fast), (urls[1], ["24x24-q80.webp"], .fast)], id: "later")
        #expect(try await place.work()["jobs"] == 2)
        // A row of today's owner counts behind all of them.
        try place.publish([(urls[1], ["24x24-q80.webp"], .fast)], id: "again")
        #expect(try await place.work()["unchanged"] == 1)
        #expect(try await place.outcomes().allSatisfy { $0.failure == nil })
        #expect(try place.run("variants", urls[0]).status == 0)
    }
}
