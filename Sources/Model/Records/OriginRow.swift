package import Clocks
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
    package var since: WallTime?
    /// nil where the host is left alone by the word of others alone: their rows tell until when.
    package var until: WallTime?
    /// The host has asked to be left alone, or a person wants it; what programs of before wrote counts as that.
    package var isWish = true
    package var at: WallTime
    package var limit = 0
    package var inFlight = 0
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
    /// Since when its oldest job has waited for a slot, by its own clock. Rows of versions before 0.2.0 have none.
    package var waitingSince: WallTime?
    /// Of a slot's own row: its number.
    package private(set) var slot: Int?

    package static let partition = PartitionID(0)
    /// Nobody is left alone for longer without being asked once.
    package static let longestBlock = Duration.days(1)
    /// Who blocks and opens hosts by hand.
    package static let operatorName = "operator"
    /// What names of slots begin with.
    package static let slotPrefix = "slot-"

    package init(host: String, by: String, at: WallTime) { (self.host, self.by, self.at) = (host, by, at) }

    /// Where a slot stands. Programs that know of none read a host of which nobody asks anything.
    package init(host: String, slot: Int, at partition: PartitionID, at: WallTime) {
        self.init(host: host, by: "\(Self.slotPrefix)\(slot)", at: at)
        (self.slot, self.partition) = (slot, partition)
    }

    /// For how long the host is to be left alone; nil: it is not. Clocks differ, so what is heard as it is
    /// written lasts as long as its writer says, and by the time goes only what was there before.
    package func block(isOld: Bool, at now: WallTime) -> Duration? {
        guard state == .blocked, let until else { return nil }
        let left = isOld ? min(until - at, until - now) : until - at
        return left > .zero ? min(left, Self.longestBlock) : nil
    }

    var isWorkers: Bool { slot == nil && !isOperators }

    package var isOperators: Bool { by == Self.operatorName }

    /// Whether it tells what counts for `OriginSummary.freshness` only, and so has to be told again within that. A block that
    /// is over is none: where no job comes, the host is not asked again.
    package var isLive: Bool {
        let isInTrouble = state == .blocked ? until ?? .distantPast > at : state != .open
        return isInTrouble || inFlight + perMinute + waiting.sum > 0 || partition != nil
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
        if perMinute > 0 { json.field("perMinute", perMinute) }
        json.waiting { waiting[$0] }
        if let heldBy { json.field("heldBy", heldBy.rawValue) }
        if checks > 0 { json.field("checks", checks) }
        if matches > 0 { json.field("matches", matches) }
        if staleAnswers > 0 { json.field("staleAnswers", staleAnswers) }
        if let slot { json.field("slot", slot) }
        if let partition { json.field("partition", Int(partition.number)) }
        if let waitingSince { json.field("waitingSince", waitingSince) }
        json.endObject()
        return NewRecord(
            topic: .origins, partition: Self.partition, key: Array("\(by) \(host)".utf8), value: json.bytes,
            headers: EventHeader.event(
                EventHeader.originTold, id: "@origin/\(by)/\(host)/\(at.milliseconds)", at: at, traceparent: nil))
    }

    /// Whether nothing follows from it any more: it tells of no block that lasts, and the worker that wrote it told nothing else
    /// of the host for so long, or by a clock that was ahead. A slot stands where its row says, however old that is; what an
    /// operator wrote may be written again meanwhile.
    package func isForgettable(at now: WallTime) -> Bool {
        guard isWorkers else { return false }
        if at > now + Self.longestBlock { return true }
        return at < now - Self.kept && block(isOld: true, at: now) == nil
    }
    package static let kept = Duration.hours(1)

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
            var row = OriginRow(host: "", by: "", at: .epoch)
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
                case "perMinute": row.perMinute = Int(try reader.integer(in: counts))
                // Of a later version it may be another word.
                case "heldBy": row.heldBy = HostHold(rawValue: try reader.string())
                case "checks": row.checks = Int(try reader.integer(in: counts))
                case "matches": row.matches = Int(try reader.integer(in: counts))
                case "staleAnswers": row.staleAnswers = Int(try reader.integer(in: counts))
                case "slot": row.slot = Int(try reader.integer(in: 0...1 << 20))
                case "partition": row.partition = PartitionID(Int32(try reader.integer(in: 0...1 << 20)))
                case "waitingSince": row.waitingSince = try reader.time()
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
