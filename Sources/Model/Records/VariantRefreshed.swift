internal import Canonical
internal import Clocks
package import ImageModel
internal import JSONText
internal import VariantSpec

extension Outcome {
    /// Events of a pending refresh: each of these variants completed other jobs while its origin failed, and is fresh
    /// again.
    ///
    /// Their ids are derived from the rows, because two owners may have the same refresh pending.
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
    /// Id prefix of the workers' own jobs that refresh variants which completed a job although they were stale.
    package static let staleRefreshPrefix = "mezzotint.owed/"
    /// Id prefix of such jobs if the origin allows the stale variants (`stale-while-revalidate`).
    package static let refreshPrefix = "mezzotint.refresh/"

    /// Id prefix of all jobs of the workers' own. Publishers must not use it.
    package static let reservedPrefix = "mezzotint."

    /// Id prefix of the workers' own jobs that re-render the stored variants of a changed source.
    package static let changePrefix = "mezzotint.change/"

    package var isOwn: Bool { isStaleRefresh || isRefresh || isChange }
    package var isRefresh: Bool { id.hasPrefix(Self.refreshPrefix) }
    package var isChange: Bool { id.hasPrefix(Self.changePrefix) }
    package var isStaleRefresh: Bool { id.hasPrefix(Self.staleRefreshPrefix) }
}
