/// Whether a host's last answers are failures for the most part.
package struct RecentAnswers: Sendable {
    package static let window = 20

    private(set) var failuresInRow = 0
    /// Good answers in all.
    private(set) var good = 0
    /// A bit each, the newest the lowest: failures, and apart from them those of URLs that are known to fail.
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

    /// `most` failures in a row, or half of the window. Failures of known URLs are not counted.
    func isFailing(after most: Int) -> Bool {
        failuresInRow >= most || (count == Self.window && failed.nonzeroBitCount >= Self.window / 2)
    }

    /// Three quarters of the window, known URLs counted.
    var isMostlyFailing: Bool {
        count == Self.window && (failed | known).nonzeroBitCount >= Self.window * 3 / 4
    }
}
