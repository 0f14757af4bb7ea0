internal import Clocks
internal import Ports
internal import Records

/// One partition of one topic whose records are finished.
struct PlaceWatch: Sendable {
    /// The first record that may be unfinished, and the offset that the next one gets; nil: never read.
    var start: Int64? { seen?.start }
    var end: Int64? { seen?.bounds.upperBound }
    /// Why it cannot be read, and since when.
    var failure: (since: WallTime, reason: String)?
    /// When it was seen to come on, or to have nothing to do.
    private(set) var movedAt: WallTime?
    /// When the record at an offset was appended, and where the place ended then: later offsets are younger, and a gap that
    /// reaches to the end is one only until more comes.
    var head: (offset: Int64, appended: WallTime?, end: Int64?)?
    /// nil: no transaction is open.
    var hidden: HiddenRecords?
    /// When that was asked.
    var headAt: WallTime?
    var sample: PlaceSample?
    var sampledAt: WallTime?
    /// As it was last looked at.
    private var seen: PartitionOffsets?
    /// As the partition's owners last told.
    private var finished: FinishedRecords?

    /// nil: not known.
    var unfinished: Int64? {
        guard let seen else { return nil }
        // What can be read may be gaps only.
        if let head, isHeadExact, head.appended == nil { return Self.bounded(seen.hidden) }
        return Self.bounded(seen.unfinished(finished))
    }

    /// When the oldest unfinished record was appended, or before that; nil if it is not known, or there is none.
    var oldest: WallTime? { unfinished ?? 0 > 0 ? head?.appended ?? hidden?.appended : nil }
    /// Whether `oldest` is of the very record.
    var isHeadExact: Bool {
        guard let head, head.offset == start else { return false }
        return head.appended != nil || head.end == end
    }

    /// Offsets that no log reaches are damage; sums over all places must not overflow.
    private static func bounded(_ count: Int64) -> Int64 { min(max(0, count), 1 << 40) }

    mutating func take(_ progress: TopicProgress?) {
        finished = seen.flatMap { progress?.finished(in: $0.bounds, committed: $0.committed) }
    }

    /// How many records came and went since the last look, and how many of these retention removed unfinished.
    mutating func take(_ offsets: PartitionOffsets, at now: WallTime) -> (in: Int64, out: Int64, lost: Int64) {
        let (oldStart, oldEnd) = (start, end)
        let lost = self.lost(to: offsets)
        (seen, failure) = (offsets, nil)
        if offsets.hidden == 0 {
            hidden = nil
        } else if hidden?.offset != offsets.bounds.upperBound {
            hidden = HiddenRecords(offset: offsets.bounds.upperBound, since: now)
        }
        // A log that was recreated begins below: its records before this look are not counted.
        let came = oldEnd.map { Self.bounded(offsets.bounds.upperBound - $0) } ?? 0
        let went = oldStart.map { Self.bounded(offsets.start - $0) } ?? 0
        if oldStart != offsets.start || offsets.records == 0 { movedAt = now }
        if let head, head.offset > offsets.start { self.head = nil }
        if offsets.records == 0 { (head, sample) = (nil, nil) }
        return (came, went, lost)
    }

    /// Records between what was finished and where the topic begins now; each is counted once. Without a committed offset,
    /// records that went before the first look were never known to be unread.
    private func lost(to new: PartitionOffsets) -> Int64 {
        let isRecreated = end.map { new.bounds.upperBound < $0 } ?? false
        guard !isRecreated, let done = new.committed ?? seen?.bounds.lowerBound else { return 0 }
        let begin = max(done, seen?.bounds.lowerBound ?? done, finished?.next ?? done)
        return Self.bounded(new.bounds.lowerBound - begin - Int64(finished?.ahead ?? 0))
    }
}

/// One partition: who owns it, and what its changelog says of that.
struct PartitionWatch: Sendable {
    var owner: String?
    /// When it was first seen without one, or with this one.
    var unownedSince: WallTime?
    var ownerSince: WallTime?
    var epoch: EpochRow?
    var progress: ProgressRow?
    /// Up to when its changelog was read to its end; nil where newer rows are unread.
    var changelogAt: WallTime?

    /// Whether an owner that came while we looked has not said its epoch yet: it restores, and its jobs wait. nil where its
    /// rows were not read since.
    var isRestoring: Bool? {
        guard owner != nil, let ownerSince else { return false }
        // Clocks differ, and it may have come just before we saw it.
        if let epoch, epoch.at >= ownerSince - .seconds(10) { return false }
        if let progress, progress.at > ownerSince { return false }
        guard let changelogAt, changelogAt >= ownerSince else { return nil }
        return epoch != nil
    }
}

/// A worker that was asked for its metrics.
struct WorkerWatch: Sendable {
    var figures: WorkerFigures?
    /// When it last answered; why it does not, and since when.
    var answeredAt: WallTime?
    var silence: (since: WallTime, reason: String)?
    /// When it last answered, or did not.
    private(set) var askedAt: WallTime?
    /// When a stage was last seen to have failed with this code.
    var failedAt: [String: WallTime] = [:]
    /// When its restore was last seen to come on.
    var restoredAt: WallTime?
    /// When it was seen to have been started again, within `restartTime`.
    private(set) var restarts: [WallTime] = []
    /// Renders that ran, and that may run at once, at its last looks: one look is a moment's.
    private(set) var renders: [(at: WallTime, used: Int, all: Int)] = []
    /// Records that it newly counted as removed unread.
    private(set) var lost: Int64 = 0

    static let restartTime: Duration = .minutes(10)

    /// Since when it has been silent while partitions had an owner; nil until it was asked in that time.
    func silentSince(owned: WallTime?) -> WallTime? {
        guard let silence, let owned, let askedAt, askedAt > owned else { return nil }
        return max(silence.since, owned)
    }
    private static let renderLooks = 10

    mutating func take(_ answer: WorkerSight.Answer, at now: WallTime) {
        askedAt = now
        switch answer {
        case .silent(let reason): (silence, lost) = ((silence?.since ?? now, reason), 0)
        case .figures(let new):
            // What happened before the first look is not news. A worker that was started again counts from nought.
            if let old = figures {
                let isSame = old.started == new.started
                for (code, count) in new.failures where count > (isSame ? old.failures[code] ?? 0 : 0) {
                    failedAt[code] = now
                }
                if let before = old.rowsLeft, let left = new.rowsLeft, left < before { restoredAt = now }
                if let before = old.started, let started = new.started, started > before { restarts.append(now) }
            }
            restarts.removeAll { $0 <= now - Self.restartTime }
            countLost(new, at: now)
            if let used = new.renderPermits.used, let all = new.renderPermits.all {
                renders = renders.suffix(Self.renderLooks - 1) + [(now, used, all)]
            }
            let isTold = new.restoring ?? 0 > 0 && new.rowsLeft != nil
            if !isTold { restoredAt = nil } else if restoredAt == nil { restoredAt = now }
            failedAt = failedAt.filter { new.failures[$0.key] != nil }
            (figures, answeredAt, silence) = (new, now, nil)
        }
    }

    /// A worker that is seen for the first time has counted since its start.
    private mutating func countLost(_ new: WorkerFigures, at now: WallTime) {
        let code = LogFailure.Code.expired.rawValue
        let isOld = new.started.map { $0 <= now - LostRecords.span } ?? true
        let before = figures?.started == new.started ? figures?.failures[code] ?? 0 : 0
        lost = figures == nil && isOld ? 0 : Int64(max(0, (new.failures[code] ?? 0) - before))
    }
}
