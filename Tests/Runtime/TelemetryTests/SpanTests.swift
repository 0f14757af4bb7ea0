import Foundation
import Telemetry
import Testing

@Suite("Traces as values")
struct SpanTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test("A traceparent names trace, parent and whether it is sampled")
    func context() throws {
        let sampled = try #require(TraceContext("00-\(Self.trace)-00f067aa0ba902b7-01"))
        #expect(sampled == TraceContext(trace: Self.trace, parent: "00f067aa0ba902b7", isSampled: true))
        #expect(TraceContext("00-\(Self.trace)-00f067aa0ba902b7-00")?.isSampled == false)
    }

    @Test(
        "An invalid traceparent is ignored",
        arguments: [
            "", "00", "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ])
    func none(text: String) { #expect(TraceContext(text) == nil) }

    @Test("A share of traces is that share of all")
    func share() {
        let traces = (0..<4_000).map { number in
            String(format: "%032lx", UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
        }
        let sampled = traces.count { TraceContext.isSampled($0, share: 0.25) }
        #expect((900...1_100).contains(sampled))
        #expect(traces.allSatisfy { TraceContext.isSampled($0, share: 1) && !TraceContext.isSampled($0, share: 0) })
    }

    @Test("A batch is OTLP in JSON: ids as digits, whole numbers as text, a failure as a status")
    func batch() throws {
        let span = Span(
            trace: Self.trace, id: "00f067aa0ba902b7", parent: nil, name: "job", kind: .consumer,
            begin: .nanoseconds(17), end: .nanoseconds(12),
            attributes: [("a", .string("\u{1b}\"é")), ("n", .int(-4))], failure: "It \"broke\".")
        let json = SpanBatch([span], service: "s", version: "1", instance: "i").json
        let read = try JSONSerialization.jsonObject(with: Data(json)) as? NSDictionary
        let wanted =
            try JSONSerialization.jsonObject(
                with: Data(
                    """
                    {"resourceSpans":[{"resource":{"attributes":[
                    {"key":"service.name","value":{"stringValue":"s"}},
                    {"key":"service.version","value":{"stringValue":"1"}},
                    {"key":"service.instance.id","value":{"stringValue":"i"}}]},
                    "scopeSpans":[{"scope":{"name":"mezzotint"},"spans":[
                    {"traceId":"\(Self.trace)","spanId":"00f067aa0ba902b7","name":"job","kind":5,
                    "startTimeUnixNano":"17","endTimeUnixNano":"17","attributes":[
                    {"key":"a","value":{"stringValue":"\\\\u001b\\"é"}},{"key":"n","value":{"intValue":"-4"}}],
                    "status":{"code":2,"message":"It \\"broke\\"."}}]}]}]}
                    """.utf8)) as? NSDictionary
        #expect(read == wanted)
    }
}
