package import ImageModel
package import JSONText

/// What one worker tells of a host, what somebody wants of it, or where a slot of its ceiling stands: a row of `origins`,
/// which keeps the newest of each.
///
/// All stand in the first partition, so that there is one order among them.
package struct OriginRow: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable { case open, slowed, blocked, probing }

    /// The host, or the group of hosts.
    package var host: String
    /// The worker, or `operator`.
    package var by: String
    package var state = State.open
    /// Why, as a code; nil where it is asked as usual.
    package var code: String?
    /// Milliseconds since 1970, as the next two.
    package var since: Int64?
    /// nil where the host is left alone by the word of others alone: their rows tell until when.
    package var until: Int64?
    /// The host has asked to be left alone, or a person wants it; what programs of before wrote counts as that.
    package var isWish = true
    package var at: Int64
    package var limit = 0
    package var inFlight = 0
    /// Slow slots that the worker uses, or has borrowed (`HostSlots`). Rows of before have none.
    package var slowInUse: Int?
    /// How often the worker asks it.
    package var perMinute = 0
    /// Jobs that wait for it.
    package var waiting = ByLane.none
    /// What holds back those that wait.
    package var heldBy: HostHold?
    /// Since the worker began: fetches of sources that were known, those of them that found nothing new, and jobs that were
    /// answered by what is stored since the host could not be asked.
    package var checks = 0
    package var matches = 0
    package var staleAnswers = 0
    /// The worker has no slot of the host's ceiling and wants that of this partition; of a slot's own row, where it stands.
    package var partition: PartitionID?
    /// It wants the slow slot of this partition for its slow jobs. Programs that know of none pass over it.
    package var slowPartition: PartitionID?
    /// Since when a slow job of its waits for a slot of either kind, by its own clock. Rows of before have none.
    package var slowSince: Int64?
    /// Of a slot's own row: its number.
    package private(set) var slot: Int?

    package static let partition = PartitionID(0)
    /// Nobody is left alone for longer without being asked once, milliseconds.
    package static let longestBlock: Int64 = 86_400_000
    /// Who blocks and opens hosts by hand.
    package static let operatorName = "operator"
    /// What names of slots begin with.
    package static let slotPrefix = "slot-"

    package init(host: String, by: String, at: Int64) { (self.host, self.by, self.at) = (host, by, at) }

    /// Where a slot stands. Programs that know of none read a host of which nobody asks anything.
    package init(host: String, slot: Int, at partition: PartitionID, at: Int64) {
        self.init(host: host, by: "\(Self.slotPrefix)\(slot)", at: at)
        (self.slot, self.partition) = (slot, partition)
    }

    /// For how long the host is to be left alone, milliseconds; nil: it is not. Clocks differ, so what is heard as it is
    /// written lasts as long as its writer says, and by the time goes only what was there before.
    package func block(isOld: Bool, at now: Int64) -> Int64? {
        guard state == .blocked, let until else { return nil }
        let left = isOld ? min(until - at, until - now) : until - at
        return left > 0 ? min(left, Self.longestBlock) : nil
    }

    /// Hosts that hold back jobs, by owner of partitions, those first for which most wait. Rows are in the log's order.
    ///
    /// - Parameter owners: as the log names them: a cluster's members by what they tell of hosts by, and their address; the
    ///   one of an embedded log otherwise. What is told newest of a host is a lone owner's.
    package static func held(_ rows: [OriginRow], owners: Set<String>) -> [String: [OriginRow]] {
        let newest = Dictionary(rows.filter(\.isWorkers).map { ($0.host, $0) }) { $1 }
        return Dictionary(
            uniqueKeysWithValues: owners.map { owner in
                let own = owners.count == 1 ? Array(newest.values) : rows.filter { owner.hasPrefix("\($0.by)@") }
                let held = own.filter { $0.heldBy != nil && $0.waiting.sum > 0 }
                return (owner, held.sorted { ($1.waiting.sum, $0.host) < ($0.waiting.sum, $1.host) })
            })
    }

    /// Who of those that tell of hosts lives, if these are the owners of partitions: of an embedded log's, whose name is
    /// another, the newest row is.
    fileprivate static func tellers(_ rows: [OriginRow], owners: Set<String>) -> Set<String> {
        let rows = rows.lazy.filter(\.isWorkers)
        let named = Set(rows.map(\.by)).filter { by in owners.contains { $0.hasPrefix("\(by)@") } }
        guard named.isEmpty, owners.count == 1 else { return named }
        return Set(rows.last.map { [$0.by] } ?? [])
    }

    fileprivate var isWorkers: Bool { slot == nil && !isOperators }

    package var isOperators: Bool { by == Self.operatorName }

    /// Whether it tells what counts for `OriginSummary.freshness` only, and so has to be told again within that. A block that
    /// is over is none: where no job comes, the host is not asked again.
    package var isLive: Bool {
        let isInTrouble = state == .blocked ? until ?? .min > at : state != .open
        return isInTrouble || inFlight + perMinute + waiting.sum > 0 || partition != nil || slowPartition != nil
    }

    package func newRecord() -> NewRecord {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        json.field("host", host)
        json.field("by", by)
        json.field("state", state.rawValue)
        if let code { json.field("code", code) }
        if let since { json.field("since", since) }
        if let until { json.field("until", until) }
        if !isWish {
            json.key("wish")
            json.boolean(false)
        }
        json.field("at", at)
        json.field("limit", limit)
        json.field("inFlight", inFlight)
        if let slowInUse { json.field("slowInUse", slowInUse) }
        if perMinute > 0 { json.field("perMinute", perMinute) }
        json.waiting { waiting[$0] }
        if let heldBy { json.field("heldBy", heldBy.rawValue) }
        if checks > 0 { json.field("checks", checks) }
        if matches > 0 { json.field("matches", matches) }
        if staleAnswers > 0 { json.field("staleAnswers", staleAnswers) }
        if let slot { json.field("slot", slot) }
        if let partition { json.field("partition", Int(partition.number)) }
        if let slowPartition { json.field("slowPartition", Int(slowPartition.number)) }
        if let slowSince { json.field("slowSince", slowSince) }
        json.endObject()
        return NewRecord(
            topic: .origins, partition: Self.partition, key: Array("\(by) \(host)".utf8), value: json.bytes,
            headers: EventHeader.event(
                EventHeader.originTold, id: "@origin/\(by)/\(host)/\(at)", at: at, traceparent: nil))
    }

    /// Whether nothing follows from it any more: it tells of no block that lasts, and the worker that wrote it told nothing else
    /// of the host for so long, or by a clock that was ahead. A slot stands where its row says, however old that is; what an
    /// operator wrote may be written again meanwhile.
    package func isForgettable(at now: Int64) -> Bool {
        guard isWorkers else { return false }
        if at > now + Self.longestBlock { return true }
        return at < now - Self.kept && block(isOld: true, at: now) == nil
    }
    package static let kept: Int64 = 3_600_000

    /// Takes the place of the row of this key.
    package static func tombstone(of key: [UInt8]) -> NewRecord {
        NewRecord(topic: .origins, partition: partition, key: key, value: nil)
    }

    /// nil if the record is not an origin row.
    package init?(_ record: Record) {
        guard let value = record.value, let row = try? Self(json: value) else { return nil }
        self = row
    }

    private init(json: [UInt8]) throws(JSONFailure) {
        self = try JSONReader.read(json) { (reader) throws(JSONFailure) -> OriginRow in
            var row = OriginRow(host: "", by: "", at: 0)
            let counts: ClosedRange<Int64> = 0...1 << 40
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "host": row.host = try reader.string()
                case "by": row.by = try reader.string()
                case "state": row.state = try reader.value("a state of a host") { State(rawValue: $0) }
                case "code": row.code = try reader.string()
                case "since": row.since = try reader.time()
                case "until": row.until = try reader.time()
                case "wish": row.isWish = try reader.boolean()
                case "at": row.at = try reader.time()
                case "limit": row.limit = Int(try reader.integer(in: counts))
                case "inFlight": row.inFlight = Int(try reader.integer(in: counts))
                case "slowInUse": row.slowInUse = Int(try reader.integer(in: counts))
                case "perMinute": row.perMinute = Int(try reader.integer(in: counts))
                // Of a later version it may be another word.
                case "heldBy": row.heldBy = HostHold(rawValue: try reader.string())
                case "checks": row.checks = Int(try reader.integer(in: counts))
                case "matches": row.matches = Int(try reader.integer(in: counts))
                case "staleAnswers": row.staleAnswers = Int(try reader.integer(in: counts))
                case "slot": row.slot = Int(try reader.integer(in: 0...1 << 20))
                case "partition": row.partition = PartitionID(Int32(try reader.integer(in: 0...1 << 20)))
                case "slowPartition": row.slowPartition = PartitionID(Int32(try reader.integer(in: 0...1 << 20)))
                case "slowSince": row.slowSince = try reader.time()
                default:
                    let name = key.text
                    if let lane = Lane.allCases.first(where: { $0.waitingField == name }) {
                        row.waiting[lane] = Int(try reader.integer(in: counts))
                    } else {
                        try reader.skip()
                    }
                }
            }
            return row
        }
    }
}

extension Lane {
    /// How many of its jobs wait for a host: `waitingFast`.
    fileprivate var waitingField: String { "waiting" + title }
}

extension JSONWriter {
    /// A field for each lane; null where nobody knows.
    package mutating func waiting(_ count: (Lane) -> Int?) {
        for lane in Lane.allCases {
            key(named: lane.waitingField)
            if let count = count(lane) { integer(count) } else { null() }
        }
    }
}

/// What all rows together say of one host.
package struct OriginSummary: Sendable, Hashable {
    package private(set) var host: String
    package private(set) var state = OriginRow.State.open
    package private(set) var code: String?
    package private(set) var since: Int64?
    package private(set) var until: Int64?
    /// Whether a worker lives that tells of it; without one nobody knows what is asked, and what waits.
    package private(set) var isTold = false
    package private(set) var limit = 0
    package private(set) var inFlight = 0
    package private(set) var perMinute = 0
    package private(set) var waiting = ByLane.none
    /// What holds most of them back.
    package private(set) var heldBy: HostHold?
    private var (checks, matches) = (0, 0)
    package private(set) var staleAnswers = 0

    /// How often a fetch of what was known found nothing new, from 0 to 1; nil where there was none.
    package var matchRate: Double? { checks > 0 ? Double(min(matches, checks)) / Double(checks) : nil }

    /// A worker tells again what it knows; one that has not for so long is gone, milliseconds.
    package static let freshness: Int64 = 30_000

    /// By host, in their order. Rows are in the log's order, or in any without `owners`.
    ///
    /// - Parameter owners: as the log names them (`OriginRow.held`): what they told of a host that is idle since still holds.
    ///   nil: that is not known, and who told anything lately counts.
    package static func all(of rows: [OriginRow], owners: Set<String>? = nil, at now: Int64) -> [OriginSummary] {
        // Clocks differ: what a worker that lives told counts by its own, as of what it told last.
        let clocks = owners.map { owners in
            let living = OriginRow.tellers(rows, owners: owners)
            return Dictionary(rows.lazy.filter { living.contains($0.by) }.map { ($0.by, $0.at) }) { $1 }
        }
        return Dictionary(grouping: rows, by: \.host).map { OriginSummary($0, rows: $1, clocks: clocks, at: now) }
            .sorted { $0.host < $1.host }
    }

    private init(_ host: String, rows: [OriginRow], clocks: [String: Int64]?, at now: Int64) {
        self.host = host
        // A time that lies far ahead is of a wrong clock, and would hide what is told for as long.
        let opened = rows.filter { $0.isOperators && $0.state == .open && $0.at < now + OriginRow.longestBlock }
            .map(\.at).max() ?? .min
        var mostHeld = 0
        // Of blocks the longest is told, a person's first: workers of before repeat it.
        for row in rows.sorted(by: { $0.isOperators && !$1.isOperators }) {
            let clock = clocks?[row.by]
            let now = clock ?? now
            let isFresh = row.at > now - Self.freshness && row.at < now + OriginRow.longestBlock
            let lives = clocks == nil ? nil : clock != nil
            if lives ?? isFresh, row.isWorkers {
                isTold = true
                limit += row.limit
            }
            if isFresh, lives ?? true, row.isWorkers {
                inFlight += row.inFlight
                perMinute += row.perMinute
                waiting = waiting + row.waiting
                if let held = row.heldBy, row.waiting.sum > mostHeld { (heldBy, mostHeld) = (held, row.waiting.sum) }
            }
            if !row.isOperators {
                checks += row.checks
                matches += row.matches
                staleAnswers += row.staleAnswers
            }
            // A block counts though its worker is gone: the next one reads of it.
            let counts = row.state == .blocked ? row.until.map { $0 > now && $0 < now + 2 * OriginRow.longestBlock } ?? false : isFresh
            let outlasts =
                state == .blocked && row.state == .blocked && row.code != OriginRow.operatorName
                && (row.until ?? .min) > (until ?? .min)
            guard row.at > opened, counts, row.state.severity > state.severity || outlasts else { continue }
            (state, code, since, until) = (row.state, row.code, row.since, row.until)
        }
    }
}

extension OriginRow.State {
    fileprivate var severity: Int {
        switch self {
        case .open: 0
        case .slowed: 1
        case .probing: 2
        case .blocked: 3
        }
    }
}
