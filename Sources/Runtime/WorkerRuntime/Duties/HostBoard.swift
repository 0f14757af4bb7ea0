internal import Canonical
internal import Clocks
internal import Hosts
internal import Ports
internal import Records

/// Schedule of the topic `origins`, through which workers share the state of hosts. It decides when the topic is read
/// and written, and which rows may be deleted. `Worker+Origins` reads and appends.
struct HostBoard: Duty {
    /// Whether workers share the state of hosts at all.
    private let isOn: Bool
    /// The next record to read; nil before the first reading.
    private var next: Int64?
    /// Time of the last reading and writing.
    private var sharedAt = Instant.distantPast
    private var isSharing = false
    /// Time when a partition last came.
    private var assignedAt = Instant.distantFuture
    /// Whether rows of slots are being appended. Their partitions stay until the rows are there.
    private(set) var isPassing = false
    /// Workers that request a slot of a host.
    private var slotRequests = SlotRequests()
    /// Last row that was written for each host, with its time.
    private var published: [OriginHost: (row: OriginRow, at: Instant)] = [:]
    /// For each host, its number of fetches when its rate was last computed, and that rate.
    private var askings: [OriginHost: (count: Int, at: Instant, perMinute: Int)] = [:]
    /// Time of the last sweep for rows of hosts that no worker publishes any more, and the sweep in progress.
    private var sweptAt = Instant.distantPast
    private var sweep: OriginSweep?

    private static let interval = Duration.seconds(1)
    private static let sweepInterval = OriginRow.kept / 2
    /// Interval after which live rows (`OriginRow.isLive`) are written again. Otherwise they would count as gone.
    private static let refresh = OriginSummary.freshness / 3
    /// Maximum rows of one append.
    private static let limit = 256
    /// Time after which rows that cannot be read delay fetches no more. All slots then count as being at their default
    /// partitions.
    private static let patience = Duration.seconds(10)

    init(isOn: Bool) { self.isOn = isOn }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        guard isOn, view.isRunning, !isSharing, view.now.monotonic - sharedAt >= Self.interval else { return [] }
        (isSharing, sharedAt) = (true, view.now.monotonic)
        return [.shareHosts]
    }

    /// Ends a round: all due rows are read and written.
    mutating func shared() { isSharing = false }

    /// Notes that a partition came, so that rows are read at once.
    mutating func assigned(at now: Instant) { (sharedAt, assignedAt) = (.distantPast, now) }

    /// Whether rows were read at least once.
    var hasRead: Bool { next != nil }

    /// Whether fetches need not wait for rows: they were read, or could not be for too long.
    func isReady(at now: Instant) -> Bool { !isOn || hasRead || isLate(at: now) }
    func isLate(at now: Instant) -> Bool { now - assignedAt >= Self.patience }

    /// Position where reading continues. `isAnew`: the log was recreated, or lost its end.
    mutating func begin(reading bounds: Range<Int64>) -> (from: Int64, isAnew: Bool) {
        let isAnew = next.map { $0 > bounds.upperBound } ?? false
        if isAnew { (next, sweep) = (nil, nil) }
        return (max(next ?? bounds.lowerBound, bounds.lowerBound), isAnew)
    }

    mutating func read(upTo end: Int64) { next = end }

    mutating func keep(_ records: some Sequence<Record>) { for record in records { sweep?.keep(record.key) } }
    mutating func keep(_ records: some Sequence<NewRecord>) { for record in records { sweep?.keep(record.key) } }

    /// Takes another worker's row.
    mutating func hear(_ row: OriginRow, at now: Instant) {
        slotRequests.hear(row, of: OriginHost(group: row.host), at: now)
    }

    mutating func beginPassing(at now: Instant, slowWait: Duration) -> [HostSlots.Request] {
        isPassing = true
        return slotRequests.live(at: now, slowWait: slowWait)
    }

    mutating func passed() { isPassing = false }
}

/// Rows to write.
extension HostBoard {
    /// Rows among these, the current state of hosts, that contain news or would soon count as gone. If there are too
    /// many, those come first whose host was written longest ago.
    mutating func rowsToTell(
        _ hosts: [OriginHost: (row: OriginRow, count: Int)], at now: Instant
    ) -> [OriginRow] {
        published = published.filter { hosts[$0.key] != nil }
        askings = askings.filter { hosts[$0.key] != nil }
        var rows: [(row: OriginRow, publishedAt: Instant)] = []
        for (host, (row, count)) in hosts {
            var row = row
            row.perMinute = perMinute(host, count: count, at: now)
            guard var published = published[host] else {
                rows.append((row, .distantPast))
                continue
            }
            published.row.at = row.at
            // The value comes from two clocks, so it never repeats to the millisecond.
            if let old = published.row.waitingSince, let new = row.waitingSince, (new - old).magnitude < Self.interval {
                row.waitingSince = old
            }
            // A change of the rate is written with other changes, and when the fetches end.
            if (published.row.perMinute > 0) == (row.perMinute > 0) { published.row.perMinute = row.perMinute }
            if published.row != row || row.isLive && now - published.at >= Self.refresh {
                rows.append((row, published.at))
            }
        }
        if rows.count > Self.limit { rows.sort { $0.publishedAt < $1.publishedAt } }
        return rows.prefix(Self.limit).map(\.row)
    }

    mutating func tell(_ row: OriginRow, at now: Instant) { published[OriginHost(group: row.host)] = (row, now) }

    /// Fetches of the host per minute, from the last ten seconds.
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

/// Deletion of rows.
extension HostBoard {
    /// Next step of the sweep.
    enum SweepStep {
        case none
        /// Ask for the topic's bounds, which `beginSweep` gets.
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

    /// Examines a page. Returns whether it was the last one.
    mutating func sweep(_ records: [Record], _ rows: [OriginRow?], mayGo: (OriginRow) -> Bool) -> Bool {
        sweep?.take(records, rows, mayGo: mayGo)
        return sweep?.hasRead ?? false
    }

    /// Tombstones to append now. If the log does not accept them, the next sweep finds the rows again.
    mutating func tombstones(at now: Instant) -> [(NewRecord, PartitionID?)] {
        guard var sweep else { return [] }
        let found = sweep.takeFound(4 * Self.limit)
        self.sweep = sweep.isEmpty ? nil : sweep
        if sweep.isEmpty { sweptAt = sweep.isFull ? .distantPast : now }
        return found
    }

    mutating func abandonSweep() { sweep = nil }
}
