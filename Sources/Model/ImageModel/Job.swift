package import Canonical
package import Clocks
package import VariantSpec

/// One request of an upstream service: a source and the variants to make of it.
package struct Job: Sendable, Hashable {
    /// Id of the request; a redelivery repeats it. Taken from the record's `ce_id`, the body, or the record's topic,
    /// partition and offset.
    package var id: String
    /// URL to fetch, without its fragment. Never re-serialised.
    package var url: SourceURL
    package var source: SourceKey
    /// Requested variants, without repeats and in the requested order; never empty.
    package var variants: [VariantSpec]
    package var lane: Lane
    /// Time after which the job is no longer worth doing; nil if the job never expires.
    package var expires: WallTime?
    /// Time for which the job's origin may be at fault before the job is abandoned; nil: the setting decides.
    package var retryFor: Duration?
    package var freshness: JobFreshness
    package var fallback: JobFallback
    /// W3C trace context, passed through unchanged.
    package var traceparent: String?

    package init(
        id: String, url: SourceURL, source: SourceKey, variants: [VariantSpec], lane: Lane, expires: WallTime? = nil,
        retryFor: Duration? = nil, freshness: JobFreshness = .ifStale, fallback: JobFallback = .stale,
        traceparent: String? = nil
    ) {
        (self.id, self.url, self.source, self.variants) = (id, url, source, variants)
        (self.lane, self.expires, self.retryFor, self.traceparent) = (lane, expires, retryFor, traceparent)
        (self.freshness, self.fallback) = (freshness, fallback)
    }
}
