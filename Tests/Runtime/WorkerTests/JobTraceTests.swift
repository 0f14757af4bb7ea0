import Canonical
import Clocks
import Failures
import ImageModel
import Jobs
import Partition
import Records
import Telemetry
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("A job's spans")
struct JobTraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private let record = Record(
        topic: .jobs(.fast), partition: PartitionID(3), offset: 17, timestamp: 1_000, key: [], value: [], headers: [])

    private func outcome(_ kind: OutcomeKind, _ failure: FailureNote? = nil) -> Disposition {
        .outcome(
            Outcome(
                job: "a", source: nil, url: "https://user:word@a.example/b.jpg?sig=secret", lane: .fast, kind: kind,
                variants: [], failure: failure, at: 2_000))
    }

    @Test("Its publisher's word counts before the share")
    func sampling() {
        let parent = "00-\(Self.trace)-00f067aa0ba902b7-0"
        #expect(JobTrace(record, job: "a", traceparent: parent + "1", share: 0) != nil)
        #expect(JobTrace(record, job: "a", traceparent: parent + "0", share: 1) == nil)
        #expect(JobTrace(record, job: "a", traceparent: nil, share: 1) != nil)
        #expect(JobTrace(record, job: "a", traceparent: "nonsense", share: 0) == nil)
    }

    @Test("It goes on below its publisher's span, from append to answer, with a span for each step")
    func spans() throws {
        let job = try #require(
            JobTrace(record, job: "a", traceparent: "00-\(Self.trace)-00f067aa0ba902b7-01", share: 0))
        // The monotonic clock stands at 500 ms when it is 2,000 ms on the wall.
        let steps = [
            Step(.fetch, begin: 100, end: 200),
            Step(.render([.webp]), begin: 250, end: 400),
        ]
        let spans = job.spans(outcome(.stored), steps: steps, at: Moment(wall: 2_000, monotonic: 500))
        #expect(spans.map(\.name) == ["job", "fetch", "render"])
        #expect(spans.map(\.kind) == [.consumer, .client, .internal])
        #expect(spans.allSatisfy { $0.trace == Self.trace && $0.failure == nil })
        #expect(spans.map(\.parent) == ["00f067aa0ba902b7", spans[0].id, spans[0].id])
        #expect(Set(spans.map(\.id)).count == 3)
        #expect(spans.map(\.begin) == [1_000, 1_600, 1_750])
        #expect(spans.map(\.end) == [2_000, 1_700, 1_900])
        let waited = spans[0].attributes.first { $0.name == "mezzotint.waited_ms" }
        #expect(waited?.value == .int(600))
    }

    @Test("Whatever time its record tells, a span begins by its end")
    func times() throws {
        for timestamp in [WallTime.distantPast, .epoch, .distantFuture] {
            let record = Record(
                topic: .jobs(.fast), partition: PartitionID(3), offset: 17, timestamp: timestamp, key: [], value: [],
                headers: [])
            let span = try #require(JobTrace(record, job: "a", traceparent: nil, share: 1)).spans(
                outcome(.stored), steps: [Step(.fetch, begin: 0, end: 1)], at: Moment(wall: 2_000, monotonic: 1))[0]
            #expect(span.begin == (timestamp > .epoch ? 2_000 : 0) && span.end == 2_000)
        }
    }

    @Test("A replay repeats its ids; another try of the job is another span of the same trace")
    func ids() throws {
        var other = record
        (other.topic, other.offset) = (.retry1m, 2)
        let spans = try [record, record, other].map { record in
            try #require(JobTrace(record, job: "a", traceparent: nil, share: 1)).spans(
                outcome(.unchanged), steps: [], at: Moment(wall: 0, monotonic: 0))[0]
        }
        #expect(spans[0].id == spans[1].id && spans[0].id != spans[2].id)
        #expect(Set(spans.map(\.trace)).count == 1 && spans.allSatisfy { $0.parent == nil })
    }

    @Test("What failed says so, and no secret of its URL is told")
    func failed() throws {
        let note = FailureNote(code: "fetch.not-found", message: "The origin answered 404.", verdict: .fail)
        let span = try #require(JobTrace(record, job: "a", traceparent: nil, share: 1)).spans(
            outcome(.failed, note), steps: [], at: Moment(wall: 0, monotonic: 0))[0]
        #expect(span.failure == "The origin answered 404.")
        #expect(span.attributes.contains { $0.name == "error.type" && $0.value == .string("fetch.not-found") })
        #expect(!"\(span.attributes)".contains("secret") && !"\(span.attributes)".contains("word"))
    }
}
