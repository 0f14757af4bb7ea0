/// Makes jobs of what producers wrote: decodes, applies the canonical rules (again: it is idempotent), refuses what is
/// malformed.
package struct Intake: Sendable {
    private let rules: CanonicalRules

    package init(rules: CanonicalRules) { self.rules = rules }

    /// The job of a record of `jobs.fast`, `jobs.slow` or `retry`.
    ///
    /// Its lane is the topic's, on `retry` the header's; its id the header `ce_id`, or the body's, or its place in the
    /// log, which a redelivery repeats.
    package func job(from record: Record) throws(JobFailure) -> Job {
        guard let value = record.value else { throw .empty }
        let body = try JobBody(value, rules: rules)
        let id = try id(of: record) ?? body.id ?? record.placeText
        return try job(body, id: id, lane: lane(of: record), traceparent: record.traceparent)
    }

    /// A job to publish, of a line of NDJSON: what its body leaves out is as given.
    package func job(
        line: [UInt8], id: @autoclosure () -> String, lane: Lane, variants: [VariantSpec] = []
    ) throws(JobFailure) -> Job {
        var body = try JobBody(line, rules: rules)
        if body.variants == nil, !variants.isEmpty { body.variants = variants }
        return try job(body, id: body.id ?? id(), lane: body.lane ?? lane, traceparent: nil)
    }

    /// A job to publish, of a URL by itself; without `variants` the URL must be of a dialect that names one.
    package func job(url: String, variants: [VariantSpec], id: String, lane: Lane) throws(JobFailure) -> Job {
        let body = JobBody(url: url, variants: variants.isEmpty ? nil : variants, lane: nil, id: nil, expires: nil)
        return try job(body, id: id, lane: lane, traceparent: nil)
    }

    /// For a record that is no job: the id that its outcome and its dead letter go by.
    package func id(ofRefused record: Record) -> String {
        record.header(EventHeader.id).flatMap { Job.isID($0) ? $0 : nil } ?? record.placeText
    }

    /// For a record that is no job: the URL that it names, if that much can be read and the rules take it (what they
    /// refuse may hold a password or drive a terminal).
    package func url(ofRefused record: Record) -> String? {
        guard let value = record.value, value.count <= RecordLimits.jobBytes, let url = JobBody.url(in: value) else { return nil }
        return try? rules.source(of: url).fetchURL
    }

    private func job(_ body: JobBody, id: String, lane: Lane, traceparent: String?) throws(JobFailure) -> Job {
        let source: CanonicalSource
        do throws(CanonicalFailure) { source = try rules.source(of: body.url) } catch { throw .refused(error) }
        let variants = body.variants ?? source.variant.map { [$0] } ?? []
        guard !variants.isEmpty else { throw .noVariants(url: source.fetchURL) }
        guard variants.count <= JobFailure.variantLimit else { throw .tooManyVariants }
        return Job(
            id: id, url: source.fetchURL, source: source.key, variants: variants, lane: lane, expires: body.expires,
            traceparent: traceparent)
    }

    private func id(of record: Record) throws(JobFailure) -> String? {
        guard let id = record.header(EventHeader.id) else { return nil }
        guard Job.isID(id) else {
            throw .badValue(reason: "the header \(EventHeader.id) is no id of 1 to 256 bytes without control bytes")
        }
        return id
    }

    private func lane(of record: Record) -> Lane {
        guard record.topic == .retry else { return record.topic == .jobsFast ? .fast : .slow }
        return record.header(EventHeader.lane).flatMap { Lane(rawValue: $0) } ?? .slow
    }
}
