internal import Canonical
package import Clocks
package import Hosts
package import Ledger
internal import Positions
package import Records

/// Head of a delay topic: its first records, which are read and not due. No more is read before they are taken.
///
/// The clocks of brokers and workers differ. If the worker's clock were ahead by more than the topic's delay, each
/// record would be due as soon as it is read. The job would then be deferred again at once, many times a second. So the
/// broker's timestamp and the writer's both count, unless they are in the reader's future.
package struct DelayHead: Sendable {
    private var records: ArraySlice<Record> = []
    /// Time when the first record is due.
    package private(set) var due = WallTime.epoch
    private let tier: DelayTier
    /// The topic's end when the owner came. Earlier owners wrote the records below it.
    private let end: Int64
    /// Time when the records were read. A record from a clock that is ahead is due one delay after that.
    private var readAt = WallTime.distantPast
    /// Time when this owner last appended a record that waits for more than its host, or when the first record was
    /// read.
    private var otherAt = WallTime.distantFuture
    /// Host and lane that the first record waits for.
    private var awaited: HostLane?
    private var isAwaitedKnown = false
    /// Number of records that may still move on to another delay topic.
    package private(set) var moves = Moves()

    /// Numbers of records that may move on, by reason.
    package struct Moves: Sendable, Equatable {
        /// Due records of hosts without room for them. They come due again and again, however fast they move.
        package var due = 0
        /// Records in front of others that may start, while `TierSearch` looks for those.
        package var searched = 0

        package init(due: Int = 0, searched: Int = 0) { (self.due, self.searched) = (due, searched) }

        /// Takes one move. False if none is left.
        fileprivate mutating func take(_ isSearched: Bool) -> Bool {
            guard (isSearched ? searched : due) > 0 else { return false }
            if isSearched { searched -= 1 } else { due -= 1 }
            return true
        }
    }
    /// Whether the first record waits for `moves`, or the last one taken had to.
    package private(set) var isHeldUp = false

    /// Sets the numbers of records that may move on now. Unused ones lapse.
    package mutating func allow(_ moves: Moves) { self.moves = moves }

    /// Number of records that are read at once.
    package static let limit = 64

    package init(_ tier: DelayTier, end: Int64 = .max) { (self.tier, self.end) = (tier, end) }

    package var isEmpty: Bool { records.isEmpty }

    package mutating func add(_ new: [Record], at now: WallTime) {
        (records, readAt, isAwaitedKnown) = (new[...], now, false)
        otherAt = min(otherAt, now)
        noteDue()
    }

    /// Takes records whose time has come, in the log's order. A record that waits only for its host is taken once the
    /// host has room for it, due or not. If the host has no room, due records move on to another delay topic, so that
    /// records behind them come. `moves` limits their number.
    ///
    /// - Parameters:
    ///   - search: records written before this time may move on even though they are not due.
    ///   - find: the host that a record waits for, if it waits for nothing else, and the record's lane.
    ///   - room: how many more jobs a host can take on a lane.
    package mutating func take(
        _ limit: Int, at now: WallTime, search: WallTime? = nil, awaited find: (Record) -> HostLane? = { _ in nil },
        room: (HostLane) -> Int = { _ in 0 }
    ) -> [Record] {
        // The clock went back: the records have waited at least since they were read.
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

    /// Host and lane of the first record, if it waits for nothing but its host. They are computed once.
    package mutating func awaited(by find: (Record) -> HostLane?) -> HostLane? {
        if !isAwaitedKnown { (awaited, isAwaitedKnown) = (records.first.flatMap(find), true) }
        return awaited
    }

    /// Notes that the worker appends a record that waits for its own time, not only for its host.
    package mutating func noteOther(at now: WallTime) { otherAt = now }

    /// Whether the first record, and all behind it, were written after every record that waits for more than its host.
    /// This owner wrote all of them, so they share its clock.
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
