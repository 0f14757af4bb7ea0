package import Clocks
package import ImageModel
package import JSONText

/// Row of `origins`: a worker's report on a host, an operator's command, or the location of a slot of a host's ceiling.
/// The topic keeps the newest row of each key.
///
/// All rows are in the first partition, so that they have one order.
package struct OriginRow: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable { case open, slowed, blocked, probing }

    /// Host, or group of hosts.
    package var host: String
    /// Worker, or `operator`.
    package var by: String
    package var state = State.open
    /// Code of the reason; nil if the host has no restriction.
    package var code: String?
    package var since: WallTime?
    /// End of the block; nil if only other workers' rows block the host, and state the end.
    package var until: WallTime?
    /// Whether the host or an operator asked for the block. True in rows written before the field existed.
    package var isRequested = true
    package var at: WallTime
    package var limit = 0
    package var inFlight = 0
    /// Requests of the worker to the host in a minute.
    package var perMinute = 0
    /// Jobs that wait for the host.
    package var waiting = ByLane.none
    /// Reason why the waiting jobs are held back.
    package var throttledBy: HostHold?
    /// Totals since the worker started: revalidations of known sources (`checks`), revalidations without a change
    /// (`matches`), and jobs completed from stored data because the host could not be fetched from.
    package var checks = 0
    package var matches = 0
    package var staleOutcomes = 0
    /// In a worker's row: the worker has no slot of the host and requests the slot of this partition. In a slot's row:
    /// the partition that has the slot.
    package var partition: PartitionID?
    /// Time since which the oldest job has waited for a slot, by the worker's clock. Rows of versions before 0.2.0 have
    /// none.
    package var waitingSince: WallTime?
    /// Number of the slot, in a slot's row.
    package private(set) var slot: Int?

    package static let partition = PartitionID(0)
    /// Longest block without a probe of the host.
    package static let longestBlock = Duration.days(1)
    /// Name under which operators block and open hosts.
    package static let operatorName = "operator"
    /// Prefix of the names of slots.
    package static let slotPrefix = "slot-"

    package init(host: String, by: String, at: WallTime) { (self.host, self.by, self.at) = (host, by, at) }

    /// Row that locates a slot. Versions without slots read it as an open host without traffic.
    package init(host: String, slot: Int, at partition: PartitionID, at: WallTime) {
        self.init(host: host, by: "\(Self.slotPrefix)\(slot)", at: at)
        (self.slot, self.partition) = (slot, partition)
    }

    /// Remaining duration of the block; nil if the row blocks nothing.
    ///
    /// Clocks differ, so a block that is read as it is written lasts for the duration that its writer published. Only
    /// an old row is also limited by its wall-clock end.
    package func block(isOld: Bool, at now: WallTime) -> Duration? {
        guard state == .blocked, let until else { return nil }
        let left = isOld ? min(until - at, until - now) : until - at
        return left > .zero ? min(left, Self.longestBlock) : nil
    }

    var isWorkers: Bool { slot == nil && !isOperators }

    package var isOperators: Bool { by == Self.operatorName }

    /// Whether the row counts only for `OriginSummary.freshness`, and so must be written again within that time. An
    /// expired block does not count: without jobs, the host is not contacted again.
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
        if !isRequested {
            json.key("wish")
            json.boolean(false)
        }
        json.field("at", at)
        json.field("limit", limit)
        json.field("inFlight", inFlight)
        if perMinute > 0 { json.field("perMinute", perMinute) }
        json.waiting { waiting[$0] }
        if let throttledBy { json.field("heldBy", throttledBy.rawValue) }
        if checks > 0 { json.field("checks", checks) }
        if matches > 0 { json.field("matches", matches) }
        if staleOutcomes > 0 { json.field("staleAnswers", staleOutcomes) }
        if let slot { json.field("slot", slot) }
        if let partition { json.field("partition", Int(partition.number)) }
        if let waitingSince { json.field("waitingSince", waitingSince) }
        json.endObject()
        return NewRecord(
            topic: .origins, partition: Self.partition, key: Array("\(by) \(host)".utf8), value: json.bytes,
            headers: EventHeader.event(
                EventHeader.originReported, id: "@origin/\(by)/\(host)/\(at.milliseconds)", at: at, traceparent: nil))
    }

    /// Whether the row is obsolete. It is obsolete if it has no lasting block and was not replaced within an hour
    /// (`kept`), or if its time is more than a day ahead.
    ///
    /// A slot's row is never obsolete, because the slot stays there until a newer row moves it. An operator's row is
    /// never obsolete either, because the operator may write it again meanwhile.
    package func isForgettable(at now: WallTime) -> Bool {
        guard isWorkers else { return false }
        if at > now + Self.longestBlock { return true }
        return at < now - Self.kept && block(isOld: true, at: now) == nil
    }
    package static let kept = Duration.hours(1)

    /// Tombstone that replaces the row of a key.
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
                case "wish": row.isRequested = try reader.boolean()
                case "at": row.at = try reader.time()
                case "limit": row.limit = Int(try reader.integer(in: counts))
                case "inFlight": row.inFlight = Int(try reader.integer(in: counts))
                case "perMinute": row.perMinute = Int(try reader.integer(in: counts))
                // A later version may write another word.
                case "heldBy": row.throttledBy = HostHold(rawValue: try reader.string())
                case "checks": row.checks = Int(try reader.integer(in: counts))
                case "matches": row.matches = Int(try reader.integer(in: counts))
                case "staleAnswers": row.staleOutcomes = Int(try reader.integer(in: counts))
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
    /// Field with the number of the lane's jobs that wait for a host: `waitingFast`.
    fileprivate var waitingField: String { "waiting" + title }
}

extension JSONWriter {
    /// Writes a field for each lane; null if the number is unknown.
    package mutating func waiting(_ count: (Lane) -> Int?) {
        for lane in Lane.allCases {
            key(named: lane.waitingField)
            if let count = count(lane) { integer(count) } else { null() }
        }
    }
}
