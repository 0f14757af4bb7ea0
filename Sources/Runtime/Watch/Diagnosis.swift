package import Clocks

/// What holds the work up, in a sentence, with the one thing to do about it.
package struct Diagnosis: Sendable, Hashable {
    package let cause: Cause
    /// The cause, with its figures and names.
    package internal(set) var headline: String
    /// One job that it befell; nil where no single one shows it.
    package let example: String?
    /// The state of each lane, a sentence each; none while nothing was seen.
    package internal(set) var lanes: [String] = []
    /// Since when; nil where that is not known.
    package let since: WallTime?
    /// The next step, which may depend on a code or name a host; the cause's own by default.
    package let action: String

    package var sentence: String { ([headline] + (example.map { [$0] } ?? []) + lanes).joined(separator: " ") }

    init(_ cause: Cause, _ headline: String, since: WallTime?, action: String? = nil, example: String? = nil) {
        // Text of others may stop anywhere.
        let stop = headline.last.map { ".…!?".contains($0) } ?? true ? "" : "."
        (self.cause, self.headline, self.since) = (cause, headline + stop, since)
        (self.action, self.example) = (action ?? cause.action, example)
    }
}

extension Diagnosis {
    /// The first cause that applies, in `Findings.order`.
    init(of report: WatchReport, _ state: WatchState, at now: WallTime) {
        let view = Findings(report: report, state: state, now: now)
        self = Findings.order.lazy.compactMap { $0(view) }.first ?? view.fine
        // Before the first answer nothing is known of them.
        if cause != .starting, report.answeredAt != nil { lanes = view.lanes + view.warnings(beside: cause) }
    }
}

extension Findings {
    /// In the order in which causes are looked for.
    static let order: [@Sendable (Findings) -> Diagnosis?] = [
        { $0.topics },
        { $0.log },
        { $0.starting },
        { $0.crashLoop },
        { $0.noWorker },
        { $0.noOwner },
        { $0.unreadable },
        { $0.foreignMember },
        { $0.openTransaction },
        { $0.unreadPartitions },
        { $0.failing },
        { $0.hungStore },
        { $0.silentWorker },
        { $0.skewedClock },
        { $0.restoring },
        { $0.paused },
        { $0.halted },
        { $0.egress },
        { $0.blockedHost },
        { $0.waitingHost },
        { $0.failingHosts },
        { $0.mostFail },
        { $0.slowHost },
        { $0.standstill },
        { $0.killer },
        { $0.pinned },
        { $0.retentionShort },
        { $0.readAhead },
        { $0.saturated },
        { $0.killed },
        { $0.someFail },
        { $0.jobsLost },
        { $0.diskFills },
        { $0.retrying },
        { $0.addedPartitions },
        { $0.deadLetters },
    ]
}
