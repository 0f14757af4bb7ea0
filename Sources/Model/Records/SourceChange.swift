package import Canonical
package import Clocks
internal import Digest
package import ImageModel
internal import JSONText
package import VariantSpec

/// Change of a source's bytes: the variants that were stored before, and the events that report the new ones.
package struct SourceChange: Sendable, Hashable {
    /// A variant that was stored when the change was found.
    package struct Stored: Sendable, Hashable {
        package let spec: VariantSpec
        /// Path relative to the store's root.
        package let location: String

        package init(_ row: VariantRow) { (spec, location) = (row.spec, row.location) }
    }

    /// A variant whose bytes have changed.
    package struct Variant: Sendable, Hashable {
        package let spec: VariantSpec
        package let location: String
        /// Previous path.
        package let replaces: String
    }

    package let source: SourceKey
    package let url: String
    package let from: SourceVersion
    package let to: SourceVersion
    package let at: WallTime
    /// Time at which the previous version was fetched or last confirmed. It makes ids stable and distinct. An owner
    /// that finds the same change after a crash reports it with the same id. Bytes that change back and forth give
    /// different ids.
    private let known: WallTime
    package private(set) var stored: [Stored]

    package init(from old: SourceRow, to row: SourceRow, stored: [Stored]) {
        (source, url, from, to, at) = (row.source, row.url, old.version, row.version, row.fetchedAt)
        (known, self.stored) = (old.fetchedAt, stored)
    }

    /// Common part of the ids of its events, and of the jobs that re-render the other variants.
    package var id: String { "\(from)-\(to)-\(known.milliseconds)" }

    /// Adds stored variants of another change, or of another part of this one, so that they are reported together.
    package mutating func add(_ more: [Stored]) {
        let known = Set(stored)
        stored += more.filter { !known.contains($0) }
    }

    /// Stored variants whose path differs in these rows, whichever job rendered them. If a spec has two rows, the last
    /// one counts.
    package func variants(by rows: [VariantRow]) -> [Variant] {
        let places = Dictionary(rows.map { ($0.spec, $0.location) }) { _, last in last }
        return stored.compactMap { stored in
            guard let place = places[stored.spec], place != stored.location else { return nil }
            return Variant(spec: stored.spec, location: place, replaces: stored.location)
        }
    }

    /// Id of the job whose record has the header. The id is signed and the header is not, so the id contains a digest
    /// of the header to protect it.
    package static func id(_ id: String, telling header: RecordHeader) -> String { id + mark(of: header.value) }

    private static func mark(of header: [UInt8]) -> String { "-\(SHA256.digest(of: header).hex)" }

    /// One event, or several if there are many variants. The id is derived from the content: a repeated event has the
    /// same id, and an event with more variants has another.
    package func newRecords(_ variants: [Variant], partition: PartitionID, traceparent: String?) -> [NewRecord] {
        variants.parts(of: Self.eventLimit).map { part in
            var json = JSONWriter(reserving: 256 + 384 * part.count)
            json.beginObject()
            json.key("source")
            json.hex(source.digest)
            json.field("url", url)
            writeVersions(to: &json)
            json.objects("variants", part) { json, variant in
                json.key("spec")
                json.spec(variant.spec)
                json.field("location", variant.location)
                json.field("replaces", variant.replaces)
            }
            json.endObject()
            let told = part.flatMap { Array("\($0.location) \($0.replaces)\n".utf8) }
            return NewRecord(
                topic: .events, partition: partition, key: RecordKey.job(source).bytes, value: json.bytes,
                headers: EventHeader.event(
                    EventHeader.sourceChanged,
                    id: "\(source.hex)/changed/\(id)/\(SourceVersion(SHA256.digest(of: told)))", at: at,
                    traceparent: traceparent))
        }
    }
    private static let eventLimit = 128

    /// Headers of the jobs that re-render the other variants, one for each part, without source and URL, which the job
    /// has.
    package var headers: [RecordHeader] {
        stored.parts(of: Self.headerLimit).map { part in
            var json = JSONWriter(reserving: 256 + 256 * part.count)
            json.beginObject()
            json.field("known", known)
            writeVersions(to: &json)
            json.objects("stored", part) { json, stored in
                json.key("spec")
                json.spec(stored.spec)
                json.field("location", stored.location)
            }
            json.endObject()
            return RecordHeader(EventHeader.change, json.bytes)
        }
    }
    private static let headerLimit = 64

    private func writeVersions(to json: inout JSONWriter) {
        json.key("from")
        json.hex(from.word)
        json.key("to")
        json.hex(to.word)
        json.field("at", at)
    }

    /// nil if the record has no change, an unreadable one, or another one than the job was created with.
    package init?(of job: Job, in record: Record) {
        guard job.isChange, let bytes = record.headers[EventHeader.change], job.id.hasSuffix(Self.mark(of: bytes))
        else {
            return nil
        }
        let read = try? JSONReader.read(bytes) { (reader) throws(JSONFailure) -> SourceChange in
            var (from, to): (SourceVersion?, SourceVersion?)
            var (at, known): (WallTime?, WallTime?)
            var stored: [Stored] = []
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "from": from = try reader.version()
                case "to": to = try reader.version()
                case "at": at = try reader.time()
                case "known": known = try reader.time()
                // `variants` was written by earlier programs, with the variants re-rendered by then.
                case "stored", "variants":
                    try reader.openArray()
                    while try reader.nextElement() { stored.append(try Stored(&reader)) }
                default: try reader.skip()
                }
            }
            return SourceChange(
                source: job.source, url: job.url.fetched, from: try from.field("from"), to: try to.field("to"),
                at: try at.field("at"), known: try known.field("known"), stored: stored)
        }
        guard let read else { return nil }
        self = read
    }

    private init(
        source: SourceKey, url: String, from: SourceVersion, to: SourceVersion, at: WallTime, known: WallTime,
        stored: [Stored]
    ) {
        (self.source, self.url, self.from, self.to) = (source, url, from, to)
        (self.at, self.known, self.stored) = (at, known, stored)
    }
}

extension SourceChange.Stored {
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
        (self.spec, self.location) = (try spec.field("spec"), try (replaces ?? location).field("location"))
    }
}

extension Array {
    fileprivate func parts(of limit: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: limit).map { self[$0..<Swift.min($0 + limit, count)] }
    }
}
