package import Canonical
package import Clocks
internal import Digest
package import ImageModel
internal import JSONText
package import VariantSpec

/// A source has other bytes than before: what stood then, and the events that tell what of it has changed.
package struct SourceChange: Sendable, Hashable {
    /// A variant that stood when the change was found.
    package struct Stored: Sendable, Hashable {
        package let spec: VariantSpec
        /// Relative to the store's root.
        package let location: String

        package init(_ row: VariantRow) { (spec, location) = (row.spec, row.location) }
    }

    /// A variant whose bytes are others now.
    package struct Variant: Sendable, Hashable {
        package let spec: VariantSpec
        package let location: String
        /// Where it stood.
        package let replaces: String
    }

    package let source: SourceKey
    package let url: String
    package let from: SourceVersion
    package let to: SourceVersion
    package let at: WallTime
    /// When what was stored was fetched, or last confirmed: an owner that finds the same change after a kill tells it by the
    /// same id, and the same bytes that come and go again are changes of their own.
    private let known: WallTime
    package private(set) var stored: [Stored]

    package init(from old: SourceRow, to row: SourceRow, stored: [Stored]) {
        (source, url, from, to, at) = (row.source, row.url, old.version, row.version, row.fetchedAt)
        (known, self.stored) = (old.fetchedAt, stored)
    }

    /// What its events and the ids of what remakes the rest have in common.
    package var id: String { "\(from)-\(to)-\(known.milliseconds)" }

    /// What stood for another change, or another part of this one, is told with it.
    package mutating func add(_ more: [Stored]) {
        let known = Set(stored)
        stored += more.filter { !known.contains($0) }
    }

    /// Those that stand elsewhere by these rows: of two rows of a spec the last one counts. Whoever made them anew, and for
    /// whatever job.
    package func variants(by rows: [VariantRow]) -> [Variant] {
        let places = Dictionary(rows.map { ($0.spec, $0.location) }) { _, last in last }
        return stored.compactMap { stored in
            guard let place = places[stored.spec], place != stored.location else { return nil }
            return Variant(spec: stored.spec, location: place, replaces: stored.location)
        }
    }

    /// The id of the job whose record has the header. An id is signed, and headers are not: so nobody can put another one there.
    package static func id(_ id: String, telling header: RecordHeader) -> String { id + mark(of: header.value) }

    private static func mark(of header: [UInt8]) -> String { "-\(SHA256.digest(of: header).hex)" }

    /// An event, or several where there are many variants. Its id follows from what it says: one that is told twice has the
    /// same id, and one that has more to tell another.
    package func newRecords(_ variants: [Variant], partition: PartitionID, traceparent: String?) -> [NewRecord] {
        variants.parts(of: Self.eventLimit).map { part in
            var json = JSONWriter(reserving: 256 + 384 * part.count)
            json.beginObject()
            json.key("source")
            json.hex(source.digest)
            json.field("url", url)
            writeVersions(to: &json)
            json.key("variants")
            json.beginArray()
            for variant in part {
                json.beginObject()
                json.key("spec")
                json.spec(variant.spec)
                json.field("location", variant.location)
                json.field("replaces", variant.replaces)
                json.endObject()
            }
            json.endArray()
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

    /// For the records of the jobs that see to the rest, one for each part: without source and URL, which are the job's.
    package var headers: [RecordHeader] {
        stored.parts(of: Self.headerLimit).map { part in
            var json = JSONWriter(reserving: 256 + 256 * part.count)
            json.beginObject()
            json.field("known", known)
            writeVersions(to: &json)
            json.key("stored")
            json.beginArray()
            for stored in part {
                json.beginObject()
                json.key("spec")
                json.spec(stored.spec)
                json.field("location", stored.location)
                json.endObject()
            }
            json.endArray()
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

    /// nil if the record has none, one that cannot be read, or another one than the job was made with.
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
                // Of earlier programs: those that were made anew by then.
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
