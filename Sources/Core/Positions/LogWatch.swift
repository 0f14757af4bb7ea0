package import Clocks
package import Records

/// Schedule of the checks whether the log of an owned topic is still the same one, and the record to check.
///
/// A topic that was recreated keeps its name, and Kafka's clients silently continue at their offset. So the log is
/// checked when its partition comes, soon after the first record, and four times a minute. It is checked at once after
/// reading failed or went back.
///
/// A new fingerprint counts only if its record was received before a check that found the earlier fingerprint in its
/// position. Then no other log came in between.
package struct LogWatch: Sendable {
    private var isSuspected = true
    /// Evidence that the log is another one.
    package private(set) var proof: LogBreak?
    private var isLooking = false
    /// Whether the log was suspected during the current check, which may have come too early.
    private var looksAgain = false
    private var due = Instant.distantPast
    /// Checks in a row that did not read the fingerprint.
    private var unread = 0
    /// Anchor that a check has found.
    private var verified: RecordFingerprint?
    /// First and last record that were received. Another log may have come between the two.
    private var first: RecordFingerprint?
    private var latest: RecordFingerprint?
    /// Last record when the latest check began.
    private var candidate: RecordFingerprint?
    /// Offset after the last received record, or where reading began.
    private var next: Int64?
    /// Position of reading at the last check. After the last record there may be offsets without one, such as the end
    /// of a transaction.
    private var read: Int64?
    /// Longest run of offsets without a record since the last check.
    private var gap: Range<Int64>?

    private static let firstLook = Duration.seconds(1)
    private static let interval = Duration.seconds(15)
    /// Checks without reading the fingerprint: the fingerprint of an idle topic is read once a minute.
    private static let unreadLimit = 3
    /// Pause after a check that got no reply.
    private static let pause = Duration.seconds(1)

    package init() {}

    /// Record to check; nil before the first record. An unverified one is better than none.
    package var fingerprint: RecordFingerprint? { verified ?? first }

    /// Last received record, if that is not the fingerprint.
    package var last: RecordFingerprint? { latest == fingerprint ? nil : latest }

    /// Whether to read the record at the fingerprint, which costs the brokers more. The end of a log without new
    /// records shows that it is another one, unless the other has as many records. So the fingerprint is read now and
    /// then anyway.
    package var readsFingerprint: Bool {
        isSuspected || (candidate ?? verified) != verified || unread >= Self.unreadLimit
    }

    /// Whether records may be accepted.
    package var isOpen: Bool { !isSuspected }

    package mutating func receive(_ records: [Record], at now: Instant) {
        guard let last = records.last else { return }
        if let next, last.offset - next >= Int64(records.count) { noteGaps(records, after: next) }
        next = last.offset + 1
        receive(last.offset, appended: last.timestamp, at: now)
    }

    private mutating func noteGaps(_ records: [Record], after start: Int64) {
        var next = start
        for record in records {
            if record.offset - next > gap?.count ?? 0 { gap = next..<record.offset }
            next = record.offset + 1
        }
    }

    /// Offsets that retention removed before they were read, at least one run of them; nil: none. Kafka's client
    /// silently continues at the first offset that is left. A log has other gaps, too (compaction, transactions), but
    /// those are not below its beginning right after they are read.
    ///
    /// - Parameters:
    ///   - first: the log's current first offset.
    ///   - isDrained: no record that was read waits to be received.
    ///   - position: the current position of reading.
    package mutating func expired(below first: Int64, isDrained: Bool, position: Int64? = nil) -> Range<Int64>? {
        let read = read
        defer { (gap, self.read) = (nil, position) }
        if let gap, gap.lowerBound < first { return gap.lowerBound..<min(gap.upperBound, first) }
        guard isDrained, let next = next.map({ max($0, read ?? 0) }), next < first else { return nil }
        self.next = first
        return next..<first
    }

    package mutating func receive(_ offset: Int64, appended timestamp: WallTime, at now: Instant) {
        if fingerprint == nil { due = min(due, now + Self.firstLook) }
        latest = RecordFingerprint(offset: offset, timestamp: timestamp)
        first = first ?? latest
    }

    /// Suspects the log, because reading failed or showed another one. Records received before belong to the old one.
    package mutating func suspect(_ proof: LogBreak? = nil) {
        self.proof = self.proof ?? proof
        verified = fingerprint
        (isSuspected, looksAgain, due) = (true, isLooking, .distantPast)
    }

    /// Whether to check now. A check that began ends with `begin`, `found` or `failed`.
    package mutating func beginLook(at now: Instant) -> Bool {
        guard !isLooking, now >= due else { return false }
        (isLooking, candidate) = (true, latest)
        return true
    }

    /// Ends a check that could not be made.
    package mutating func failed(at now: Instant) {
        (isLooking, looksAgain) = (false, false)
        due = now + Self.pause
    }

    /// Whether the check that ended came too early to show anything, because the log was suspected meanwhile. Then
    /// another is due.
    package mutating func isOutdated() -> Bool {
        guard looksAgain else { return false }
        (isLooking, looksAgain) = (false, false)
        return true
    }

    /// Ends a check that found the same log.
    package mutating func found(at now: Instant) {
        isLooking = false
        unread = readsFingerprint ? 0 : unread + 1
        (isSuspected, verified, due) = (false, candidate ?? verified, now + Self.interval)
    }

    /// Starts with a log that has this fingerprint.
    package mutating func begin(fingerprint: RecordFingerprint?, from next: Int64? = nil, at now: Instant) {
        self = LogWatch()
        self.next = next
        (isSuspected, verified, due) = (false, fingerprint, now + Self.interval)
    }
}
