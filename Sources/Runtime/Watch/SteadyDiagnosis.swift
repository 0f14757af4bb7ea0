package import Clocks

/// Keeps showing a cause for a while after it was last found, so that the page does not flip between causes that come
/// and go.
///
/// A cause that comes before the shown one in `Cause.inOrder` is shown at once.
package struct SteadyDiagnosis: Sendable {
    private var shown: (diagnosis: Diagnosis, seenAt: WallTime)?
    private static let hold: Duration = .seconds(15)
    private static let ranks = Dictionary(uniqueKeysWithValues: Cause.inOrder.enumerated().map { ($1, $0) })

    package init() {}

    /// The diagnosis to show after this one was found.
    package mutating func settle(_ found: Diagnosis, at now: WallTime) -> Diagnosis {
        if let (last, seenAt) = shown, !last.cause.isExact, found.cause != last.cause,
            Self.ranks[found.cause, default: 0] > Self.ranks[last.cause, default: 0], now - seenAt < Self.hold
        {
            return last.kept(since: Words.clock(seenAt, at: now), lanes: found.lanes)
        }
        shown = (found, now)
        return found
    }
}

extension Diagnosis {
    /// The headline keeps its old figures; those of the lanes are current.
    fileprivate func kept(since time: String, lanes: [String]) -> Diagnosis {
        var copy = self
        copy.headline += " Last seen at \(time)."
        copy.lanes = lanes
        return copy
    }
}

extension WatchReport {
    package mutating func settle(by steady: inout SteadyDiagnosis) { diagnosis = steady.settle(diagnosis, at: at) }
}
