package import Canonical
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

    package func newRecord(partition: PartitionID, traceparent: String?) -> NewRecord {
        var json = JSONWriter(reserving: 256 + 256 * variants.count)
        json.beginObject()
        json.key("source")
        json.hex(source.digest)
        json.field("url", url)
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
        json.endObject()
        return NewRecord(
            topic: .events, partition: partition, key: RecordKey.job(source).bytes, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.sourceChanged, id: "\(source.hex)/changed/\(from)-\(to)-\(known)", at: at,
                traceparent: traceparent))
    }
}
