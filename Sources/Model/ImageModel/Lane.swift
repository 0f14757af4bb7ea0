/// The topic that a job came by: fast work is somebody waiting, slow work is nobody yet.
///
/// What lanes differ in stands here: a new one is a case, a place, a rank and a target.
package enum Lane: String, Sendable, Hashable, CaseIterable, Comparable {
    case fast, slow

    /// Dense from 0, the most urgent first: for arrays by lane.
    @inlinable
    package var ordinal: Int {
        switch self {
        case .fast: 0
        case .slow: 1
        }
    }

    /// A constant, since all that is kept by topic counts from it.
    @inlinable
    package static var count: Int { 2 }

    /// Takes any permit, in the order in which its jobs came. Other lanes take what those leave idle, within a share. They
    /// may wait longer for a retry, and encoders may take longer over them.
    package var isUrgent: Bool {
        switch self {
        case .fast: true
        case .slow: false
        }
    }

    /// Of what nobody is known to wait for: what workers owe, jobs whose host does not answer, and records that name no lane.
    package static let background = Lane.slow

    /// The age within which a job should be begun where `lanes.*.target` says nothing else.
    package var target: Duration {
        switch self {
        case .fast: .seconds(5)
        case .slow: .seconds(600)
        }
    }

    /// `Fast`: for headings, and for names that end with it.
    package var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// Less is more urgent.
    package static func < (a: Self, b: Self) -> Bool { a.ordinal < b.ordinal }

    /// For people: `fast or slow`.
    package static let names = allCases.map(\.rawValue).joined(separator: " or ")
}
