/// Sizes of a replay's batches: 1, 10, 100, and so on. A batch starts once the batch before it has ended, and only if less
/// than a fifth of that failed.
package struct ReplayRamp: Sendable {
    private var size = 1

    package init() {}

    /// Size of the next batch.
    package mutating func next(of left: Int) -> Int {
        defer { size = min(size * 10, 1_000_000) }
        return min(size, left)
    }

    /// Whether this many failures end the replay.
    package static func stops(failed: Int, of count: Int) -> Bool { count > 0 && failed * 5 >= count }
}
