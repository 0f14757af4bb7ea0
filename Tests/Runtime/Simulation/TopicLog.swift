internal import Canonical
internal import Clocks
internal import Records

/// One partition of one topic, as brokers hold it.
final class TopicLog {
    struct Entry {
        let record: Record
        /// The ownership that it was appended in, by its rank, whatever its headers say.
        let owner: Int64?
        /// Counts what was ever appended: offsets come again in a log that was cut or made anew.
        let serial: Int
        /// Everything that answers it is in the log, or nobody will answer it.
        var isFinished = false
        /// Attempts made before it.
        var attempt = 0
    }

    let topic: Topic
    let partition: PartitionID
    private(set) var entries: [Entry] = []
    /// What was ever appended to the changelog.
    private(set) var history: [Entry] = []
    private(set) var start: Int64 = 0
    private(set) var end: Int64 = 0
    /// What was ever appended.
    private(set) var appended = 0
    /// How often offsets began to mean other records.
    private(set) var incarnation = 0
    /// Its leader does not answer until then, microseconds.
    var awayUntil: Int64 = 0
    /// Of a changelog: the rank of the owner who opened its ownership last.
    var newestOwner: Int64 = 0
    /// Offsets that meant other records before an election truncated the log, and what was appended until then.
    private var replaced: Range<Int64> = 0..<0
    private var replacedAfter = 0
    /// Whoever reads it may go on behind those that come in their place.
    var replacedForGood = false
    private(set) var isRecreated = false
    /// Entries before it are finished.
    private var finishedCount = 0

    init(_ topic: Topic, _ partition: PartitionID) { (self.topic, self.partition) = (topic, partition) }

    func append(_ new: NewRecord, owner: Int64?, at time: WallTime, gap: Int64, attempt: Int = 0) -> Int64 {
        let offset = end + gap
        let record = Record(
            topic: topic, partition: partition, offset: offset, timestamp: time, key: new.key, value: new.value,
            headers: new.headers)
        appended += 1
        let entry = Entry(record: record, owner: owner, serial: appended, attempt: attempt)
        entries.append(entry)
        if topic.isCompacted { history.append(entry) }
        end = offset + 1
        return offset
    }

    /// The place of the first entry at `offset` or after it.
    func place(of offset: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].record.offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func entry(at offset: Int64) -> Entry? {
        let place = place(of: offset)
        return place < entries.count && entries[place].record.offset == offset ? entries[place] : nil
    }

    func records(from offset: Int64, below end: Int64, limit: Int) -> [Record] {
        var records: [Record] = []
        var place = place(of: offset)
        while place < entries.count, records.count < limit, entries[place].record.offset < end {
            records.append(entries[place].record)
            place += 1
        }
        return records
    }

    func finish(_ offset: Int64, _ serial: Int, upTo attempt: Int = .max) {
        let place = place(of: offset)
        guard place < entries.count, entries[place].serial == serial, entries[place].attempt <= attempt else { return }
        entries[place].isFinished = true
    }

    /// The first offset that is not finished; the end where all are.
    var firstUnfinished: Int64 {
        while finishedCount < entries.count, entries[finishedCount].isFinished { finishedCount += 1 }
        return finishedCount < entries.count ? entries[finishedCount].record.offset : end
    }

    var unfinished: some Sequence<Record> {
        entries[place(of: firstUnfinished)...].lazy.filter { !$0.isFinished }.map(\.record)
    }

    func unfinished(from offset: Int64, below end: Int64) -> Int {
        entries[place(of: offset)..<max(place(of: offset), place(of: end))].count { !$0.isFinished }
    }

    /// Retention: what is older goes. Returns what went.
    func retain(from offset: Int64) -> [Entry] {
        let gone = Array(entries[..<place(of: offset)])
        entries.removeFirst(gone.count)
        (start, finishedCount) = (max(start, offset), 0)
        return gone
    }

    /// An unclean election: the newest records are no more. Returns what went.
    func truncate(to offset: Int64) -> [Entry] {
        let gone = Array(entries[place(of: offset)...])
        entries.removeLast(gone.count)
        replaced = (replaced.isEmpty ? offset : min(replaced.lowerBound, offset))..<max(replaced.upperBound, end)
        if gone.first.map({ $0.serial <= replacedAfter }) ?? true { replacedAfter = appended }
        replacedForGood = false
        (end, finishedCount) = (max(start, offset), 0)
        incarnation += 1
        return gone
    }

    /// What stands in place of records that an election took away.
    var replacing: [Entry] {
        replaced.isEmpty ? [] : entries.filter { replaced.contains($0.record.offset) && $0.serial > replacedAfter }
    }

    /// The topic is deleted and made again. Returns what went.
    func recreate() -> [Entry] {
        defer {
            (entries, start, end, finishedCount) = ([], 0, 0, 0)
            (replaced, replacedForGood, isRecreated) = (0..<0, false, true)
            (history, newestOwner) = ([], 0)
            incarnation += 1
        }
        return entries
    }

    /// Of records older than `time` the newest of each key stays, and none knows of the younger ones; tombstones go once
    /// they are older than `tombstones`. Returns what went.
    func compact(before time: WallTime, tombstones: WallTime) -> [Entry] {
        var newest: [[UInt8]: Int64] = [:]
        for entry in entries where entry.record.timestamp < time { newest[entry.record.key] = entry.record.offset }
        let goes = { (entry: Entry) in
            let record = entry.record
            if record.timestamp >= time { return false }
            return newest[record.key] != record.offset || (record.value == nil && record.timestamp < tombstones)
        }
        let gone = entries.filter(goes)
        if !gone.isEmpty { entries.removeAll(where: goes) }
        return gone
    }
}
