internal import Clocks
internal import Ports
internal import Records

/// Causes from outside, in a cluster where others may use the workers' group.
extension Findings {
    /// The brokers respond, but a worker cannot use the topics.
    var topics: Diagnosis? {
        let silence = state.silence.flatMap { $0.code == LogFailure.Code.topics.rawValue ? ($0.since, $0.reason) : nil }
        guard let (since, reason) = silence ?? state.unusableTopics else { return nil }
        return Diagnosis(.topicsUnusable, Words.cut(reason, 480), since: since)
    }

    var foreignMember: Diagnosis? {
        let foreign = state.isShared ? state.foreignMembers : []
        guard let first = foreign.max(by: { $0.member.partitions.count < $1.member.partitions.count }) else {
            return nil
        }
        let member = first.member
        let (client, host) = (Words.cut(member.client, 80), Words.cut(member.host, 80))
        let list = member.partitions.map(\.number).sorted()
        let shown = list.prefix(12).map { "\($0)" }.joined(separator: ", ") + (list.count > 12 ? ", …" : "")
        let others =
            foreign.count > 1 ? " \(Words.counted(foreign.count - 1, "more foreign member")) hold partitions." : ""
        let group = state.cluster.map { Words.cut($0.group, 80) } ?? "the workers' group"
        return Diagnosis(
            .foreignMember,
            "A program that is not a worker (client id \(client), host \(host)) has been a member of \(group) since \(clock(first.since)) and holds \(Words.counted(list.count, "partition")) (\(shown)): their jobs wait.\(others)",
            since: first.since,
            action: state.cluster.map {
                "Stop the program with client id \(client) on host \(host), or give it a group.id of its own. kafka-consumer-groups.sh --bootstrap-server \($0.bootstrap) --describe --group \($0.group) --members shows it until it is gone."
            })
    }

    /// The transaction that has hidden records for longest.
    var openTransaction: Diagnosis? {
        let open = state.openTransactions(at: now)
        guard let first = open.min(by: { began($0.hidden) < began($1.hidden) }) else { return nil }
        let topic = Topic.consumed[first.index / state.partitionCount]
        let partition = first.index % state.partitionCount
        let name = Words.cut(state.cluster?.name(topic) ?? topic.rawValue, 200)
        let age = first.hidden.appended.map { "was appended \(Words.span(now - $0)) ago" } ?? "has an unknown age"
        let others =
            open.count > 1 ? " \(Words.counted(open.count - 1, "more partition")) of topics are like that." : ""
        return Diagnosis(
            .openTransaction,
            "An open transaction hides \(name), partition \(partition), from offset \(first.hidden.offset) on; its first record \(age). Nothing behind it is read.\(others)",
            since: first.hidden.since,
            action: state.cluster.map {
                let tool = "kafka-transactions.sh --bootstrap-server \($0.bootstrap)"
                let place = "--topic \(name) --partition \(partition)"
                return
                    "Find the producer: \(tool) describe-producers \(place). If it does not end its transaction, abort it: \(tool) abort \(place) --start-offset \(first.hidden.offset)"
            })
    }

    private func began(_ hidden: HiddenRecords) -> WallTime { hidden.appended ?? hidden.since }

    /// Partitions with records that nobody reads.
    var unreadPartitions: Diagnosis? { state.grown.contains { $0.unread ?? 0 > 0 } ? addedPartitions : nil }

    var addedPartitions: Diagnosis? {
        guard let used = state.grown.first?.used else { return nil }
        let topics = state.grown.map { topic in
            let name = state.cluster?.name(topic.topic) ?? topic.topic.rawValue
            let unread = topic.unread.map { ", \(Words.counted(Int(clamping: $0), "record")) unread" } ?? ""
            return "\(name) has \(topic.partitions)\(unread)"
        }
        return Diagnosis(
            .partitionsAdded,
            "The workers use \(Words.counted(used, "partition")) of each topic, and \(Words.cut(topics.joined(separator: "; "), 480)). Nobody reads the others.",
            since: nil)
    }
}
