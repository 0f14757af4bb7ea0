internal import Clocks
internal import Jobs
internal import Partition
internal import Ports
internal import Quarantine
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

    unowned(unsafe) let world: World
    /// Counts up by partition, whatever epochs say: those of a changelog that was recreated begin again.
    private var ranks: [Key: Int64] = [:]
    private static func rank(_ incarnation: Int, _ epoch: Int64) -> Int64 { Int64(incarnation) << 48 + epoch }
    private var beginnings: [Key: Beginning] = [:]
    /// By partition, the progress row that counts.
    private var progress: [PartitionID: ProgressRow] = [:]
    /// The last that began.
    private var latest: [PartitionID: Key] = [:]
    /// Left with all that was finished in the log.
    private var left: Set<Key> = []
    /// Something kept them from saying how far they came.
    private var hindered: Set<Key> = []
    /// Partitions with a row in the changelog that an owner of a log before wrote, and that cannot be told from a later owner's.
    private(set) var blurred: Set<PartitionID> = []
    /// Places whose offset was set by a person, or forgotten where nothing else knew it.
    private var unknown: Set<Int> = []

    init(_ world: World) { self.world = world }

    func rank(_ key: Key) -> Int64? { ranks[key] }

    /// It has lived for so long that the crashes before it count no more.
    func hasOutlivedTrial(_ key: Key) -> Bool {
        beginnings[key]?.mark.map { .microseconds(world.now - $0.time) > QuarantinedJobs.trial } ?? false
    }

    /// The rank of who appends as an owner, at an offset of a changelog. What an owner of a log before appends where this one
    /// is as long as that was cannot be told from what a new one does, unless it has gone on in a later epoch.
    ///
    /// - Parameter written: what its record says; nil: nothing.
    func rank(_ key: Key, written: Int64? = nil, at offset: Int64, in log: TopicLog) -> Int64? {
        let own = ranks[key]
        if GroupEpoch.isOfAnotherLog(written ?? key.epoch, at: offset) { return own }
        let rank = Self.rank(log.incarnation, key.epoch)
        guard let own else { return nil }
        if own < rank {
            world.poisonJobs.excuse(key.partition)
            // Readers before and after such a row disagree about what came between: work is done again for that.
            if written != nil { blurred.insert(key.partition) }
        }
        return max(own, rank)
    }

    /// - Parameter incarnation: the changelog's, when its end was asked for.
    func begin(_ key: Key, incarnation: Int, committed: [Int: Int64]) {
        ranks[key] = Self.rank(incarnation, key.epoch)
        for topic in Topic.consumed {
            let log = world.cluster.log(topic, key.partition)
            if committed[log.place] == nil, progress[key.partition]?.topics[topic]?.fingerprint == nil {
                unknown.insert(log.place)
            }
            // Who was killed may not have said by which record its log is known.
            guard let last = latest[key.partition], !isClean(last) else { continue }
            world.ledger.excuseReplaced(in: log, forGood: true)
            // Nor have committed its offset before the log was made anew: that it did so then, for up to 15 s, cannot be told
            // from what it would have committed of the old one (config/trouble.md).
            if log.isRecreated, let offset = committed[log.place] { world.ledger.excuse(log, below: offset) }
        }
        latest[key.partition] = key
        beginnings[key] = Beginning(committed: committed)
    }

    /// The owner's mark is in the changelog: what stands before it, it knows.
    func mark(_ key: Key) {
        if beginnings[key]?.mark == nil { beginnings[key]?.mark = (world.now, progress[key.partition]) }
    }

    /// When an owner appended its epoch row, microseconds.
    func marked(_ key: Key) -> Int64? { beginnings[key]?.mark?.time }

    func note(_ row: ProgressRow) { progress[row.partition] = row }
    func leave(_ key: Key) { left.insert(key) }
    func hinder(_ keys: some Sequence<Key>) { hindered.formUnion(keys) }
    func reset(_ log: TopicLog) { unknown.insert(log.place) }

    /// The changelog is recreated, and with it went what its owners said of themselves.
    func forget(_ partition: PartitionID) {
        progress[partition] = nil
        for topic in Topic.consumed { reset(world.cluster.log(topic, partition)) }
    }

    private func isClean(_ key: Key) -> Bool { left.contains(key) && !hindered.contains(key) }

    func newest(of partition: PartitionID) -> Int64 { latest[partition].flatMap(rank) ?? 0 }

    /// Owners since one that did not leave in good order, and may not have told what they tried; nil where the simulator
    /// took records, or brought them back.
    func badEnds(of partition: PartitionID, since first: Int64) -> Int? {
        let logs = Topic.consumed.map { world.cluster.log($0, partition) }
        guard logs.allSatisfy({ $0.incarnation == 0 && !unknown.contains($0.place) }) else { return nil }
        let last = latest[partition]
        return beginnings.keys.count { key in
            key.partition == partition && rank(key) ?? 0 >= first
                && (key == last ? hindered.contains(key) : !isClean(key))
        }
    }

    /// Whether an owner reads what was appended to a topic of answers then, microseconds.
    func couldRead(_ topic: Topic, at time: Int64, _ key: Key) -> Bool {
        guard let mark = beginnings[key]?.mark else { return false }
        return mark.row?.answers?[topic] != nil && time < mark.time
    }

    /// Why a record should not have been answered again; nil where it may.
    func objection(to answer: Answer, answered before: [Answer]) -> String? {
        let (record, key) = (answer.record, answer.owner)
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
            // A letter is not looked for where its topic is away.
            if mark.row?.answers?[last.topic] != nil, last.time < mark.time,
                last.topic == .outcomes || !hindered.contains(key)
            {
                return "its owner could read the answer"
            }
        }
        return isClean(last.owner) && rank(last.owner) ?? 0 < rank(key) ?? 0 ? "the last owner left in good order" : nil
    }

    /// One that is in the log.
    struct Answer {
        let record: CompletedRecord
        /// Where it is.
        let topic: Topic
        let owner: Key
        /// Microseconds.
        let time: Int64
        /// Who appended it was not told that it is there.
        var isInDoubt = false
    }
}

extension [Ownerships.Answer] {
    mutating func doubtLast() {
        if !isEmpty { self[count - 1].isInDoubt = true }
    }
}
