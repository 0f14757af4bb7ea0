internal import Canonical
internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Jobs
internal import JSONText
internal import Partition
internal import Ports
internal import Records

/// Consequence of a failed attempt, for the worker's log: `Attempt 3 failed. Next attempt in 4.2 s; gives up at
/// 2026-…Z.`
struct RetryOutlook: CustomStringConvertible {
    let description: String

    /// - Parameters:
    ///   - pending: the job as it waits, with the attempts that it has made.
    init(of pending: PendingJob, after cause: FailureNote, by rules: PartitionRules, at now: WallTime) {
        let isOrigins = FetchFailure.Code(rawValue: cause.code) != nil
        let host = rules.origins.groups.origin(of: String(pending.job.url.authority))
        let limit =
            isOrigins
            ? rules.origins.limits(of: host).attempts ?? (rules.retry.attempts > 0 ? rules.retry.attempts : nil)
            : rules.retry.most
        var text = ""
        // A worker's own job counts no attempts and is never abandoned.
        if pending.attempts > 0 { text = "Attempt \(pending.attempts)\(limit.map { " of \($0)" } ?? "") failed. " }
        let wait = max(0, (pending.due - now).milliseconds)
        text += "Next attempt in \(wait / 1_000).\(wait % 1_000 / 100) s"
        if isOrigins, !pending.job.isOwn, let since = pending.failingSince {
            let patience = pending.job.retryFor ?? rules.retry.retryFor
            text += "; gives up at \(Timestamp.text(min(since + patience, pending.job.expires ?? .distantFuture)))"
        }
        description = text + "."
    }
}
