package import Records

/// What was read of a tier and is not due: its first records, and no more is read before they are taken up.
package struct DelayHead: Sendable {
    private var records: ArraySlice<Record> = []
    /// When the first of them is due, milliseconds since 1970.
    private var due: Int64 = 0
    private let tier: DelayTier
    /// When they were read: a record of a clock that is ahead is due one tier after that.
    private var readAt: Int64 = 0

    /// Records that are read at once.
    package static let limit = 64

    package init(_ tier: DelayTier) { self.tier = tier }

    package var isEmpty: Bool { records.isEmpty }

    package mutating func add(_ new: [Record], at now: Int64) {
        (records, readAt) = (new[...], now)
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
        while taken.count < limit, !records.isEmpty, due <= now {
            taken.append(records.removeFirst())
            noteDue()
        }
        return taken
    }

    private mutating func noteDue() {
        due = min(records.first?.timestamp ?? 0, readAt) + tier.wait
    }
}
