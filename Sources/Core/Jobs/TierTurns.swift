package import Records

/// Round robin for moving records that wait for their host alone. It moves one delay topic of one partition at a time,
/// the one whose turn was longest ago. Every second turn goes to one in which fast jobs wait for a soon retry.
///
/// While a host is unavailable, its million jobs come due in their delay topics again and again. Only the jobs behind
/// them need them to move. So they move slowly enough to delay no other work, and faster if a job behind them may start
/// now.
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

    /// - Parameter heldUp: delay topics whose first record is due and may not start, or is in front of others that may.
    package mutating func next(of heldUp: [Place]) -> Place? {
        let urgent = turn.isMultiple(of: 2) ? heldUp.filter { $0.topic == .retry10s } : []
        let next = (urgent.isEmpty ? heldUp : urgent).min { (last[$0, default: 0], $0) < (last[$1, default: 0], $1) }
        guard let next else { return nil }
        turn += 1
        last[next] = turn
        return next
    }

    /// Number of records of a turn. There is one turn at each tick, of 50 ms. Each record costs the worker 26
    /// microseconds (release, two cores).
    ///
    /// More move in front of jobs of a host that is asked again (`TierSearch`): 40,000 take 8 s beside other work, and
    /// 2 s alone.
    ///
    /// - Parameter isHurried: the worker ends once no job is due, and has no other work.
    package static func moves(isBusy: Bool, isHurried: Bool = false) -> DelayHead.Moves {
        if isBusy { return DelayHead.Moves(due: 16, searched: 256) }
        return DelayHead.Moves(due: isHurried ? 1_024 : 64, searched: 1_024)
    }
}
