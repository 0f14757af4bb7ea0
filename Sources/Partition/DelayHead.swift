package import Canonical
package import Records

/// What was read of a tier and is not due: its first records, and no more is read before they are taken up.
///
/// The clocks of brokers and workers differ. Where the worker's is ahead by more than the tier's wait, each record would be
/// due as soon as it is read, and the job would be put off again at once, many times a second. So what the brokers' clock
/// says and what the writer's says both count, as far as they are not in the reader's future.
package struct DelayHead: Sendable {
    private var records: ArraySlice<Record> = []
    /// When the first of them is due, milliseconds since 1970.
    package private(set) var due: Int64 = 0
    private let tier: DelayTier
    /// When they were read: a record of a clock that is ahead is due one tier after that.
    private var readAt: Int64 = 0
    /// Of the first.
    private var origin: OriginHost?
    private var isOriginKnown = false

    /// Records that are read at once.
    package static let limit = 64

    package init(_ tier: DelayTier) { self.tier = tier }

    package var isEmpty: Bool { records.isEmpty }

    package mutating func add(_ new: [Record], at now: Int64) {
        (records, readAt, isOriginKnown) = (new[...], now, false)
        noteDue()
    }

    /// Records whose time has come, in the log's order.
    package mutating func take(_ limit: Int, at now: Int64) -> [Record] {
        // A clock that went back: they have waited since they were read, at least.
        if now < readAt {
            readAt = now
            noteDue()
        }
        var taken: [Record] = []
        while taken.count < limit, due <= now, let record = takeFirst() { taken.append(record) }
        return taken
    }

    /// What only its host holds back is taken before its time once the host can take it: as many of one host as it has room
    /// for.
    ///
    /// - Parameter host: that a record waits for, if for nothing else.
    package mutating func takeEarly(
        _ limit: Int, host: (Record) -> OriginHost?, room: (OriginHost) -> Int
    ) -> [Record] {
        var early: [Record] = []
        var taken: [OriginHost: Int] = [:]
        while early.count < limit, let origin = origin(of: host), taken[origin, default: 0] < room(origin),
            let record = takeFirst()
        {
            early.append(record)
            taken[origin, default: 0] += 1
        }
        return early
    }

    private mutating func takeFirst() -> Record? {
        guard let record = records.popFirst() else { return nil }
        (origin, isOriginKnown) = (nil, false)
        noteDue()
        return record
    }

    /// Whom the first of them asks, if nothing but its host holds it back; found once.
    package mutating func origin(of find: (Record) -> OriginHost?) -> OriginHost? {
        if !isOriginKnown { (origin, isOriginKnown) = (records.first.flatMap(find), true) }
        return origin
    }

    private mutating func noteDue() {
        guard let first = records.first else { return }
        let begun = [first.timestamp, first.writtenAt].compactMap(\.self).filter { $0 <= readAt }.max() ?? readAt
        due = begun + tier.wait
    }
}
