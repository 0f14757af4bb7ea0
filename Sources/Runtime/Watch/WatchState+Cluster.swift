package import Clocks
package import Ports
package import Records

/// How commands name the cluster that is watched.
package struct ClusterName: Sendable, Hashable {
    package let bootstrap: String
    package let group: String
    /// Before the name of every topic.
    package let prefix: String

    package init(bootstrap: String, group: String, prefix: String) {
        (self.bootstrap, self.group, self.prefix) = (bootstrap, group, prefix)
    }

    func name(_ topic: Topic) -> String { prefix + topic.rawValue }
}

/// Records that an open transaction hides in one partition of one topic.
struct HiddenRecords: Sendable, Hashable {
    /// The first record of the oldest open transaction.
    let offset: Int64
    /// Since when that offset was seen as the last stable one.
    let since: WallTime
    /// When that record was appended; nil: not read yet.
    var appended: WallTime?
}

/// A member of the group, and since when it was seen to hold what it holds.
struct MemberWatch: Sendable {
    let member: LogMember
    let since: WallTime
    /// Whether the changelog of one of its partitions was searched for the row of its last owner, after time enough to write it.
    var isSearched = false
}

extension WatchState {
    /// A transaction of a producer that is well is over within seconds.
    static let transactionTime: Duration = .seconds(10)

    /// Where to read when the first hidden record was appended: those whose transaction is open for longer than a moment.
    package func hiddenToRead(_ limit: Int, at now: WallTime) -> [LogPoint] {
        let open = places.indices.compactMap { index -> LogPoint? in
            guard let hidden = places[index].hidden, hidden.appended == nil,
                now - hidden.since >= Self.transactionTime / 2
            else { return nil }
            let (topic, partition) = (Topic.worked[index / partitionCount], index % partitionCount)
            return LogPoint(topic, PartitionID(Int32(partition)), hidden.offset)
        }
        return Array(open.prefix(limit))
    }

    /// Places whose transaction is open for longer than one of a producer that is well.
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

    /// A member that gets other partitions has to restore those, so that its time begins again.
    mutating func take(_ members: [LogMember], at now: WallTime) {
        let known = Dictionary(self.members.map { ($0.member.id, $0) }) { $1 }
        self.members = members.prefix(Self.workerLimit).map { member in
            guard let before = known[member.id], before.member.partitions == member.partitions else {
                return MemberWatch(member: member, since: now)
            }
            return before
        }
    }

    /// Whether something that only a worker does shows the member to be one: an epoch row, a word on hosts, its metrics.
    ///
    /// The name in a row outlives the worker's standstill: one that is stopped is no foreign member.
    func isWorker(_ member: LogMember) -> Bool {
        partitions.contains { $0.epoch?.owner == member.client }
            || workers.values.contains { $0.figures?.client == member.client }
            || hosts?.tellers.contains(member.client) ?? false
    }

    /// Where to look for the row of the last owner: a partition of each member that has shown nothing of a worker, though there
    /// was time enough to restore what it holds. Of those the one with the shortest changelog.
    package func partitionsToSearch(_ limit: Int, at now: WallTime) -> [PartitionID] {
        let doubtful = members.filter { watch in
            let rows = watch.member.partitions.reduce(0) { $0 + (changelogLengths[$1] ?? 0) }
            let restore: Duration = .milliseconds(rows / Self.restoredPerMillisecond)
            // Workers mark their client id. One of a version before that may need longer, and is named until it has restored.
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

    /// Members that hold partitions, and of whom nothing shows that they are workers.
    var foreignMembers: [MemberWatch] { members.filter { $0.isSearched && !isWorker($0.member) } }

    /// Whether a member holds the partition that is not a worker: nobody does its jobs.
    func isForeign(_ number: Int) -> Bool {
        isShared
            && members.contains {
                $0.isSearched && $0.member.partitions.contains(PartitionID(Int32(number))) && !isWorker($0.member)
            }
    }

    /// A worker names itself in the changelog as soon as it has restored a partition.
    private static let foreignTime: Duration = .seconds(15)
    /// With the time above, a look and a search it stays below a minute.
    private static let unmarkedTime: Duration = .seconds(25)
    /// A fifth of what was measured on two busy cores: 50,000 rows a second.
    private static let restoredPerMillisecond: Int64 = 10
}
