package import Canonical
package import ImageModel
package import VariantSpec

/// Decoder of jobs from producers' records. It applies the canonical rules (again, since they are idempotent) and
/// refuses malformed jobs.
package struct Intake: Sendable {
    private let rules: CanonicalRules

    package init(rules: CanonicalRules) { self.rules = rules }

    /// The job of a record of `jobs.fast` or `jobs.slow`, of a row of `parked`, or of a record of an old retry topic.
    ///
    /// Its lane is the topic's, or on `parked` and retry topics the header's. Its id is the header `ce_id`, else the
    /// body's id, else the record's topic, partition and offset, which a redelivery repeats.
    package func job(from record: Record) throws(JobFailure) -> Job {
        var recent = RecentParts()
        return try job(from: record, &recent)
    }

    /// - Parameter recent: parts of this intake's recent records.
    package func job(from record: Record, _ recent: inout RecentParts) throws(JobFailure) -> Job {
        // The id comes before the body: a refused record is completed under the header's id, which must not be a
        // worker's own.
        let id = try id(of: record)
        guard let value = record.value else { throw .empty }
        let body = try JobBody(value, rules: rules, &recent)
        return try job(
            body, id: id ?? body.id ?? record.placeText, lane: lane(of: record), traceparent: record.traceparent,
            &recent)
    }

    /// A job to publish, from a line of NDJSON. The arguments supply fields that its body leaves out.
    package func job(
        line: [UInt8], id: @autoclosure () -> String, lane: Lane, variants: [VariantSpec] = []
    ) throws(JobFailure) -> Job {
        var body = try JobBody(line, rules: rules)
        if body.variants == nil, !variants.isEmpty { body.variants = variants }
        var recent = RecentParts()
        return try job(body, id: body.id ?? id(), lane: body.lane ?? lane, &recent)
    }

    /// A job to publish, from a URL alone. Without `variants`, the URL must be of a dialect and ask for a variant.
    package func job(url: String, variants: [VariantSpec], id: String, lane: Lane) throws(JobFailure) -> Job {
        let body = JobBody(url: url, variants: variants.isEmpty ? nil : variants, lane: nil, id: nil, expires: nil)
        var recent = RecentParts()
        return try job(body, id: id, lane: lane, &recent)
    }

    /// Id of the outcome and the dead letter of a record that is not a job.
    package func id(ofRefused record: Record) -> String {
        record.header(EventHeader.id).flatMap { Job.isID($0) ? $0 : nil } ?? record.placeText
    }

    /// URL that a record which is not a job names, if it can be read and the rules accept it. A URL that they refuse
    /// may hold a password, or control characters that affect a terminal.
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
            // Two variants may become equal.
            variants = variants.map { $0.keeping(body.regions) }.reduce(into: []) {
                if !$0.contains($1) { $0.append($1) }
            }
        }
        let url = SourceURL(source.fetchURL, hiding: rules.hidden)
        guard !variants.isEmpty else { throw .noVariants(url: url) }
        guard variants.count <= JobFailure.variantLimit else { throw .tooManyVariants }
        return Job(
            id: id, url: url, source: source.key, variants: variants, lane: lane, expires: body.expires,
            retryFor: body.retryFor, freshness: body.freshness, fallback: body.fallback, traceparent: traceparent)
    }

    private func id(of record: Record) throws(JobFailure) -> String? {
        guard let id = record.header(EventHeader.id) else { return nil }
        guard Job.isID(id) else {
            throw .badValue(reason: "the header \(EventHeader.id) is not an id of 1 to 256 bytes without control bytes")
        }
        if record.topic.lane != nil { try Job.checkPublished(id) }
        return id
    }

    private func lane(of record: Record) -> Lane {
        record.topic.lane ?? record.header(EventHeader.lane).flatMap { Lane(rawValue: $0) } ?? .background
    }
}
