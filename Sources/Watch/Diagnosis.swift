/// What holds the work up, in a sentence, with the one thing to do about it.
package struct Diagnosis: Sendable, Hashable {
    package let cause: Cause
    package let sentence: String
    /// Since when, milliseconds since 1970; nil where that is not known.
    package let since: Int64?
    package var action: String { cause.action }

    init(_ cause: Cause, _ sentence: String, since: Int64?) {
        (self.cause, self.sentence, self.since) = (cause, sentence, since)
    }
}

extension Diagnosis {
    /// The first of the causes that is so. What the lanes are like follows it.
    init(of report: WatchReport, _ state: WatchState, at now: Int64) {
        let view = Findings(report: report, state: state, now: now)
        let found =
            view.log ?? view.noWorker ?? view.noOwner ?? view.unreadable ?? view.silentWorker ?? view.haltedRestore
            ?? view.restoring
            ?? view.paused ?? view.halted ?? view.blockedHost ?? view.waitingHost ?? view.slowHost ?? view.standstill
            ?? view.killer ?? view.pinned ?? view.saturated ?? view.killed ?? view.deadLetters ?? view.fine
        // What a stranger says at its end may stop anywhere.
        let stop = found.sentence.last.map { ".…!?".contains($0) } ?? true ? "" : "."
        let lanes = found.cause == .starting ? "" : " " + view.lanes
        self.init(found.cause, found.sentence + stop + lanes, since: found.since)
    }
}
