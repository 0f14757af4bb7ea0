/// Priority lane of a job, given by the topic it arrived on: `fast` if somebody waits for the variants, else `slow`.
///
/// All differences between lanes are defined here. A new lane needs a case, an ordinal, a value of `isUrgent` and a
/// target.
package enum Lane: String, Sendable, Hashable, CaseIterable, Comparable {
    case fast, slow

    /// Index of the lane, dense from 0 and most urgent first, for arrays by lane.
    @inlinable
    package var ordinal: Int {
        switch self {
        case .fast: 0
        case .slow: 1
        }
    }

    /// Number of lanes. A constant, because the ordinals of topics are computed from it.
    @inlinable
    package static var count: Int { 2 }

    /// Whether the lane's jobs may take any permit, in the order in which they arrived. Other lanes take a limited
    /// share of the permits that urgent lanes leave idle, and may wait longer for a retry.
    package var isUrgent: Bool {
        switch self {
        case .fast: true
        case .slow: false
        }
    }

    /// Lane of work that nobody is known to wait for: jobs of the workers' own, jobs whose host fails, and records that
    /// name no lane.
    package static let background = Lane.slow

    /// Default of `lanes.*.target`: the age by which a job should be started.
    package var target: Duration {
        switch self {
        case .fast: .seconds(5)
        case .slow: .seconds(600)
        }
    }

    /// Name of the lane with a capital letter (`Fast`), for headings and for names that end with it.
    package var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// Orders lanes by urgency, the most urgent first.
    package static func < (a: Self, b: Self) -> Bool { a.ordinal < b.ordinal }

    /// Names of all lanes for messages: `fast or slow`.
    package static let names = allCases.map(\.rawValue).joined(separator: " or ")
}
