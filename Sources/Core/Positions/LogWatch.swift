package import Clocks
package import Records

/// Whether the log of an owned topic is still the one that is read: when to look, and at which record.
///
/// A topic that was recreated goes on under its name, and Kafka's clients go on at their offset in silence. So the log is
/// looked at when its partition comes, soon after the first record, four times a minute, and at once where reading failed
/// or went back. An anchor counts only if it was received before a look that found the earlier anchor in place: then no
/// other log came between.
package struct LogWatch: Sendable {
    private var isSuspected = true
    /// Why the log is known to be another one.
    package private(set) var proof: LogBreak?
    private var isLooking = false
    /// Suspected during the look under way: it may have come too early.
    private var looksAgain = false
    private var due = Instant.distantPast
    /// Looks in a row that did not read the anchor.
    private var unread = 0
    /// Found by a look.
    private var verified: LogAnchor?
    /// The first record that was received and the last. Another log may have come between the two.
    private var first: LogAnchor?
    private var latest: LogAnchor?
    /// The last one when the latest look began.
    private var candidate: LogAnchor?
    /// Offset after the last record that was received, or where reading began.
    private var next: Int64?
    /// How far the log was read when it was last looked at: what comes behind the last record may be none, as the end of a
    /// transaction is.
    private var read: Int64?
    /// The longest run of offsets without a record that was passed over since the last look.
    private var gap: Range<Int64>?

    private static let firstLook = Duration.seconds(1)
    private static let interval = Duration.seconds(15)
    /// The anchor of an idle topic is read once a minute.
    private static let unreadLimit = 3
    /// After a look without an answer.
    private static let pause = Duration.seconds(1)

    package init() {}

    /// Where to look; nil before there was a record. One that was not verified yet is better than none.
    package var anchor: LogAnchor? { verified ?? first }

    /// The last record that was received, where that is not the anchor.
    package var last: LogAnchor? { latest == anchor ? nil : latest }

    /// Whether the record at the anchor is to be read, which costs the brokers more. A log without a new record shows by its
    /// end that it is another one, unless that has as many records: so it is read now and then all the same.
    package var readsAnchor: Bool { isSuspected || (candidate ?? verified) != verified || unread >= Self.unreadLimit }

    /// Whether records may be taken up.
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

    /// Offsets that retention removed before they were read, one run of them at least; nil: none. Kafka's client goes on at the first that is left, in
    /// silence. A log has other gaps, too (compaction, transactions): those are not below its beginning as soon as they are read.
    ///
    /// - Parameters:
    ///   - first: where the log begins by now.
    ///   - isDrained: nothing that was read waits to be received.
    ///   - position: how far the log is read by now.
    package mutating func expired(below first: Int64, isDrained: Bool, position: Int64? = nil) -> Range<Int64>? {
        let read = read
        defer { (gap, self.read) = (nil, position) }
        if let gap, gap.lowerBound < first { return gap.lowerBound..<min(gap.upperBound, first) }
        guard isDrained, let next = next.map({ max($0, read ?? 0) }), next < first else { return nil }
        self.next = first
        return next..<first
    }

    package mutating func receive(_ offset: Int64, appended timestamp: WallTime, at now: Instant) {
        if anchor == nil { due = min(due, now + Self.firstLook) }
        latest = LogAnchor(offset: offset, timestamp: timestamp)
        first = first ?? latest
    }

    /// Reading failed, or showed another log. What was received before is of the old one.
    package mutating func suspect(_ proof: LogBreak? = nil) {
        self.proof = self.proof ?? proof
        verified = anchor
        (isSuspected, looksAgain, due) = (true, isLooking, .distantPast)
    }

    /// Whether to look now; a look that began ends with `begin`, `found` or `failed`.
    package mutating func beginLook(at now: Instant) -> Bool {
        guard !isLooking, now >= due else { return false }
        (isLooking, candidate) = (true, latest)
        return true
    }

    /// The look could not be made.
    package mutating func failed(at now: Instant) {
        (isLooking, looksAgain) = (false, false)
        due = now + Self.pause
    }

    /// Whether the look that ended came too early to say anything: the log was suspected meanwhile. Then another is due.
    package mutating func isOutdated() -> Bool {
        guard looksAgain else { return false }
        (isLooking, looksAgain) = (false, false)
        return true
    }

    /// The log is the one that was read.
    package mutating func found(at now: Instant) {
        isLooking = false
        unread = readsAnchor ? 0 : unread + 1
        (isSuspected, verified, due) = (false, candidate ?? verified, now + Self.interval)
    }

    /// Reading begins in a log that has this anchor.
    package mutating func begin(anchor: LogAnchor?, from next: Int64? = nil, at now: Instant) {
        self = LogWatch()
        self.next = next
        (isSuspected, verified, due) = (false, anchor, now + Self.interval)
    }
}
