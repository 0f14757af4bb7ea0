package import Clocks

/// The cause that holds the work up, in a sentence, with the one next step.
package struct Diagnosis: Sendable, Hashable {
    package let cause: Cause
    /// The cause, with its figures and names.
    package internal(set) var headline: String
    /// One affected job; nil if no single one shows it.
    package let example: String?
    /// The state of each lane, one sentence each. Empty while nothing was seen.
    package internal(set) var lanes: [String] = []
    /// Start of the cause; nil if it is not known.
    package let since: WallTime?
    /// The next step, which may depend on a code or name a host. By default it is the cause's own.
    package let action: String

    package var sentence: String { ([headline] + (example.map { [$0] } ?? []) + lanes).joined(separator: " ") }

    init(_ cause: Cause, _ headline: String, since: WallTime?, action: String? = nil, example: String? = nil) {
        // A text from outside may end anywhere.
        let stop = headline.last.map { ".…!?".contains($0) } ?? true ? "" : "."
        (self.cause, self.headline, self.since) = (cause, headline + stop, since)
        (self.action, self.example) = (action ?? cause.action, example)
    }
}

extension Diagnosis {
    /// Creates the diagnosis from the first cause that is found, in the order of `Cause.table`.
    init(of report: WatchReport, _ state: WatchState, at now: WallTime) {
        let view = Findings(report: report, state: state, now: now)
        self = Cause.table.lazy.compactMap { $0.finding(view) }.first ?? view.fine
        // Before the log's first reply, lanes are unknown.
        if cause != .starting, report.respondedAt != nil { lanes = view.lanes + view.warnings(beside: cause) }
    }

    /// nil if it is another cause.
    func only(_ wanted: Cause) -> Diagnosis? { cause == wanted ? self : nil }
}
