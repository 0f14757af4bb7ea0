internal import Clocks
internal import ImageModel
internal import Ports
internal import Records

/// State of one topic-partition whose records are finished.
struct PlaceWatch: Sendable {
    /// The first record that may be unfinished, and the offset of the next new one; nil: never read.
    var start: Int64? { seen?.start }
    var end: Int64? { seen?.bounds.upperBound }
    /// Reason why it cannot be read, with its start.
    var failure: (since: WallTime, reason: String)?
    /// Time when it was last seen to progress, or to have nothing to do.
    private(set) var movedAt: WallTime?
    /// Append time of the record at an offset, with the partition's end at that time. Later offsets are younger. A gap
    /// that reaches to the end is a gap only until more records come.
    var head: (offset: Int64, appended: WallTime?, end: Int64?)?
    /// nil: no transaction is open.
    var hidden: HiddenRecords?
    /// Time of that reading.
    var headAt: WallTime?
    var sample: PlaceSample?
    var sampledAt: WallTime?
    /// Offsets at the last poll.
    private var seen: PartitionOffsets?
    /// Progress that the partition's owners last reported.
    private var finished: FinishedRecords?

    /// Number of unfinished records; nil: not known.
    var unfinished: Int64? {
        guard let seen else { return nil }
        // The readable part may be gaps only.
        if let head, isHeadExact, head.appended == nil { return Self.bounded(seen.hidden) }
        return Self.bounded(seen.unfinished(finished))
    }

    /// Append time of the oldest unfinished record, or an earlier time; nil if it is not known, or there is none.
    var oldest: WallTime? { unfinished ?? 0 > 0 ? head?.appended ?? hidden?.appended : nil }
    /// Whether `oldest` belongs to exactly that record.
    var isHeadExact: Bool {
        guard let head, head.offset == start else { return false }
        return head.appended != nil || head.end == end
    }

    /// Limits a count. Offsets beyond any real log are damage, and sums over all topic-partitions must not overflow.
    private static func bounded(_ count: Int64) -> Int64 { min(max(0, count), 1 << 40) }

    mutating func take(_ progress: TopicProgress?) {
        finished = seen.flatMap { progress?.finished(in: $0.bounds, committed: $0.committed) }
    }

    /// Applies new offsets. Returns how many records came and went since the last poll, and how many of these retention
    /// removed unfinished.
    mutating func take(_ offsets: PartitionOffsets, at now: WallTime) -> (in: Int64, out: Int64, lost: Int64) {
        let (oldStart, oldEnd) = (start, end)
        let lost = self.lost(to: offsets)
        (seen, failure) = (offsets, nil)
        if offsets.hidden == 0 {
            hidden = nil
        } else if hidden?.offset != offsets.bounds.upperBound {
            hidden = HiddenRecords(offset: offsets.bounds.upperBound, since: now)
        }
        // A log that was recreated begins below: its records before this poll are not counted.
        let came = oldEnd.map { Self.bounded(offsets.bounds.upperBound - $0) } ?? 0
        let went = oldStart.map { Self.bounded(offsets.start - $0) } ?? 0
        if oldStart != offsets.start || offsets.records == 0 { movedAt = now }
        if let head, head.offset > offsets.start { self.head = nil }
        if offsets.records == 0 { (head, sample) = (nil, nil) }
        return (came, went, lost)
    }

    /// Number of records between the finished ones and the topic's current beginning; each is counted once. Without a
    /// committed offset, records that went before the first poll were never known to be unread.
    private func lost(to new: PartitionOffsets) -> Int64 {
        let isRecreated = end.map { new.bounds.upperBound < $0 } ?? false
        guard !isRecreated, let done = new.committed ?? seen?.bounds.lowerBound else { return 0 }
        let begin = max(done, seen?.bounds.lowerBound ?? done, finished?.next ?? done)
        return Self.bounded(new.bounds.lowerBound - begin - Int64(finished?.ahead ?? 0))
    }
}

/// State of one partition: its owner, and the rows of its changelog about that.
struct PartitionWatch: Sendable {
    var owner: String?
    /// Time when it was first seen without an owner, or with this one.
    var unownedSince: WallTime?
    var ownerSince: WallTime?
    var epoch: EpochRow?
    var progress: ProgressRow?
    /// Bounds of its `parked`; nil: never read.
    var parkedBounds: Range<Int64>?
    var parkedSample: PlaceSample?
    var parkedSampledAt: WallTime?

    /// Number of the newest records of `parked` that are sampled.
    static let parkedSampled = 250

    /// Parked jobs as its owner last counted them, or as a sample of the whole topic shows them: an owner may end before it
    /// has counted. nil if they are not known.
    var parked: ProgressRow.Parked? {
        if let parked = progress?.parked { return parked }
        guard let parkedBounds, parkedBounds.count <= Self.parkedSampled, parkedBounds.isEmpty || parkedSample != nil else {
            return nil
        }
        let lanes = ByLane { lane in
            let groups = parkedSample?.groups.filter { $0.key.lane == lane.rawValue }.values.map(\.self) ?? []
            return ProgressRow.Parked.Jobs(
                Int64(groups.reduce(0) { $0 + $1.count }), oldest: groups.map(\.since).min())
        }
        return ProgressRow.Parked(epoch: 0, lanes: lanes)
    }
    /// Time up to which its changelog was read to its end; nil if newer rows are unread.
    var changelogAt: WallTime?

    /// Whether the owner came while lagwatch ran and has not written its epoch yet: it restores, and its jobs wait. nil
    /// if its rows were not read since.
    var isRestoring: Bool? {
        guard owner != nil, let ownerSince else { return false }
        // Clocks differ, and the owner may have come just before it was seen.
        if let epoch, epoch.at >= ownerSince - .seconds(10) { return false }
        if let progress, progress.at > ownerSince { return false }
        guard let changelogAt, changelogAt >= ownerSince else { return nil }
        return epoch != nil
    }
}

/// State of a worker that is asked for its metrics.
struct WorkerWatch: Sendable {
    var figures: WorkerFigures?
    /// Time of its last response, and the start and reason of its silence.
    var respondedAt: WallTime?
    var silence: (since: WallTime, reason: String)?
    /// Time of its last response, or of the last one that did not come.
    private(set) var askedAt: WallTime?
    /// Time when a stage was last seen to have failed, by code.
    var failedAt: [String: WallTime] = [:]
    /// Time when its restore was last seen to progress.
    var restoredAt: WallTime?
    /// Times when it was seen to have been restarted after a crash, within `restartTime`.
    private(set) var restarts: [WallTime] = []
    /// Running renders, and the maximum, at its last polls. One poll shows only a moment.
    private(set) var renders: [(at: WallTime, used: Int, all: Int)] = []
    /// Records that it newly counted as removed unread.
    private(set) var lost: Int64 = 0

    static let restartTime: Duration = .minutes(10)

    /// Start of its silence while partitions had an owner; nil until it was asked in that time.
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
            // Events before the first poll are not news. A restarted worker counts from 0.
            if let old = figures {
                let isSame = old.started == new.started
                for (code, count) in new.failures where count > (isSame ? old.failures[code] ?? 0 : 0) {
                    failedAt[code] = now
                }
                if let before = old.rowsLeft, let left = new.rowsLeft, left < before { restoredAt = now }
                // A worker that was stopped may come as often as it likes.
                if let before = old.started, let started = new.started, started > before,
                    new.crashes == nil || new.crashes != old.crashes
                {
                    restarts.append(now)
                }
            }
            restarts.removeAll { $0 <= now - Self.restartTime }
            countLost(new, at: now)
            if let used = new.renderPermits.used, let all = new.renderPermits.all {
                renders = renders.suffix(Self.renderLooks - 1) + [(now, used, all)]
            }
            let isReported = new.restoring ?? 0 > 0 && new.rowsLeft != nil
            if !isReported { restoredAt = nil } else if restoredAt == nil { restoredAt = now }
            failedAt = failedAt.filter { new.failures[$0.key] != nil }
            (figures, respondedAt, silence) = (new, now, nil)
        }
    }

    /// Counts lost records. A worker that is seen for the first time has counted since its start.
    private mutating func countLost(_ new: WorkerFigures, at now: WallTime) {
        let code = LogFailure.Code.expired.rawValue
        let isOld = new.started.map { $0 <= now - LostRecords.span } ?? true
        let before = figures?.started == new.started ? figures?.failures[code] ?? 0 : 0
        lost = figures == nil && isOld ? 0 : Int64(max(0, (new.failures[code] ?? 0) - before))
    }
}
