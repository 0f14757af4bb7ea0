internal import Canonical
package import Clocks
package import Hosts
package import Ledger
internal import Positions
package import Records

/// What was read of a tier and is not due: its first records, and no more is read before they are taken up.
///
/// The clocks of brokers and workers differ. Where the worker's is ahead by more than the tier's wait, each record would be
/// due as soon as it is read, and the job would be put off again at once, many times a second. So what the brokers' clock
/// says and what the writer's says both count, as far as they are not in the reader's future.
package struct DelayHead: Sendable {
    private var records: ArraySlice<Record> = []
    /// When the first of them is due.
    package private(set) var due = WallTime.epoch
    private let tier: DelayTier
    /// The topic's end when the owner came. Earlier owners wrote the records below it.
    private let end: Int64
    /// When they were read: a record of a clock that is ahead is due one tier after that.
    private var readAt = WallTime.distantPast
    /// When something was last appended that waits for more than its host, or when the first record was read.
    private var otherAt = WallTime.distantFuture
    /// Of the first.
    private var awaited: HostLane?
    private var isAwaitedKnown = false
    /// Records that may still move on: due ones of hosts without room for them, and those before which others may begin
    /// (`TierSearch`).
    package var moves = Moves()

    /// How many more may move on.
    package struct Moves: Sendable, Equatable {
        /// Due, and of a host that has no room for them: again and again, however fast they go.
        package var due = 0
        /// Before others that may begin, as long as somebody looks for those.
        package var searched = 0

        package init(due: Int = 0, searched: Int = 0) { (self.due, self.searched) = (due, searched) }

        /// False if none is left.
        fileprivate mutating func take(_ isSearched: Bool) -> Bool {
            guard (isSearched ? searched : due) > 0 else { return false }
            if isSearched { searched -= 1 } else { due -= 1 }
            return true
        }
    }
    /// The first of them waits for `moves`, or one that was taken last had to.
    package private(set) var isHeldUp = false

    /// Records that are read at once.
    package static let limit = 64

    package init(_ tier: DelayTier, end: Int64 = .max) { (self.tier, self.end) = (tier, end) }

    package var isEmpty: Bool { records.isEmpty }

    package mutating func add(_ new: [Record], at now: WallTime) {
        (records, readAt, isAwaitedKnown) = (new[...], now, false)
        otherAt = min(otherAt, now)
        noteDue()
    }

    /// Records whose time has come, in the log's order. What only its host holds back is taken once that has room for it, due
    /// or not; where that has none, what is due moves on to another tier, so that others behind it come: as many as
    /// `moves` says.
    ///
    /// - Parameters:
    ///   - search: what was written before this may move on though it is not due.
    ///   - find: the host that a record waits for, if for nothing else, and the lane that it would have.
    ///   - room: how many more jobs a host can take on a lane.
    package mutating func take(
        _ limit: Int, at now: WallTime, search: WallTime? = nil, awaited find: (Record) -> HostLane? = { _ in nil },
        room: (HostLane) -> Int = { _ in 0 }
    ) -> [Record] {
        // A clock that went back: they have waited since they were read, at least.
        if now < readAt {
            (readAt, otherAt) = (now, now)
            noteDue()
        }
        isHeldUp = false
        var records: [Record] = []
        var taken: [HostLane: Int] = [:]
        while records.count < limit, !isEmpty {
            let share = awaited(by: find)
            if let share, taken[share, default: 0] < room(share) {
                taken[share, default: 0] += 1
            } else if share != nil || due > now {
                let isSearched = isSearched(search)
                isHeldUp = due <= now || isSearched
                guard isHeldUp, moves.take(isSearched) else { break }
            }
            if let record = takeFirst() { records.append(record) }
        }
        return records
    }

    private func isSearched(_ search: WallTime?) -> Bool {
        guard let search, let first = records.first else { return false }
        return first.writtenAt ?? first.timestamp < search
    }

    private mutating func takeFirst() -> Record? {
        guard let record = records.popFirst() else { return nil }
        (awaited, isAwaitedKnown) = (nil, false)
        noteDue()
        return record
    }

    /// Whom the first of them asks, if nothing but its host holds it back; found once.
    package mutating func awaited(by find: (Record) -> HostLane?) -> HostLane? {
        if !isAwaitedKnown { (awaited, isAwaitedKnown) = (records.first.flatMap(find), true) }
        return awaited
    }

    /// The worker appends a record that waits for its own time, not only for its host.
    package mutating func noteOther(at now: WallTime) { otherAt = now }

    /// Whether its first record, and all behind it, were written after everything that waits for more than its host: by this
    /// owner, whose clock all of them have.
    package var isOfHostsAlone: Bool {
        guard let first = records.first, first.offset >= end, let written = first.writtenAt else { return false }
        return written > otherAt
    }

    private mutating func noteDue() {
        guard let first = records.first else { return }
        let begun = [first.timestamp, first.writtenAt].compactMap(\.self).filter { $0 <= readAt }.max() ?? readAt
        due = begun + tier.wait
    }
}
