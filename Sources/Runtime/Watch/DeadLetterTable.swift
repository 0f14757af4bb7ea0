internal import Clocks
internal import Records

/// Open dead letters from `dead`, by the rules of `DeadLetter.standing`. A dead letter that retention removed is not
/// open any more.
struct DeadLetterTable: Sendable {
    private typealias Entry = DeadLetterChange.Entry

    /// Dead letters by id, which a discard names, then by the record that each belongs to.
    private var deadLetters: [PartitionID: [String: [RecordOrigin: DeadLetterChange.Entry]]] = [:]
    private var bounds: [PartitionID: Range<Int64>] = [:]
    private var whole: Set<PartitionID> = []
    private let partitionCount: Int
    private let limit: Int
    private var kept = 0
    /// Whether more dead letters came than are kept, so that the count is a minimum.
    private(set) var isMore = false

    init(partitions: Int, limit: Int = 10_000) { (partitionCount, self.limit) = (partitions, limit) }

    mutating func take(_ change: DeadLetterChange) {
        if change.isWhole { whole.insert(change.partition) }
        for name in change.discarded {
            guard let own = deadLetters[change.partition]?[name.id] else { continue }
            let left = own.filter { !name.covers(id: name.id, origin: $0.key, replays: $0.value.replays) }
            kept -= own.count - left.count
            deadLetters[change.partition]?[name.id] = left.isEmpty ? nil : left
        }
        for deadLetter in change.added {
            if let known = deadLetters[change.partition]?[deadLetter.id]?[deadLetter.origin] {
                // A replay died before its first letter was discarded.
                if known.replays < deadLetter.replays { deadLetters[change.partition]?[deadLetter.id]?[deadLetter.origin] = deadLetter }
                continue
            }
            guard kept < limit else {
                isMore = true
                return
            }
            deadLetters[change.partition, default: [:]][deadLetter.id, default: [:]][deadLetter.origin] = deadLetter
            kept += 1
        }
    }

    /// Drops dead letters below the topic's new beginning, or all if the topic was recreated.
    mutating func keep(_ new: Range<Int64>, of partition: PartitionID) {
        let old = bounds.updateValue(new, forKey: partition)
        guard let old, old.lowerBound != new.lowerBound || old.upperBound > new.upperBound else { return }
        if old.upperBound > new.upperBound { whole.remove(partition) }
        let isGone = { (deadLetter: Entry) in old.upperBound > new.upperBound || deadLetter.offset < new.lowerBound }
        for (id, own) in deadLetters[partition] ?? [:] {
            let left = own.filter { !isGone($0.value) }
            kept -= own.count - left.count
            deadLetters[partition]?[id] = left.isEmpty ? nil : left
        }
    }

    /// Whether skipped dead letters can be read now. Nothing is kept then, so that all can be read from the beginning.
    mutating func forgot() -> Bool {
        guard isMore, kept * 2 < limit else { return false }
        (deadLetters, whole, kept, isMore) = ([:], [], 0, false)
        return true
    }

    /// Counts of the partitions whose topic was read to its end.
    var counts: [PartitionID: Int] {
        Dictionary(
            uniqueKeysWithValues: whole.map { ($0, deadLetters[$0]?.values.reduce(0) { $0 + $1.count } ?? 0) })
    }

    /// nil until every partition's topic was read to its end.
    var count: Int? { partitionCount > 0 && whole.count == partitionCount ? kept : nil }

    private var all: some Sequence<DeadLetterChange.Entry> {
        deadLetters.values.lazy.flatMap(\.values).flatMap(\.values)
    }

    var newest: DeadLetterChange.Entry? { all.max { $0.at < $1.at } }

    /// The newest dead letter since `since` with this code.
    func newest(_ code: String, since: WallTime) -> DeadLetterChange.Entry? {
        all.filter { $0.code == code && $0.at >= since }.max { $0.at < $1.at }
    }

    var byKey: [FailureTable.Key: [DeadLetterChange.Entry]] {
        Dictionary(grouping: all) { FailureTable.Key(code: $0.code, host: $0.host) }
    }
}
