internal import Clocks

/// Finds old dead letters: letters that were old at two looks, because nothing brings a letter back. A clock that runs ahead
/// for less than the time between the looks takes none away. The log keeps what the last look found for the next program
/// (`OpenLog.saveLook`): a program that restarts more often would remove none either. It counts until the machine is started
/// again, since its clock may be wrong at each start. A clock that was behind when a letter was written is not noticed.
struct OldDeadLetters: Sendable {
    private let interval: Duration
    private var lookedAt: Instant?
    /// By partition, what the last look found: letters below it were old.
    private var found: [Int64] = []
    /// By partition: letters below it are old.
    private(set) var ends: [Int64] = []

    init(every interval: Duration) { self.interval = interval }

    /// The last look was an earlier program's.
    mutating func resume(_ found: [Int64], lookedAt: Instant) {
        if self.lookedAt == nil { (self.found, self.lookedAt) = (found, lookedAt) }
    }

    /// Whether a look is due. The next one is due an interval later, even if this one fails.
    mutating func beginLook(at now: Instant) -> Bool {
        if let lookedAt, now - lookedAt < interval { return false }
        lookedAt = now
        return true
    }

    mutating func look(_ new: [Int64]) {
        ends = found.count == new.count ? zip(found, new).map { min($0, $1) } : []
        found = new
    }

    /// Nothing more is done before the next look.
    mutating func finish() { ends = [] }
}
