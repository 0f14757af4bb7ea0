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
        json.object { json in
            json.objects("resourceSpans", CollectionOfOne(resource)) { json, resource in
                json.object("resource") { Self.write(resource, to: &$0) }
                json.objects("scopeSpans", CollectionOfOne(spans)) { json, spans in
                    json.object("scope") { $0.field("name", "mezzotint") }
                    json.objects("spans", spans) { Self.write($1, to: &$0) }
                }
            }
        }
        return json.bytes
    }

    private static func write(_ span: Span, to json: inout JSONWriter) {
        json.field("traceId", span.trace)
        json.field("spanId", span.id)
        if let parent = span.parent { json.field("parentSpanId", parent) }
        json.field("name", span.name)
        json.field("kind", span.kind.rawValue)
        json.field("startTimeUnixNano", "\(span.begin.nanoseconds)")
        json.field("endTimeUnixNano", "\(span.end.nanoseconds)")
        write(span.attributes, to: &json)
        if let failure = span.failure {
            json.object("status") { json in
                json.field("code", 2)
                json.field("message", PlainText.of(failure))
            }
        }
    }

    private static func write(_ attributes: [(name: String, value: Span.Value)], to json: inout JSONWriter) {
        json.objects("attributes", attributes) { json, attribute in
            json.field("key", attribute.name)
            json.object("value") { json in
                switch attribute.value {
                case .string(let text): json.field("stringValue", PlainText.of(text))
                case .int(let number): json.field("intValue", "\(number)")
                }
            }
        }
    }
}
