package import Records

/// What was read of a tier and is not due: its first records, and no more is read before they are taken up.
///
/// The clocks of brokers and workers differ. Where the worker's is ahead by more than the tier's wait, each record would be
/// due as soon as it is read, and the job would be put off again at once, many times a second. So what the brokers' clock
/// says and what the writer's says both count, as far as they are not in the reader's future.
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
        guard let first = records.first else { return }
        let begun = [first.timestamp, first.writtenAt].compactMap(\.self).filter { $0 <= readAt }.max() ?? readAt
        due = begun + tier.wait
    }
}
