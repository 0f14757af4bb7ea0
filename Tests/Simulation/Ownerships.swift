internal import Ports
internal import Records

/// What owners found when they began and how they went: by that a job that is answered again has a cause or none.
final class Ownerships {
    struct Key: Hashable {
        let partition: PartitionID
        let epoch: Int64
    }

    /// What an owner could know of its partition's records.
    private struct Beginning {
        /// By place: the group's offsets.
        let committed: [Int: Int64]
        /// nil until its mark is in the changelog.
        var topics: [Topic: TopicProgress]?
    }

    unowned let world: World
    private var beginnings: [Key: Beginning] = [:]
    /// By partition, what the progress row says that counts.
    private var progress: [PartitionID: [Topic: TopicProgress]] = [:]
    /// The last that began.
    private var latest: [PartitionID: Key] = [:]
    /// Left with all that was finished in the log.
    private var left: Set<Key> = []
    /// Something kept them from saying how far they came.
    private var hindered: Set<Key> = []
    /// Places whose offset was set by a person, or forgotten where nothing else knew it.
    private var unknown: Set<Int> = []

    init(_ world: World) { self.world = world }

    func begin(_ key: Key, committed: [Int: Int64]) {
        for topic in Topic.worked {
            let log = world.cluster.log(topic, key.partition)
            if committed[log.place] == nil, progress[key.partition]?[topic]?.anchor == nil { unknown.insert(log.place) }
            // Who was killed may not have said by which record its log is known.
            if let last = latest[key.partition], !isClean(last) { world.ledger.excuseReplaced(in: log, forGood: true) }
        }
        latest[key.partition] = key
        beginnings[key] = Beginning(committed: committed)
    }

    /// The owner's mark is in the changelog: what stands before it, it knows.
    func mark(_ key: Key) {
        if beginnings[key]?.topics == nil { beginnings[key]?.topics = progress[key.partition] ?? [:] }
    }

    func note(_ row: ProgressRow) { progress[row.partition] = row.topics }
    func leave(_ key: Key) { left.insert(key) }
    func hinder(_ keys: some Sequence<Key>) { hindered.formUnion(keys) }
    func reset(_ log: TopicLog) { unknown.insert(log.place) }

    private func isClean(_ key: Key) -> Bool { left.contains(key) && !hindered.contains(key) }

    /// Why a job should not have been answered again; nil where it may.
    func objection(to fate: Ledger.Fate, by key: Key) -> String? {
        guard let before = fate.answeredBy, fate.records.allSatisfy({ $0.log.incarnation == 0 }) else { return nil }
        if fate.records.allSatisfy({ isKnown($0.log, $0.offset, to: key) }) { return "its owner knew better" }
        // Copies may have come of harms that are not told here.
        guard fate.records.count == 1 else { return nil }
        if before == key { return fate.isInDoubt ? nil : "the same owner had answered it" }
        return isClean(before) && before.epoch < key.epoch && !fate.records.contains { unknown.contains($0.log.place) }
            ? "the last owner left in good order" : nil
    }

    /// Whether an owner knew a record as finished when it began.
    private func isKnown(_ log: TopicLog, _ offset: Int64, to key: Key) -> Bool {
        guard let beginning = beginnings[key], let topics = beginning.topics, !unknown.contains(log.place) else {
            return false
        }
        let row = topics[log.topic]
        return beginning.committed[log.place] ?? 0 > offset || row?.next ?? 0 > offset
            || row?.finished.contains(offset) == true
    }
}
