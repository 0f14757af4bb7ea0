/// Whether most of a host's last responses are failures.
package struct RecentResponses: Sendable {
    package static let window = 20

    private(set) var failuresInRow = 0
    /// Total of good responses.
    private(set) var good = 0
    /// One bit for each response, the newest lowest: failures, and separately failures of URLs that are known to fail.
    private var failed: UInt32 = 0
    private var known: UInt32 = 0
    private var count = 0

    package mutating func add(isFailure: Bool, isKnown: Bool = false) {
        if !isKnown { failuresInRow = isFailure ? failuresInRow + 1 : 0 }
        if !isFailure { good += 1 }
        let mask: UInt32 = 1 << UInt32(Self.window) - 1
        failed = (failed << 1 | (isFailure && !isKnown ? 1 : 0)) & mask
        known = (known << 1 | (isKnown ? 1 : 0)) & mask
        count = min(count + 1, Self.window)
    }

    /// Whether the last `most` responses failed, or half of the window. Failures of known URLs do not count.
    func isFailing(after most: Int) -> Bool {
        failuresInRow >= most || (count == Self.window && failed.nonzeroBitCount >= Self.window / 2)
    }

    /// Whether three quarters of the window failed, known URLs included.
    var isMostlyFailing: Bool {
        count == Self.window && (failed | known).nonzeroBitCount >= Self.window * 3 / 4
    }
}
