package import Clocks
package import Ports
package import Records

/// Names of the watched cluster for use in commands.
package struct ClusterName: Sendable, Hashable {
    package let bootstrap: String
    package let group: String
    /// Prefix of every topic's name.
    package let prefix: String

    package init(bootstrap: String, group: String, prefix: String) {
        (self.bootstrap, self.group, self.prefix) = (bootstrap, group, prefix)
    }

    func name(_ topic: Topic) -> String { prefix + topic.rawValue }
}

/// Records that an open transaction hides in one topic-partition.
struct HiddenRecords: Sendable, Hashable {
    /// The first record of the oldest open transaction.
    let offset: Int64
    /// Time since which that offset was seen as the last stable one.
    let since: WallTime
    /// Append time of that record; nil: not read yet.
    var appended: WallTime?
}

/// A member of the group, and the time since which it was seen with its partitions.
struct MemberWatch: Sendable {
    let member: LogMember
    let since: WallTime
    /// Whether the changelog of one of its partitions was searched for the row of its last owner, after enough time to
    /// write it.
    var isSearched = false
}

extension WatchState {
    /// Maximum duration of a healthy producer's transaction.
    static let transactionTime: Duration = .seconds(10)

    /// Positions to read for the append time of the first hidden record, if the transaction is open for longer than a
    /// moment.
    package func hiddenToRead(_ limit: Int, at now: WallTime) -> [LogPoint] {
        let open = places.indices.compactMap { index -> LogPoint? in
            guard let hidden = places[index].hidden, hidden.appended == nil,
                now - hidden.since >= Self.transactionTime / 2
            else { return nil }
            let (topic, partition) = (Topic.consumed[index / partitionCount], index % partitionCount)
            return LogPoint(topic, PartitionID(Int32(partition)), hidden.offset)
        }
        return Array(open.prefix(limit))
    }

    /// Topic-partitions with a transaction that is open for longer than that of a healthy producer.
    func openTransactions(at now: WallTime) -> [(index: Int, hidden: HiddenRecords)] {
        places.indices.compactMap { index in places[index].hidden.map { (index, $0) } }
            .filter { now - $0.hidden.since >= Self.transactionTime }
    }

    mutating func take(hidden point: LogPoint, _ appended: WallTime?) {
        guard let place = index(point.topic, point.partition), places[place].hidden?.offset == point.offset else {
            return
        }
        places[place].hidden?.appended = appended
    }

    /// Updates the members. A member that gets other partitions has to restore those, so its time begins again.
    mutating func take(_ members: [LogMember], at now: WallTime) {
        let known = Dictionary(self.members.map { ($0.member.id, $0) }) { $1 }
        self.members = members.prefix(Self.workerLimit).map { member in
            guard let before = known[member.id], before.member.partitions == member.partitions else {
                return MemberWatch(member: member, since: now)
            }
            return before
        }
    }

    /// Whether the member is known to be a worker by something that only workers do: an epoch row, a row about hosts,
    /// or its metrics.
    ///
    /// The name in a row outlives the worker's standstill, so a worker that was stopped is not reported as foreign.
    func isWorker(_ member: LogMember) -> Bool {
        partitions.contains { $0.epoch?.owner == member.client }
            || workers.values.contains { $0.figures?.client == member.client }
            || hosts?.tellers.contains(member.client) ?? false
    }

    /// Partitions to search for the row of the last owner: one of each member that has shown no sign of a worker. The
    /// member had enough time to restore its partitions. Its partition with the shortest changelog is searched.
    package func partitionsToSearch(_ limit: Int, at now: WallTime) -> [PartitionID] {
        let doubtful = members.filter { watch in
            let rows = watch.member.partitions.reduce(0) { $0 + (changelogLengths[$1] ?? 0) }
            let restore: Duration = .milliseconds(rows / Self.restoredPerMillisecond)
            // Workers mark their client id. One of a version without the mark may need longer, and is reported until it
            // has restored.
            let allowed = watch.member.partitionsUsed == nil ? min(restore, Self.unmarkedTime) : restore
            return !watch.isSearched && now - watch.since >= Self.foreignTime + allowed
                && !isWorker(watch.member)
        }
        let partitions = doubtful.compactMap { watch in
            watch.member.partitions.filter { isHere($0) }.min { changelogLengths[$0] ?? 0 < changelogLengths[$1] ?? 0 }
        }
        return Array(partitions.prefix(limit))
    }

    mutating func noteSearch(of partition: PartitionID) {
        for index in members.indices where members[index].member.partitions.contains(partition) {
            members[index].isSearched = true
        }
    }

    /// Members that hold partitions, and that nothing shows to be workers.
    var foreignMembers: [MemberWatch] { members.filter { $0.isSearched && !isWorker($0.member) } }

    /// Whether a member that is not a worker holds the partition, so that nobody does its jobs.
    func isForeign(_ number: Int) -> Bool {
        isShared
            && members.contains {
                $0.isSearched && $0.member.partitions.contains(PartitionID(Int32(number))) && !isWorker($0.member)
            }
    }

    /// Time for a worker to name itself in the changelog, which it does as soon as it has restored a partition.
    private static let foreignTime: Duration = .seconds(15)
    /// With the time above, a poll and a search, it stays below a minute.
    private static let unmarkedTime: Duration = .seconds(25)
    /// A fifth of the rate that was measured on two busy cores: 50,000 rows a second.
    private static let restoredPerMillisecond: Int64 = 10
}
