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
        /// When its mark was appended, microseconds, and the progress row before that.
        var mark: (time: Int64, row: ProgressRow?)?
    }

    unowned let world: World
    private var beginnings: [Key: Beginning] = [:]
    /// By partition, the progress row that counts.
    private var progress: [PartitionID: ProgressRow] = [:]
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
            if committed[log.place] == nil, progress[key.partition]?.topics[topic]?.anchor == nil {
                unknown.insert(log.place)
            }
            // Who was killed may not have said by which record its log is known.
            if let last = latest[key.partition], !isClean(last) { world.ledger.excuseReplaced(in: log, forGood: true) }
        }
        latest[key.partition] = key
        beginnings[key] = Beginning(committed: committed)
    }

    /// The owner's mark is in the changelog: what stands before it, it knows.
    func mark(_ key: Key) {
        if beginnings[key]?.mark == nil { beginnings[key]?.mark = (world.now, progress[key.partition]) }
    }

    func note(_ row: ProgressRow) { progress[row.partition] = row }
    func leave(_ key: Key) { left.insert(key) }
    func hinder(_ keys: some Sequence<Key>) { hindered.formUnion(keys) }
    func reset(_ log: TopicLog) { unknown.insert(log.place) }

    private func isClean(_ key: Key) -> Bool { left.contains(key) && !hindered.contains(key) }

    func newestEpoch(of partition: PartitionID) -> Int64 { latest[partition]?.epoch ?? 0 }

    /// Owners since an epoch that did not leave in good order, and may not have told what they tried; nil where the simulator
    /// took records, or brought them back.
    func badEnds(of partition: PartitionID, since epoch: Int64) -> Int? {
        let logs = Topic.worked.map { world.cluster.log($0, partition) }
        guard logs.allSatisfy({ $0.incarnation == 0 && !unknown.contains($0.place) }) else { return nil }
        let last = latest[partition]
        return beginnings.keys.count { key in
            key.partition == partition && key.epoch >= epoch
                && (key == last ? hindered.contains(key) : !isClean(key))
        }
    }

    /// Why a record should not have been answered again; nil where it may.
    func objection(to record: AnsweredRecord, answered before: [Answer], by key: Key) -> String? {
        let log = world.cluster.log(record.topic, record.partition)
        guard log.incarnation == 0, !unknown.contains(log.place), let last = before.last(where: { $0.record == record })
        else { return nil }
        if last.owner == key { return last.isInDoubt ? nil : "the same owner had answered it" }
        if let beginning = beginnings[key], let mark = beginning.mark {
            let row = mark.row?.topics[record.topic]
            if beginning.committed[log.place] ?? 0 > record.offset || row?.next ?? 0 > record.offset
                || row?.finished.contains(record.offset) == true
            {
                return "its owner knew it as finished"
            }
            if mark.row?.answers?[.outcomes] != nil, last.time < mark.time { return "its owner could read the answer" }
        }
        return isClean(last.owner) && last.owner.epoch < key.epoch ? "the last owner left in good order" : nil
    }

    /// One that is in the log.
    struct Answer {
        let record: AnsweredRecord
        let owner: Key
        /// Microseconds.
        let time: Int64
        /// Who appended it was not told that it is there.
        var isInDoubt = false
    }
}
