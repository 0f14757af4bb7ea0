import Canonical
import Foundation
import Ports
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("What a worker really writes", .timeLimit(.minutes(2)))
struct WorkerRecordTests {
    static func trace(_ number: Int) -> String {
        "00-0af7651916cd43dd8448eb211c80319c-" + String(format: "%016x", number) + "-01"
    }

    @Test("Is as the schemas say, whatever became of a job, and goes on with the job's trace")
    func everything() async throws {
        let place = try Workplace()
        let urls = place.draw(2)
        let picture = Pixels.photograph(width: 60, height: 60, seed: 9).png
        place.origin.serve("/flaky.png", .status(503), .bytes(picture, type: "image/png"))
        place.origin.serve("/gone.png", .status(404))
        place.origin.serve("/broken.png", .status(503))
        let flaky = place.origin.url("/flaky.png")
        let gone = place.origin.url("/gone.png")
        let broken = place.origin.url("/broken.png")
        let wanted: [(url: String, variants: String, kind: OutcomeKind)] = [
            (urls[0], #""64x64.png""#, .stored), (urls[1], #""full.png""#, .stored),
            (flaky, #""48x48-q80.jpg""#, .stored),
            (gone, #""10x10.png""#, .failed), (broken, #""10x10.png""#, .dead), (urls[0], #""10x10.bmp""#, .dead),
        ]
        let later: [(url: String, variants: String, kind: OutcomeKind)] = [
            (urls[0], #""64x64.png""#, .unchanged), (urls[0], #""32x32.png""#, .reused),
        ]
        let first = try await place.publishTraced(wanted.map { ($0.url, $0.variants) }, from: 1)
        try await place.work("retry.attempts=2")
        let second = try await place.publishTraced(later.map { ($0.url, $0.variants) }, from: wanted.count + 1)
        try await place.work()

        var records = first + second
        for topic in [Topic.variants, .outcomes, .dead] { records += try await place.records(topic) }
        #expect(try await Validator.check(records) == [])
        let events = Set(records.compactMap { $0.header("ce_type") })
        #expect(
            events.isSuperset(
                of: [
                    "job.requested", "job.finished", "job.dead", "variant.stored", "source.fetched", "partition.owned",
                    "partition.progressed",
                ]
                .map { "mezzotint.\($0).v1" }), "\(events)")

        let outcomes = try await place.records(.outcomes)
        for (number, job) in (wanted + later).enumerated() {
            let own = try #require(outcomes.first { $0.header("ce_id") == "traced-\(number + 1)/outcome" })
            #expect(try OutcomeReport(own).kind == job.kind, "\(job)")
            #expect(own.header("traceparent") == Self.trace(number + 1), "\(job)")
        }
        #expect(
            Set(try await place.records(.dead).map { $0.header("traceparent") }) == [Self.trace(5), Self.trace(6)])
        let rows = try await place.records(.variants).filter {
            $0.header("ce_type")?.hasPrefix("mezzotint.partition.") == false
        }
        #expect(!rows.isEmpty && rows.allSatisfy { $0.header("traceparent") != nil })
        #expect(Set(rows.compactMap { $0.header("traceparent") }) == Set([1, 2, 3, 8].map(Self.trace)))
    }

    @Test("A parked job is as its schema says, with the job's trace, and so are its epoch row and its tombstone")
    func retry() async throws {
        let place = try Workplace()
        place.origin.serve("/broken.png", .status(503))
        _ = try await place.publishTraced([(place.origin.url("/broken.png"), #""10x10.png""#)], from: 7)
        let worker = try place.worker("retry.base=1h", "retry.cap=1h", untilIdle: false)
        await worker.says("503")
        try await eventually { try await place.parkedRows().count == 1 }
        worker.signal(15)
        #expect(try await worker.ended().status == 0)
        let records = try await place.records(.parked)
        #expect(records.filter { ParkedKey($0) != nil }.map { $0.header("traceparent") } == [Self.trace(7)])
        #expect(records.contains { RecordKey($0.key).map { if case .epoch = $0 { true } else { false } } ?? false })
        let drops = try await place.parkedRows().map { ParkedRow.drop($0.source, $0.identity, partition: PartitionID(0)) }
        #expect(try await Validator.check(records) == [])
        #expect(try await Validator.check(drops.map { $0.announced(in: 1) }) == [])
        // The owner's count of it.
        let progress = try await place.records(.variants)
        #expect(progress.contains { String(decoding: $0.value ?? [], as: UTF8.self).contains(#""parked":{"epoch":"#) })
        #expect(try await Validator.check(progress) == [])
    }

    @Test("Controls of the command, their outcomes, and a job that one moved are as their schemas say")
    func controls() async throws {
        let place = try Workplace()
        place.origin.serve("/broken.png", .status(503))
        let broken = place.origin.url("/broken.png")
        _ = try await place.publishTraced([(broken, #""10x10.png""#)], from: 9)
        let worker = try place.worker("retry.base=1h", "retry.cap=1h", untilIdle: false)
        try await eventually { try await place.parkedRows().count == 1 }
        #expect(try place.run("demote", broken, "--why", "scrolled away").status == 0)
        try await eventually { try await place.parkedRows().first?.isMoved == true }
        #expect(try await Validator.check(try await place.records(.parked).filter { $0.value != nil }) == [])
        let controls = try await place.records(.control)
        #expect(try place.run("cancel", "--job", "traced-9").status == 0)
        try await eventually { try await place.outcomes().map(\.kind) == [.cancelled] }
        worker.signal(15)
        #expect(try await worker.ended().status == 0)
        let records = try await controls + place.records(.control) + place.records(.outcomes)
        #expect(records.contains { $0.isOfControl })
        #expect(try await Validator.check(records) == [])
    }
}

extension Workplace {
    /// Jobs `traced-1` …, each with a trace of its own, as other producers write them; the records.
    fileprivate func publishTraced(_ jobs: [(url: String, variants: String)], from first: Int) async throws -> [Record]
    {
        let records = try jobs.enumerated().map { offset, job -> NewRecord in
            let number = first + offset
            let body = Array(#"{"url":"\#(job.url)","variants":[\#(job.variants)]}"#.utf8)
            let source = try CanonicalRules().source(of: job.url).key
            return NewRecord(
                topic: .jobsFast, partition: source.partition(of: 8), key: RecordKey.job(source).bytes, value: body,
                headers: [
                    RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", "traced-\(number)"),
                    RecordHeader("ce_source", "/test"), RecordHeader("ce_type", "mezzotint.job.requested.v1"),
                    RecordHeader("traceparent", WorkerRecordTests.trace(number)),
                ])
        }
        try await append(records)
        return try await self.records(.jobsFast).filter { $0.header("ce_id")?.hasPrefix("traced-") == true }
    }
}
