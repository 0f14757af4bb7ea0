internal import Clocks
internal import JSONText

/// Spans in the JSON of OTLP/HTTP. Unlike protobuf's own JSON, it has hexadecimal ids, and whole numbers as strings.
package struct SpanBatch: Sendable {
    private let resource: [(name: String, value: Span.Value)]
    private let spans: [Span]

    package init(_ spans: [Span], service: String, version: String, instance: String) {
        self.spans = spans
        resource = [
            ("service.name", .string(service)), ("service.version", .string(version)),
            ("service.instance.id", .string(instance)),
        ]
    }

    package var json: [UInt8] {
        var json = JSONWriter(reserving: 512 * (spans.count + 1))
        json.beginObject()
        json.key("resourceSpans")
        json.beginArray()
        json.beginObject()
        json.key("resource")
        json.beginObject()
        Self.write(resource, to: &json)
        json.endObject()
        json.key("scopeSpans")
        json.beginArray()
        json.beginObject()
        json.key("scope")
        json.beginObject()
        json.field("name", "mezzotint")
        json.endObject()
        json.key("spans")
        json.beginArray()
        for span in spans { Self.write(span, to: &json) }
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private static func write(_ span: Span, to json: inout JSONWriter) {
        json.beginObject()
        json.field("traceId", span.trace)
        json.field("spanId", span.id)
        if let parent = span.parent { json.field("parentSpanId", parent) }
        json.field("name", span.name)
        json.field("kind", span.kind.rawValue)
        json.field("startTimeUnixNano", "\(span.begin.nanoseconds)")
        json.field("endTimeUnixNano", "\(span.end.nanoseconds)")
        write(span.attributes, to: &json)
        if let failure = span.failure {
            json.key("status")
            json.beginObject()
            json.field("code", 2)
            json.field("message", PlainText.of(failure))
            json.endObject()
        }
        json.endObject()
    }

    private static func write(_ attributes: [(name: String, value: Span.Value)], to json: inout JSONWriter) {
        json.key("attributes")
        json.beginArray()
        for (name, value) in attributes {
            json.beginObject()
            json.field("key", name)
            json.key("value")
            json.beginObject()
            switch value {
            case .string(let text): json.field("stringValue", PlainText.of(text))
            case .int(let number): json.field("intValue", "\(number)")
            }
            json.endObject()
            json.endObject()
        }
        json.endArray()
    }
}
