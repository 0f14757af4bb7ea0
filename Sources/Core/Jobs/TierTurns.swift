package import Records

/// Who moves records on that wait for their host alone: one tier of one partition at a time, that whose turn was longest ago,
/// and each second time one in which fast jobs wait to be tried again soon.
///
/// A host's million jobs come due in their tiers again and again while it is away. To move them on is needed only by what
/// lies behind them, so it goes slowly enough to keep nothing else from beginning, and faster where that may begin now.
package struct TierTurns: Sendable {
    package struct Place: Hashable, Comparable, Sendable {
        package let partition: PartitionID
        package let topic: Topic

        package init(_ partition: PartitionID, _ topic: Topic) { (self.partition, self.topic) = (partition, topic) }

        package static func < (a: Self, b: Self) -> Bool {
            (a.partition, a.topic.ordinal) < (b.partition, b.topic.ordinal)
        }
    }

    private var turn = 0
    private var last: [Place: Int] = [:]

    package init() {}

    /// - Parameter heldUp: where a record may not begin that is due, or stands before others that may.
    package mutating func next(of heldUp: [Place]) -> Place? {
        let urgent = turn.isMultiple(of: 2) ? heldUp.filter { $0.topic == .retry10s } : []
        let next = (urgent.isEmpty ? heldUp : urgent).min { (last[$0, default: 0], $0) < (last[$1, default: 0], $1) }
        guard let next else { return nil }
        turn += 1
        last[next] = turn
        return next
    }

    /// Records of a turn; there is one with each tick, of 50 ms. Each costs the worker 26 microseconds (release, two cores).
    ///
    /// Before jobs of a host that is asked again (`TierSearch`) more go: 40,000 go by in 8 s beside other work, and in 2 s alone.
    ///
    /// - Parameter isHurried: the worker ends once nothing is due, and has nothing else to do.
    package static func moves(isBusy: Bool, isHurried: Bool = false) -> DelayHead.Moves {
        if isBusy { return DelayHead.Moves(due: 16, searched: 256) }
        return DelayHead.Moves(due: isHurried ? 1_024 : 64, searched: 1_024)
    }
}
