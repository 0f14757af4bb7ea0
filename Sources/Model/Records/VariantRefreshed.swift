internal import Canonical
internal import Clocks
package import ImageModel
internal import JSONText
internal import VariantSpec

extension Outcome {
    /// Of a job that was owed: the events that what others were answered with while their origin failed is fresh again. Their
    /// ids follow from the rows: two owners may have owed for the same.
    package func refreshed(partition: PartitionID) -> [NewRecord] {
        guard let source else { return [] }
        return variants.compactMap { variant in
            guard let row = variant.row else { return nil }
            var json = JSONWriter(reserving: 512)
            json.beginObject()
            json.key("source")
            json.hex(source.digest)
            json.field("url", url.fetched)
            json.key("spec")
            json.spec(row.spec)
            json.key("version")
            json.hex(row.version.word)
            json.field("location", row.location)
            json.field("at", at)
            json.endObject()
            return NewRecord(
                topic: .events, partition: partition, key: RecordKey.job(source).bytes, value: json.bytes,
                headers: EventHeader.event(
                    EventHeader.variantRefreshed,
                    id: "\(source.hex)/refreshed/\(row.version)-\(row.expires.milliseconds)/\(row.spec)",
                    at: at, traceparent: traceparent))
        }
    }
}

extension Job {
    /// Of jobs that workers publish: what was answered by something stale is asked for again.
    package static let owedPrefix = "mezzotint.owed/"
    /// The same where its origin lets that be (`stale-while-revalidate`).
    package static let refreshPrefix = "mezzotint.refresh/"

    /// What ids of workers' own jobs begin with: a publisher's may not.
    package static let reservedPrefix = "mezzotint."

    /// A source has other bytes, and not all that was stored of it is made anew.
    package static let changePrefix = "mezzotint.change/"

    package var isOwn: Bool { isOwed || isRefresh || isChange }
    package var isRefresh: Bool { id.hasPrefix(Self.refreshPrefix) }
    package var isChange: Bool { id.hasPrefix(Self.changePrefix) }
    package var isOwed: Bool { id.hasPrefix(Self.owedPrefix) }
}
