internal import Canonical
internal import ImageModel
internal import Planning
internal import Records
internal import VariantSpec

/// What the last jobs found unchanged: those that come in a burst for one source and want the same are answered alike,
/// without a plan of their own.
///
/// An answer is as good as a new plan as long as it would be one of the same look's rows, and all of them are fresh.
struct UnchangedCache: Sendable {
    private struct Answer: Sendable {
        let wanted: [VariantSpec]
        let snapshot: SourceSnapshot
        let variants: VariantOutcomes
        /// Milliseconds since 1970.
        let freshUntil: Int64
    }

    private var answers: [SourceKey: Answer] = [:]
    private var seen = SeenBefore()
    /// When the last was noted, monotonic milliseconds.
    private var noted: Int64 = 0

    /// Sources of one partition; a slice of records has no more. All are let go when there is no room.
    private static let limit = 256
    /// In milliseconds. A look is no older, and an answer holds no longer than its look.
    private static let age: Int64 = 1_000

    func unchanged(_ job: Job, _ snapshot: SourceSnapshot, at now: Int64) -> VariantOutcomes? {
        guard let answer = answers[job.source], now < answer.freshUntil, answer.snapshot.isSame(as: snapshot),
            answer.wanted == job.variants
        else { return nil }
        return answer.variants
    }

    mutating func note(
        unchanged places: [Int], of job: Job, _ snapshot: SourceSnapshot, at now: Int64, _ rules: ReuseRules
    ) -> VariantOutcomes {
        let variants = VariantOutcomes(unchanged: snapshot, places)
        // The snapshot is kept with it: of what comes once that would cost more than the plan.
        guard seen.note(job.source.word) else { return variants }
        noted = now
        if answers.count >= Self.limit { answers.removeAll(keepingCapacity: true) }
        answers[job.source] = Answer(
            wanted: job.variants, snapshot: snapshot, variants: variants,
            freshUntil: rules.allowsStale ? .max : places.map { snapshot.variants[$0].expires }.min() ?? 0)
        return variants
    }

    /// Rows are let go when the burst is over.
    mutating func tick(_ now: Int64) {
        if !answers.isEmpty, now - noted > Self.age { answers = [:] }
    }
}
