package import Canonical
package import ImageModel
package import VariantSpec

/// Makes jobs of what producers wrote: decodes, applies the canonical rules (again: it is idempotent), refuses what is
/// malformed.
package struct Intake: Sendable {
    private let rules: CanonicalRules

    package init(rules: CanonicalRules) { self.rules = rules }

    /// The job of a record of `jobs.fast`, `jobs.slow` or the retry topics.
    ///
    /// Its lane is the topic's, on a retry topic the header's; its id the header `ce_id`, or the body's, or its place in the
    /// log, which a redelivery repeats.
    package func job(from record: Record) throws(JobFailure) -> Job {
        var recent = RecentParts()
        return try job(from: record, &recent)
    }

    /// - Parameter recent: of this intake's records.
    package func job(from record: Record, _ recent: inout RecentParts) throws(JobFailure) -> Job {
        // Before the body: what is refused is answered under the header's id, which must not be a worker's own.
        let id = try id(of: record)
        guard let value = record.value else { throw .empty }
        let body = try JobBody(value, rules: rules, &recent)
        return try job(
            body, id: id ?? body.id ?? record.placeText, lane: lane(of: record), traceparent: record.traceparent,
            &recent)
    }

    /// A job to publish, of a line of NDJSON: what its body leaves out is as given.
    package func job(
        line: [UInt8], id: @autoclosure () -> String, lane: Lane, variants: [VariantSpec] = []
    ) throws(JobFailure) -> Job {
        var body = try JobBody(line, rules: rules)
        if body.variants == nil, !variants.isEmpty { body.variants = variants }
        var recent = RecentParts()
        return try job(body, id: body.id ?? id(), lane: body.lane ?? lane, &recent)
    }

    /// A job to publish, of a URL by itself; without `variants` the URL must be of a dialect that names one.
    package func job(url: String, variants: [VariantSpec], id: String, lane: Lane) throws(JobFailure) -> Job {
        let body = JobBody(url: url, variants: variants.isEmpty ? nil : variants, lane: nil, id: nil, expires: nil)
        var recent = RecentParts()
        return try job(body, id: id, lane: lane, &recent)
    }

    /// For a record that is no job: the id that its outcome and its dead letter go by.
    package func id(ofRefused record: Record) -> String {
        record.header(EventHeader.id).flatMap { Job.isID($0) ? $0 : nil } ?? record.placeText
    }

    /// For a record that is no job: the URL that it names, if that much can be read and the rules take it (what they
    /// refuse may hold a password or drive a terminal).
    package func url(ofRefused record: Record) -> SourceURL? {
        guard let value = record.value, value.count <= RecordLimits.jobBytes, let url = JobBody.url(in: value) else {
            return nil
        }
        return (try? rules.source(of: url).fetchURL).map { SourceURL($0, hiding: rules.hidden) }
    }

    private func job(
        _ body: JobBody, id: String, lane: Lane, traceparent: String? = nil, _ recent: inout RecentParts
    ) throws(JobFailure) -> Job {
        if let id = body.id { try Job.checkPublished(id) }
        let source: CanonicalSource
        do throws(CanonicalFailure) { source = try rules.source(of: body.url, &recent.servers) } catch {
            throw .refused(error)
        }
        var variants = body.variants ?? source.variant.map { [$0] } ?? []
        if !body.regions.isEmpty {
            // Two may come to one.
            variants = variants.map { $0.keeping(body.regions) }.reduce(into: []) {
                if !$0.contains($1) { $0.append($1) }
            }
        }
        let url = SourceURL(source.fetchURL, hiding: rules.hidden)
        guard !variants.isEmpty else { throw .noVariants(url: url) }
        guard variants.count <= JobFailure.variantLimit else { throw .tooManyVariants }
        return Job(
            id: id, url: url, source: source.key, variants: variants, lane: lane, expires: body.expires,
            giveUp: body.giveUp, freshness: body.freshness, fallback: body.fallback, traceparent: traceparent)
    }

    private func id(of record: Record) throws(JobFailure) -> String? {
        guard let id = record.header(EventHeader.id) else { return nil }
        guard Job.isID(id) else {
            throw .badValue(reason: "the header \(EventHeader.id) is no id of 1 to 256 bytes without control bytes")
        }
        if record.topic.lane != nil { try Job.checkPublished(id) }
        return id
    }

    private func lane(of record: Record) -> Lane {
        record.topic.lane ?? record.header(EventHeader.lane).flatMap { Lane(rawValue: $0) } ?? .background
    }
}
