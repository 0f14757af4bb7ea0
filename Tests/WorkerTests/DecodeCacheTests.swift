import Canonical
import Records
import Testing

@testable import WorkerRuntime

@Suite("Jobs' bytes, read once where they are the same")
struct DecodeCacheTests {
    private let intake = Intake(rules: CanonicalRules())

    private func record(_ body: String, at offset: Int64, id: String? = nil, topic: Topic = .jobsFast) -> Record {
        Record(
            topic: topic, partition: PartitionID(0), offset: offset, timestamp: 1, key: [], value: Array(body.utf8),
            headers: id.map { [RecordHeader("ce_id", $0)] } ?? [])
    }

    @Test("What is shared is what another read would give, however many jobs came between")
    func same() throws {
        let body = #"{"url":"http://o/a.jpg?b=2&a=1","variants":["8x8-q80.webp","4x4.png"],"expires":9}"#
        let named = #"{"url":"http://o/a.jpg","variants":["8x8-q80.webp"],"id":"mine"}"#
        var readings = DecodeCache()
        for round in 0..<1_000 {
            let others = #"{"url":"http://o/\#(round).jpg","variants":["8x8-q80.webp"]}"#
            for record in [
                record(body, at: Int64(round), id: "job-\(round)"), record(body, at: Int64(round), topic: .jobsSlow),
                record(named, at: Int64(round)), record(others, at: Int64(round)),
            ] { #expect(try readings.job(of: record, by: intake) == intake.job(from: record)) }
        }
    }

    @Test("What is no job is refused each time")
    func refused() {
        var readings = DecodeCache()
        for body in [#"{"url":5}"#, #"{"url":"http://o/a.jpg","variants":[]}"#, "", String(repeating: " ", count: 2_000)] {
            for _ in 0..<2 { #expect(throws: JobFailure.self) { try readings.job(of: record(body, at: 0), by: intake) } }
        }
        let bad = record(#"{"url":"http://o/a.jpg","variants":["8x8-q80.webp"]}"#, at: 0, id: "a\u{1}")
        for _ in 0..<2 { #expect(throws: JobFailure.self) { try readings.job(of: bad, by: intake) } }
    }
}
