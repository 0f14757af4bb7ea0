internal import ImageModel
internal import Planning

/// What the last jobs found unchanged: those that come in a burst for one source and want the same are answered alike,
/// without a plan of their own.
///
/// An answer is as good as a new plan as long as it would be one of the same look's rows, and all of them are fresh.
struct RecentAnswers: Sendable {
    private struct Answer: Sendable {
        let wanted: [VariantSpec]
        let snapshot: SourceSnapshot
        let variants: VariantOutcomes
        /// Milliseconds since 1970.
        let freshUntil: Int64
    }

    private var answers: [SourceKey: Answer] = [:]

    /// Sources of one partition; a slice of records has no more. All are let go when there is no room.
    private static let limit = 256

    func unchanged(_ job: Job, _ snapshot: SourceSnapshot, at now: Int64) -> VariantOutcomes? {
        guard let answer = answers[job.source], now < answer.freshUntil, answer.snapshot.isSame(as: snapshot),
            answer.wanted == job.variants
        else { return nil }
        return answer.variants
    }

    mutating func note(
        unchanged rows: [VariantRow], of job: Job, _ snapshot: SourceSnapshot, _ rules: ReuseRules
    ) -> VariantOutcomes {
        let variants = VariantOutcomes(rows.map { VariantOutcome(spec: $0.spec, kind: .unchanged, row: $0) })
        if answers.count >= Self.limit { answers.removeAll(keepingCapacity: true) }
        answers[job.source] = Answer(
            wanted: job.variants, snapshot: snapshot, variants: variants,
            freshUntil: rules.allowsStale ? .max : rows.map(\.expires).min() ?? 0)
        return variants
    }
}
