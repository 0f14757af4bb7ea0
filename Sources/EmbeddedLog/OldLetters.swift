/// Which dead letters are old: those that were so at two looks, so that a clock that is wrong for less than the time between
/// the two takes none away. Nothing brings them back. Who runs for a shorter time takes none away either.
///
/// Times are monotonic milliseconds.
struct OldLetters: Sendable {
    private let interval: Int64
    private var lookedAt: Int64?
    /// By partition, what the last look found: letters below it were old.
    private var found: [Int64] = []
    /// By partition: letters below it are old.
    private(set) var ends: [Int64] = []

    init(every interval: Int64) { self.interval = interval }

    /// Whether it is time to look; then another look is due after the interval, whatever becomes of this one.
    mutating func beginLook(at now: Int64) -> Bool {
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
