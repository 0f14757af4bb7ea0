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
    /// The first cause that is found, in the order of `Cause.table`.
    init(of report: WatchReport, _ state: WatchState, at now: WallTime) {
        let view = Findings(report: report, state: state, now: now)
        self = Cause.table.lazy.compactMap { $0.finding(view) }.first ?? view.fine
        // Before the first answer nothing is known of them.
        if cause != .starting, report.answeredAt != nil { lanes = view.lanes + view.warnings(beside: cause) }
    }

    /// nil if it is another cause.
    func only(_ wanted: Cause) -> Diagnosis? { cause == wanted ? self : nil }
}
