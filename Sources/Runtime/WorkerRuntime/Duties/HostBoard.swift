internal import Canonical
internal import Clocks
internal import Hosts
internal import Ports
internal import Records

/// What this worker and others tell of hosts through the topic `origins`: when it is read and written, how far it was read,
/// and which rows may go. `Worker+Origins` reads and appends.
struct HostBoard: Duty {
    /// Whether workers tell each other of hosts at all.
    private let isOn: Bool
    /// The next record to read; nil before the first reading.
    private var next: Int64?
    /// When it was last read and written.
    private var sharedAt = Instant.distantPast
    private var isSharing = false
    /// When a partition last came.
    private var assignedAt = Instant.distantFuture
    /// Rows of slots are on their way: their partitions stay until they are there.
    private(set) var isPassing = false
    /// Workers that want a slot of a host.
    private var wishes = SlotWishes()
    /// What was last written, by host, and when.
    private var told: [OriginHost: (row: OriginRow, at: Instant)] = [:]
    /// Of each host, how often it had been asked when its rate was last taken, and what that was.
    private var askings: [OriginHost: (count: Int, at: Instant, perMinute: Int)] = [:]
    /// When rows of hosts that nobody tells of any more were last looked for, and the look that is under way.
    private var sweptAt = Instant.distantPast
    private var sweep: OriginSweep?

    private static let interval = Duration.seconds(1)
    private static let sweepInterval = OriginRow.kept / 2
    /// Those of which something is so now (`OriginRow.isLive`) are told of again, or that would be taken for gone.
    private static let refresh = OriginSummary.freshness / 3
    /// Rows that are appended at once.
    private static let limit = 256
    /// Rows that cannot be read hold back fetches no longer than this: slots are at home then.
    private static let patience = Duration.seconds(10)

    init(isOn: Bool) { self.isOn = isOn }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        guard isOn, view.isRunning, !isSharing, view.now.monotonic - sharedAt >= Self.interval else { return [] }
        (isSharing, sharedAt) = (true, view.now.monotonic)
        return [.shareHosts]
    }

    /// All is read and written that was due.
    mutating func shared() { isSharing = false }

    /// A partition came: rows are read at once.
    mutating func assigned(at now: Instant) { (sharedAt, assignedAt) = (.distantPast, now) }

    /// Whether rows were read once.
    var hasRead: Bool { next != nil }

    /// Whether rows are not waited for: they were read, or could not be for too long.
    func isReady(at now: Instant) -> Bool { !isOn || hasRead || isLate(at: now) }
    func isLate(at now: Instant) -> Bool { now - assignedAt >= Self.patience }

    /// Where reading goes on; isAnew: the log was recreated, or lost its end.
    mutating func begin(reading bounds: Range<Int64>) -> (from: Int64, isAnew: Bool) {
        let isAnew = next.map { $0 > bounds.upperBound } ?? false
        if isAnew { (next, sweep) = (nil, nil) }
        return (max(next ?? bounds.lowerBound, bounds.lowerBound), isAnew)
    }

    mutating func read(upTo end: Int64) { next = end }

    mutating func keep(_ records: some Sequence<Record>) { for record in records { sweep?.keep(record.key) } }
    mutating func keep(_ records: some Sequence<NewRecord>) { for record in records { sweep?.keep(record.key) } }

    /// Another worker's row.
    mutating func hear(_ row: OriginRow, at now: Instant) { wishes.hear(row, of: OriginHost(group: row.host), at: now) }

    mutating func beginPassing(at now: Instant, slowWait: Duration) -> [HostSlots.Wish] {
        isPassing = true
        return wishes.live(at: now, slowWait: slowWait)
    }

    mutating func passed() { isPassing = false }
}

/// What is told.
extension HostBoard {
    /// Of these rows, as hosts are now, those that say something new, or would be taken for gone: those of which nothing was
    /// told for longest, if there are too many.
    mutating func rowsToTell(
        _ hosts: [OriginHost: (row: OriginRow, count: Int)], at now: Instant
    ) -> [OriginRow] {
        told = told.filter { hosts[$0.key] != nil }
        askings = askings.filter { hosts[$0.key] != nil }
        var rows: [(row: OriginRow, toldAt: Instant)] = []
        for (host, (row, count)) in hosts {
            var row = row
            row.perMinute = perMinute(host, count: count, at: now)
            guard var told = told[host] else {
                rows.append((row, .distantPast))
                continue
            }
            told.row.at = row.at
            // Of two clocks, and so never the same to the millisecond.
            if let old = told.row.waitingSince, let new = row.waitingSince, (new - old).magnitude < Self.interval {
                row.waitingSince = old
            }
            // Told with what else is, and when it ends.
            if (told.row.perMinute > 0) == (row.perMinute > 0) { told.row.perMinute = row.perMinute }
            if told.row != row || row.isLive && now - told.at >= Self.refresh { rows.append((row, told.at)) }
        }
        if rows.count > Self.limit { rows.sort { $0.toldAt < $1.toldAt } }
        return rows.prefix(Self.limit).map(\.row)
    }

    mutating func tell(_ row: OriginRow, at now: Instant) { told[OriginHost(group: row.host)] = (row, now) }

    /// How often the host is asked: as of the last ten seconds.
    private mutating func perMinute(_ host: OriginHost, count: Int, at now: Instant) -> Int {
        var last = askings[host] ?? (0, now - Self.refresh, 0)
        if now - last.at >= Self.refresh {
            let (asked, time) = (max(0, count - last.count), Int(max(1, (now - last.at).milliseconds)))
            last = (count, now, (asked * 60_000 + time / 2) / time)
        }
        askings[host] = last
        return last.perMinute
    }
}

/// Rows that may go.
extension HostBoard {
    /// From where a page is to be read for the look; nil: none is.
    enum SweepStep {
        case none
        /// The topic's bounds are asked for, and `beginSweep` gets them.
        case begin
        case page(from: Int64)
        case delete
    }

    func sweepStep(at now: Instant) -> SweepStep {
        guard next != nil else { return .none }
        guard let sweep else { return now - sweptAt >= Self.sweepInterval ? .begin : .none }
        return sweep.hasRead ? .delete : .page(from: sweep.next)
    }

    mutating func beginSweep(_ bounds: Range<Int64>) {
        guard let next else { return }
        sweep = OriginSweep(bounds.lowerBound..<max(bounds.lowerBound, next))
    }

    mutating func sweep(_ records: [Record], _ rows: [OriginRow?], mayGo: (OriginRow) -> Bool) {
        sweep?.take(records, rows, mayGo: mayGo)
    }

    /// Tombstones that are to be appended now; what the log does not take is found again by the next look.
    mutating func tombstones(at now: Instant) -> [(NewRecord, PartitionID?)] {
        guard var sweep else { return [] }
        let found = sweep.takeFound(4 * Self.limit)
        self.sweep = sweep.isEmpty ? nil : sweep
        if sweep.isEmpty { sweptAt = sweep.isFull ? .distantPast : now }
        return found
    }

    mutating func giveUpSweep() { sweep = nil }
}
