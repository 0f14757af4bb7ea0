package import Canonical
internal import Digest
package import ImageModel
internal import JSONText
package import VariantSpec

/// The event that a source has other bytes than before, and what that changed of what was stored.
package struct SourceChange: Sendable, Hashable {
    package struct Variant: Sendable, Hashable {
        package let spec: VariantSpec
        /// Relative to the store's root.
        package let location: String
        /// What it takes the place of.
        package let replaces: String

        package init(_ row: VariantRow, replacing old: VariantRow) {
            (spec, location, replaces) = (row.spec, row.location, old.location)
        }
    }

    package let source: SourceKey
    package let url: String
    package let from: SourceVersion
    package let to: SourceVersion
    /// Milliseconds since 1970.
    package let at: Int64
    /// When what was stored was fetched, or last confirmed: an owner that finds the same change after a kill tells it by the
    /// same id, and the same bytes that come and go again are changes of their own.
    private let known: Int64
    /// Those whose bytes are others now.
    package var variants: [Variant]

    package init(from old: SourceRow, to row: SourceRow, variants: [Variant] = []) {
        (source, url, from, to, at) = (row.source, row.url, old.version, row.version, row.fetchedAt)
        (known, self.variants) = (old.fetchedAt, variants)
    }

    /// What its event and the id of what remakes the rest have in common.
    package var id: String { "\(from)-\(to)-\(known)" }

    package func newRecord(partition: PartitionID, traceparent: String?) -> NewRecord {
        var json = JSONWriter(reserving: 256 + 256 * variants.count)
        json.beginObject()
        json.key("source")
        json.hex(source.digest)
        json.field("url", url)
        write(variants[...], to: &json)
        json.endObject()
        return NewRecord(
            topic: .events, partition: partition, key: RecordKey.job(source).bytes, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.sourceChanged, id: "\(source.hex)/changed/\(id)", at: at, traceparent: traceparent))
    }

    /// For the record of the job that remakes the rest: without source and URL, which are the job's.
    package var header: RecordHeader {
        var json = JSONWriter(reserving: 4_096)
        json.beginObject()
        json.field("known", known)
        write(variants.prefix(Self.headerLimit), to: &json)
        json.endObject()
        return RecordHeader(EventHeader.change, json.bytes)
    }
    private static let headerLimit = 32

    /// The id of the job whose record has the header. An id is signed, and headers are not: so nobody can put another one there.
    package static func id(_ id: String, telling header: RecordHeader) -> String { id + mark(of: header.value) }

    private static func mark(of header: [UInt8]) -> String { "-\(SHA256.digest(of: header).hex)" }

    private func write(_ variants: ArraySlice<Variant>, to json: inout JSONWriter) {
        json.key("from")
        json.hex(from.word)
        json.key("to")
        json.hex(to.word)
        json.field("at", at)
        json.key("variants")
        json.beginArray()
        for variant in variants {
            json.beginObject()
            json.key("spec")
            json.spec(variant.spec)
            json.field("location", variant.location)
            json.field("replaces", variant.replaces)
            json.endObject()
        }
        json.endArray()
    }

    /// nil if the record has none, one that cannot be read, or another one than the job was made with.
    package init?(of job: Job, in record: Record) {
        guard job.isChange, let bytes = record.headers[EventHeader.change], job.id.hasSuffix(Self.mark(of: bytes))
        else {
            return nil
        }
        let read = try? JSONReader.read(bytes) { (reader) throws(JSONFailure) -> SourceChange in
            var (from, to): (SourceVersion?, SourceVersion?)
            var (at, known): (Int64?, Int64?)
            var variants: [Variant] = []
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "from": from = try reader.version()
                case "to": to = try reader.version()
                case "at": at = try reader.time()
                case "known": known = try reader.time()
                case "variants":
                    try reader.openArray()
                    while try reader.nextElement() { variants.append(try Variant(&reader)) }
                default: try reader.skip()
                }
            }
            return SourceChange(
                source: job.source, url: job.url.fetched, from: try from.field("from"), to: try to.field("to"),
                at: try at.field("at"), known: try known.field("known"), variants: variants)
        }
        guard let read else { return nil }
        self = read
    }

    private init(
        source: SourceKey, url: String, from: SourceVersion, to: SourceVersion, at: Int64, known: Int64,
        variants: [Variant]
    ) {
        (self.source, self.url, self.from, self.to) = (source, url, from, to)
        (self.at, self.known, self.variants) = (at, known, variants)
    }
}

extension SourceChange.Variant {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var (location, replaces): (String?, String?)
        var spec: VariantSpec?
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key {
            case "spec": spec = try reader.spec()
            case "location": location = try reader.string()
            case "replaces": replaces = try reader.string()
            default: try reader.skip()
            }
        }
        (self.spec, self.location) = (try spec.field("spec"), try location.field("location"))
        self.replaces = try replaces.field("replaces")
    }
}
