package import Canonical
package import Clocks
package import VariantSpec

/// One request of an upstream service: this source, these variants.
package struct Job: Sendable, Hashable {
    /// Unique to the intent; a redelivery repeats it. `ce_id` of the record, or the record's place in the log.
    package var id: String
    /// As received, less the fragment: what is fetched, never re-serialised.
    package var url: SourceURL
    package var source: SourceKey
    /// Without repeats, in the order asked; never empty.
    package var variants: [VariantSpec]
    package var lane: Lane
    /// nil if the job never expires.
    package var expires: WallTime?
    /// It is given up once its origin has been at fault for so long; nil: as the settings say.
    package var giveUp: Duration?
    package var freshness: JobFreshness
    package var fallback: JobFallback
    /// W3C trace context, passed through.
    package var traceparent: String?

    package init(
        id: String, url: SourceURL, source: SourceKey, variants: [VariantSpec], lane: Lane, expires: WallTime? = nil,
        giveUp: Duration? = nil, freshness: JobFreshness = .ifStale, fallback: JobFallback = .stale,
        traceparent: String? = nil
    ) {
        (self.id, self.url, self.source, self.variants) = (id, url, source, variants)
        (self.lane, self.expires, self.giveUp, self.traceparent) = (lane, expires, giveUp, traceparent)
        (self.freshness, self.fallback) = (freshness, fallback)
    }
}
